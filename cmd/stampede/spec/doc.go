// Package spec specifies runs. [Flags] is the one specification that the flags of a command, a
// scenario file or one side of a pair set. [NewJob] validates it before anything is started,
// [Flags.Plan] turns it into the plan of each run, [Flags.Recorded] into what the result stores and
// comparisons compare, and [Flags.Command] into the command line that repeats it.
package spec
