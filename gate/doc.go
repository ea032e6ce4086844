// Package gate is the decision whether runs are as they were asked to be: by
// thresholds, against other runs of the same file, or against a baseline.
//
// [Parse] reads a [Threshold] and makes sure, before anything runs, that it is
// about runs and figures there will be. [Judge] holds a file against thresholds.
// A figure that depends on the machine proves nothing in a run that was measured
// badly: then the verdict is invalid, never a pass.
//
//	[SELECTOR.]FIGURE OP OPERAND
//
// OP is < <= > >= or ==. A SELECTOR is *, a recipe, a form, RECIPE/FORM or a
// family, with @CLIENTS behind it for one level; without it every run is meant
// that has the figure. The OPERAND is a value with its unit, or, with NUMBER *
// before it or without, the figure of another run, [SELECTOR.]FIGURE, of as many
// clients on the same backend, or baseline, the same figure of the same run of
// the baseline.
//
// Note: a selector cannot name a backend. Ratios and baselines stay on one
// anyway, and what is to hold on one backend only is a scenario of its own.
package gate
