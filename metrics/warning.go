package metrics

import "fmt"

// A Warning is something that a reader of a run's figures must know. Warnings that make the
// figures unusable are also listed in Record.Doubts.
type Warning struct {
	Code string // identifies the warning for programs: one of the constants
	Text string // one line for people, with the numbers
}

// Warn returns the warning of the code with its formatted text.
func Warn(code, format string, args ...any) Warning {
	return Warning{Code: code, Text: fmt.Sprintf(format, args...)}
}

// The codes of a run's warnings. Programs rely on them: a code is never renamed or reused for
// something else. A code for a machine or a generator short of processor time begins with
// "cpu".
const (
	ClientBound = "cpu-client-bound" // the generator kept the machine busy
	Shared      = "cpu-shared"       // the generator and the servers it started kept the machine busy together
	Others      = "cpu-others"       // other programs used processor time that the generator was short of
	Starved     = "cpu-starved"      // the load generator was short of CPU: its timers fired late
	Stolen      = "cpu-stolen"       // other machines on the same hardware took processor time

	Skipped     = "skipped"     // arrivals that were never started: response times are lower bounds
	Unfinished  = "unfinished"  // arrivals that were started and not finished: response times are lower bounds
	Failed      = "failed"      // arrivals that failed with their session: response times do not include them
	Behind      = "behind"      // fewer rounds ended than arrived
	LittlesLaw  = "littles-law" // the turns that ended do not represent all turns
	Unaccounted = "unaccounted" // arrivals do not add up, which is a defect of stampede
	Abandoned   = "abandoned"   // rounds were cut off: identities are not checked; a doubt where they did not end in time
	Bystanders  = "bystanders"  // the background load skipped arrivals, or had work unfinished at the end

	NotWarm                = "not-warm"                 // throughput was still rising when the window opened
	BackgroundSessionsLost = "background-sessions-lost" // the background load lost sessions
)
