package metrics

import (
	"cmp"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
)

// A Record is all that was measured in one run: one recipe in one form, on one
// backend, with one number of clients.
type Record struct {
	Duration time.Duration // the measured window, warm-up not included
	Rounds   int64         // rounds that ended in it
	// Phases are in the recipe's order. In an open loop they include the arrivals of
	// the window that ended after it.
	Phases []Phase
	Counts Counts        // what crossed the wire in the window
	Herd   Herd          // whom the window's writes woke
	Ramp   time.Duration // how long the clients took to arrive one after the other; 0: they came at once
	Warmup Warmup        // what came between that and the window
	// Whole is Counts from before the first round until every round begun was
	// finished, and WholeRounds the rounds: what the cost model's identities
	// are checked on, since they hold for whole rounds only.
	Whole       Counts
	WholeRounds int64
	// Disturbed says that a connection was cut or a session lost, so that some
	// operations were repeated.
	Disturbed bool
	Fairness  *Fairness // nil where nobody competes
	Fanout    *Fanout   // of a workload that is about nothing else; nil of all others
	Mix       *Mix      // of raw operations; nil of a recipe
	Storm     *Storm    // of storms of sessions; nil of all others
	Little    *Little   // of a closed loop in which rounds ended; nil of all others
	// Background is what the load beside the recipe measured in the same window,
	// by a meter of its own; nil where there was none.
	Background *Record
	Safety     Safety
	Generator  Generator
	// Server is what the server itself counted in the window, by everybody;
	// nil where it does not count. LargestFanout is not of the window.
	Server    *drivers.Counters
	Errors    map[string]int64 // by sentinel text
	Warnings  []Warning
	Doubts    []Warning // those of the warnings that make figures worth nothing
	Intervals []Interval
	// What was broken on purpose in the window, and what the clients had of it.
	Breaks     []Break
	Recoveries []Recovery
}

// A Phase is one of a recipe's own steps with its latencies in nanoseconds.
// Service time counts from the call, response time from when it was due. Either
// may be nil where it has no meaning.
type Phase struct {
	Name     string
	Service  *hdrhistogram.Histogram
	Response *hdrhistogram.Histogram
}

// Counts are sums over all sessions. Counts of one run, all from Meter.Counts,
// subtract.
type Counts struct {
	Notifications int64
	Reads         int64 // exists, get, children
	Writes        int64 // create, delete, set, multi; failed ones included
	FailedWrites  int64 // those of them whose reply was an error
	Lists         int64 // the reads that were children
	WatchedExists int64 // K: exists with a watch that were answered, node or none
	WatchedMisses int64 // z: those of them that found no node
	WatchedGets   int64 // get with a watch that were answered, found or not
	MissedGets    int64 // those of them that found no node
	Syncs         int64
	Armings       int64 // persistent watches armed
	RPCs          int64 // requests of every kind but pings and fences
	Pings         int64
	Fences        int64
	Rearms        int64 // requests that arm watches again after a connect
	BytesIn       int64 // bytes of replies and notifications, fences apart
	BytesOut      int64 // bytes of requests, fences apart
	Useful        int64 // notifications that were the last before a phase completed
	Wasted        int64 // all other notifications that came during a phase
	Cuts          int64 // connections that broke before their session was closed
}

// Herd is how many each write woke.
type Herd struct {
	Triggers int64 // writes that woke somebody, foreign ones included
	Foreign  int64 // those that nobody in this process made: expiry, other processes
	// Notifications are those that belong to the triggers.
	Notifications int64
	Fanout        *hdrhistogram.Histogram // notifications per trigger
	Drain         *hdrhistogram.Histogram // first to last notification of a trigger, ns
	Largest       int64                   // largest fan-out, exactly
	Leftover      int64                   // watches armed and not fired at the end
	Timeline      Timeline
}

// Mix is what raw operations came to: those that were completed, and conditional
// sets that were made again since somebody else had been faster.
type Mix struct{ Reads, Writes, Retries int64 }

// Storm is how many writes of the ordinary client were due while storms lasted: those
// that were made, and those omitted since the one before had not ended.
type Storm struct{ Made, Omitted int64 }

// Fairness is how evenly and in which order clients were served.
type Fairness struct {
	Served      []int64       // rounds, by client
	Inversions  int64         // grants that overtook somebody who had asked earlier
	LongestWait time.Duration // longest time between asking and being served
}

// Safety is what the recipe's checker saw in the same run.
type Safety struct {
	Checked        int64    // how many things were checked, e.g. grants
	Violations     int64    // e.g. two holders at once; see the recipe's checker
	BeliefOverlaps int64    // overlaps after a disturbed session: shown, no violation
	TokensRefused  int64    // older tokens that a resource would have refused
	Tokens         bool     // false: the form has no fencing token
	Details        []string // the first few, each one sentence
	// Weaker says what the form does not promise, though others of its recipe
	// do, and so was not checked; "" if there is nothing.
	Weaker string
}

// With is what both checks saw, with so many details at most.
func (s Safety) With(other Safety, details int) Safety {
	s.Checked += other.Checked
	s.Violations += other.Violations
	s.BeliefOverlaps += other.BeliefOverlaps
	s.TokensRefused += other.TokensRefused
	s.Tokens = s.Tokens || other.Tokens
	s.Details = slices.Concat(s.Details, other.Details)
	s.Details = s.Details[:min(len(s.Details), details)]
	s.Weaker = cmp.Or(s.Weaker, other.Weaker)
	return s
}

// Generator is how the load generator itself fared.
type Generator struct {
	CPUCores float64                 // processor time used per second of the window
	Machine  *Machine                // who used the processors in the window; nil where the kernel does not tell
	GCPause  time.Duration           // total stop-the-world time
	Lag      *hdrhistogram.Histogram // how late timers and wake-ups ran, ns; nil if not sampled
	// The arrivals of an open loop that were due in the window, by what became of
	// them; 0 in a closed one, but for Unfinished and Oldest. Offered is the sum of
	// Completed, Failed, Skipped and Unfinished: see Unaccounted.
	Offered    int64
	Late       int64 // no client was free when they were due
	Completed  int64
	Failed     int64         // a client started them and lost them, with its session for instance
	Skipped    int64         // no client ever started them
	Unfinished int64         // a client started them and did not end them
	Oldest     time.Duration // for how long the first of these had been due
	// In a closed loop Unfinished are the turns in progress when the window closed, and
	// Overdue those of them that had taken more than twice as long as Longest, which is
	// the longest that ended in it.
	Overdue int64
	Longest time.Duration
	// Wakes is by how much the timers of arrivals were late for which a client waited, ns;
	// nil in a closed loop. Response times do not include it.
	Wakes *hdrhistogram.Histogram
	// Waiting is about how many are due that nobody has had, and Behind for how long
	// the first of them has been; both are 0 when the run is over.
	Waiting int64
	Behind  time.Duration
}

// Unaccounted is how many of the offered arrivals are missing from what became of
// them, below 0 where there are too many. It is 0 unless stampede itself is wrong.
func (g Generator) Unaccounted() int64 {
	if g.Offered == 0 {
		return g.Completed + g.Failed + g.Skipped // a closed loop is offered nothing
	}
	return g.Offered - g.Completed - g.Failed - g.Skipped - g.Unfinished
}

// An Interval is one slice of the window.
type Interval struct {
	Start         time.Duration // from the window's beginning
	Rounds        int64
	P50, P90, P99 time.Duration // of the recipe's first phase, response time; 0 of too few to know it
	Notifications int64
	Reads         int64
	Writes        int64
}
