// Package effect estimates how much one of two sides differs from the other, how certain that
// is, and what follows from it: [Pairs] and [PairsP] for runs in pairs, [Shift] and [ShiftP]
// for independent runs, [Holm] for several figures judged together, [Decide] for the verdict,
// and [Floor] for the noise floor of a machine.
//
// The package knows numbers only. A run is one observation, however many requests it had.
// Differences are differences of logarithms, so that twice as much is as far from no change as
// half as much.
package effect
