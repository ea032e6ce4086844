// Package recipetest contains the suites that every form of a recipe must pass, on
// every backend: the form is safe, it survives faults, and it costs what package cost
// predicts.
//
// The whole test of a form is one line:
//
//	func TestLock(t *testing.T) { recipetest.Lock(t, service, form) }
//
// [LockBubbled] does the same for services that need no socket. Each case then runs in
// a testing/synctest bubble: waiting takes no time, a case that hangs fails immediately,
// and the bubble shows when everything is at rest.
//
// Each case has one or two sentences that say what it requires and why; it prints them
// when it fails. No case measures time. The only deadline is the one after which a case
// counts as hung.
package recipetest
