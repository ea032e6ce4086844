// Package child is a process that a run starts beside itself: the same binary
// again in another role, which ends, and cleans up, when its parent does.
//
// A [Process] reads a pipe that only its parent holds open. The end of that
// pipe, however it comes about (Stop, a return from main, a panic, SIGKILL), ends
// the context of the [Role], which then puts its things away. Processes have a
// group of their own, so that Ctrl-C at a terminal reaches the parent alone.
//
// main and TestMain call [Dispatch] before anything else; it is where a child
// process turns off into its role. Unix only.
package child
