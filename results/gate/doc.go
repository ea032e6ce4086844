// Package gate judges runs against thresholds: fixed values, figures of other runs of the same
// file, or a baseline.
//
// [Parse] parses a [Threshold] and checks, before anything runs, that it concerns planned runs and
// figures that they have. [Judge] judges a file by thresholds. A figure that depends on the machine
// proves nothing in a run that was measured badly: its verdict is then invalid, never pass.
//
//	[SELECTOR.]METRIC OP OPERAND
//
// OP is < <= > >= or ==. A SELECTOR is *, a recipe, a form, RECIPE/FORM or a family, optionally
// followed by @CLIENTS for one level. A threshold without a selector applies to every run that has
// the figure. The OPERAND is one of
//
//   - a value with its unit,
//   - METRIC, another figure of the same run,
//   - SELECTOR.METRIC, a figure of another run on the same backend, with the same number of clients
//     unless SELECTOR has @CLIENTS,
//   - baseline, the same figure of the same run in the baseline.
//
// NUMBER * can precede the last three.
//
// Note: a selector cannot name a backend. Ratios and baselines compare runs on the same backend
// anyway, and a threshold for one backend only belongs in its own scenario.
package gate
