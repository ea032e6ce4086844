// Package recipetest is the suites that every form of a recipe passes, on every
// backend: that it is safe, that it survives what goes wrong, and that it costs
// what package cost says.
//
// The whole test of a form is one line:
//
//	func TestLock(t *testing.T) { recipetest.Lock(t, service, form) }
//
// [LockBubbled] is the same for services that need no socket: there each case
// runs in a testing/synctest bubble, where time costs nothing, a case that hangs
// fails at once, and rest is proved by the bubble.
//
// A case says in a sentence or two what it asks for and why, and prints that
// when it fails. No case measures time; the only deadline is the one that fails
// a case that hangs.
package recipetest
