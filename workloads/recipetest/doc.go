// Package recipetest contains the suites that every form of a recipe must pass, on
// every backend: the form is safe, it survives lost replies and lost sessions, and it
// costs what package costmodel predicts. It serves forms outside this module too: the whole
// test of a form is one call.
//
//	func TestLock(t *testing.T) {
//		recipetest.Run(t, service, recipetest.LockForm{Name: "mine", New: newLock})
//	}
//
// [RunInBubbles] does the same for services that need no socket. Each case then runs in
// a testing/synctest bubble: waiting takes no time, a case that hangs fails immediately,
// and the bubble shows when everything is at rest.
//
// Each case has one or two sentences that say what it requires and why; it prints them
// when it fails. No case measures time. The only deadline is the one after which a case
// counts as hung.
package recipetest
