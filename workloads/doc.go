// Package workloads defines what each recipe must do and drives clients through it. The caller
// supplies the form of the recipe, which is its implementation.
//
// One file per recipe, such as lock.go, holds the interface that its forms implement, the step
// that a client repeats, and the safety check. A [Workload] is one recipe in one form, ready for
// one run. [Run] drives it at full speed and measures it. [Settle] drives it one step at a time
// and waits until the system is quiescent between steps, so that its cost is exact.
//
// mix.go is load and not a recipe: its operations do not wait for other clients. It runs by
// itself, or beside a recipe as its [Background].
//
// The packages below this one hold the cost that each form must have (cost), the test suites that
// every form passes (recipetest), and the table of all forms (catalog).
package workloads
