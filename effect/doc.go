// Package effect is how much one of two sides differs from the other, how sure of
// that one can be, and what follows: [Pairs] and [PairsP] for runs in pairs,
// [Shift] and [ShiftP] for runs that have nothing to do with each other, [Holm]
// for several figures at once, [Decide] for the verdict, and [Floor] for what a
// machine makes of no difference at all.
//
// It knows numbers only. A run is one observation, however many requests it had;
// differences are those of logarithms, so that twice as much is as far as half.
package effect
