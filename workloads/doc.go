// Package workloads says what each recipe must do and drives clients through
// it, in a form that somebody hands in.
//
// One file per recipe holds the interface that its forms satisfy, the step that
// a client repeats, and the check that the form kept its promise: lock.go. A
// [Workload] is one recipe in one form, made ready for one run; [Run] drives it
// freely and measures it; [Settle] drives it one step at a time, letting
// everything come to rest in between, so that its cost is exact.
//
// mix.go is load and no recipe: operations of which none waits for another client.
// They go on by themselves, or beside a recipe as its [Background].
//
// The packages below this one are what each form must cost (cost), the suites
// that every form passes (recipetest), and the table of all forms (catalog).
package workloads
