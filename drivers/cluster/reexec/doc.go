// Package reexec starts child processes of a run: the same binary in another role. A child ends and
// cleans up when its parent ends.
//
// A child reads a pipe that only its parent holds open. The end of that pipe, whatever its cause
// (Stop, a return from main, a panic, SIGKILL), cancels the context of the [Role], which then
// cleans up. Each [Process] has a process group of its own, so that Ctrl-C at a terminal reaches
// the parent only.
//
// main and TestMain call [Dispatch] before anything else; in a child process it runs the role. Unix
// only.
package reexec
