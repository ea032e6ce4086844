package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
)

// A Record holds all measurements of one run: one recipe in one form, on one backend, with one
// number of clients.
type Record struct {
	Duration time.Duration // the measured window, warm-up not included
	Rounds   int64         // rounds that ended in it
	// Phases are in the recipe's order. In an open loop they have the times of the arrivals that
	// were due in the window, whenever they ended, and in a closed loop those of the turns that
	// ended in it.
	Phases []Phase
	// Untimed is how many rounds lack their times in Phases, or how many too many have times if it is
	// negative: of the rounds of a closed loop that ended in the window, or of the completed arrivals
	// of an open loop. It is 0 unless stampede has a defect, or some turns had to be repeated.
	Untimed int64
	Counts  Counts        // packets in the window
	Herd    Herd          // notifications of the window's writes
	Ramp    time.Duration // time over which the clients started one after the other; 0: all at the same time
	Warmup  Warmup        // measurements between the ramp and the window
	// Whole covers the time from before the first round until every started round had ended,
	// and WholeRounds counts these rounds. The cost model's identities are checked on them,
	// since the identities hold for whole rounds only.
	Whole       Counts
	WholeRounds int64
	// Upkeep has the requests of the run itself in the window, and WholeUpkeep those over the time of Whole. The run makes
	// the nodes of a round and removes them after it. Counts and Whole are of clients only; Server has both.
	Upkeep, WholeUpkeep Requests
	// Disturbed says that a connection was cut or a session lost, so that some operations were
	// repeated.
	Disturbed bool
	Sessions  Sessions  // of the clients, in the window
	Fairness  *Fairness // nil where clients do not compete
	Fanout    *Fanout   // only of a workload that measures fan-out; else nil
	Mix       *Mix      // only of raw operations; nil for a recipe
	Storm     *Storm    // only of storms of sessions; else nil
	// Reconnects has the attempts of clients that come back after outages; nil if a run has none, or if
	// several processes share it.
	Reconnects *Reconnects
	Little     *Little // only of a closed loop in which rounds ended; else nil
	// Background holds the measurements of the background load in the same window, by its own
	// meter; nil where there was none.
	Background *Record
	Safety     Safety
	Generator  Generator
	// Server holds what the server's own counters counted for all its clients; nil where it has
	// none, or where a server began to count anew. They are read a little before and a little after the window, so ServerRounds has the
	// rounds that ended between the two readings. It has no LargestFanout.
	Server       *drivers.Counters
	ServerRounds int64
	Errors       map[string]int64 // in the window, by sentinel text
	Warnings     []Warning
	Doubts       []Warning // the warnings that make the figures unusable
	Intervals    []Interval
	// The faults injected in the window, and the clients' recoveries.
	Breaks     []Break
	Recoveries []Recovery
	// FaultsError is how far times of these can be wrong, where several machines noted them.
	FaultsError time.Duration
}

// The names of Names that stand for more than a word in the sentence.
const (
	OfLoad     = "load"       // the load that the warning is about: Background; "" is the recipe
	Background = "background" // the load that runs beside the recipe
	OfAgent    = "agent"      // the agent that the warning is about; "" is the whole run
	Cause      = "cause"      // of a Bystanders warning: the code that a load of its own would have
)

// Warn records warnings.
func (r *Record) Warn(all ...Warning) { r.Warnings = append(r.Warnings, all...) }

// Doubt records warnings that make the figures unusable.
func (r *Record) Doubt(all ...Warning) {
	r.Warn(all...)
	r.Doubts = append(r.Doubts, all...)
}

// serviceLost returns when the service last answered, from the opening of the window, if the run ended since it was gone.
func (r *Record) serviceLost() (answered time.Duration, is bool) {
	i := slices.IndexFunc(r.Doubts, func(w Warning) bool { return w.Code == ServiceLost })
	if i < 0 {
		return 0, false
	}
	return max(time.Duration(r.Doubts[i].Numbers["answered_ns"]), 0), true
}

// Answered returns for how long of the window the service was there: what came after it went away is no fault's doing.
func (r *Record) Answered() time.Duration {
	if answered, lost := r.serviceLost(); lost {
		return min(answered, r.Duration)
	}
	return r.Duration
}

// A Phase is one of a recipe's steps with its latencies in nanoseconds. Service time counts
// from the call, response time from the moment when the step was due. Either may be nil where
// it has no meaning.
type Phase struct {
	Name     string
	Service  *hdrhistogram.Histogram
	Response *hdrhistogram.Histogram
	// Error is how far each time can be wrong, where times begin on one machine and end on another.
	Error time.Duration
}

// Requests counts requests by what they do.
type Requests struct{ Reads, Writes, Syncs int64 }

// Sub returns the requests that were sent since there were only those of before.
func (r Requests) Sub(before Requests) Requests {
	return Requests{r.Reads - before.Reads, r.Writes - before.Writes, r.Syncs - before.Syncs}
}

// Counts are sums over all sessions. Two Counts of one run, both from Meter.Counts, can be
// subtracted.
type Counts struct {
	Notifications int64
	Reads         int64 // exists, get, children
	Writes        int64 // create, delete, set, multi; failed ones included
	FailedWrites  int64 // writes whose reply was an error
	Lists         int64 // reads that were children requests
	WatchedExists int64 // K: answered exists requests with a watch, whether or not the node existed
	WatchedMisses int64 // z: those of WatchedExists that found no node
	WatchedGets   int64 // answered get requests with a watch, whether or not the node existed
	MissedGets    int64 // those of WatchedGets that found no node
	Opens         int64 // requests to open or resume a session
	Syncs         int64
	Armings       int64 // persistent watches armed
	RPCs          int64 // requests of every kind except pings and flushes
	Pings         int64
	Flushes       int64
	Rearms        int64 // requests that arm watches again after a connect
	BytesIn       int64 // bytes of replies and notifications, except flushes
	BytesOut      int64 // bytes of requests, except flushes
	Useful        int64 // notifications that led to the end of a phase: the last that the client had taken notice of
	Wasted        int64 // the earlier ones of the phase
	Cuts          int64 // connections that broke before a request to close the session
}

// Herd describes how many notifications each write caused.
type Herd struct {
	Triggers int64 // writes that caused notifications, including foreign ones
	Foreign  int64 // triggers that no session of the Meter is known to have made: expiry, other processes
	// Notifications counts the notifications of the triggers.
	Notifications int64
	Fanout        Tally                   // sessions notified per trigger
	Drain         *hdrhistogram.Histogram // first to last notification of a trigger, ns
	Largest       int64                   // largest fan-out: most sessions notified by one trigger
	Leftover      int64                   // watches still armed at the end
	Timeline      Timeline
}

// Mix counts raw operations.
type Mix struct {
	Reads, Writes int64 // completed; a transaction is one write
	Transactions  int64 // of the writes
	// Retries are the conditional sets that were repeated because another client had changed the node first, and
	// Refused the conditional transactions.
	Retries, Refused int64
}

// Storm counts the ordinary client's writes that were due during storms: those made, and those
// omitted because the previous write had not ended.
type Storm struct{ Made, Omitted int64 }

// Reconnects counts the attempts of clients to come back after outages, also those that were refused.
type Reconnects struct {
	Outage        time.Duration // how long each was
	Outages       int64
	Returns       int64 // clients that came back, once for each outage
	Attempts      int64
	Second, Tenth int64 // sums over the outages: the attempts in the busiest second and tenth of a second of each
}

// Sessions counts what happened to the sessions of clients, apart from what a storm of sessions did to them.
type Sessions struct {
	Disconnected   int64 // clients that were disconnected at least once
	Disconnections int64 // how often they were, in all
	Lost           int64 // sessions that the service ended
	GivenUp        int64 // sessions that clients ended, disconnected for their time-out: the service may have kept them
}

// Fairness says how evenly and in which order clients were served.
type Fairness struct {
	Served      []int64       // rounds, by client
	Inversions  int64         // grants to a client while another that had asked earlier still waited
	LongestWait time.Duration // longest time between asking and being served
}

// Safety is the result of the run's safety checkers: of the recipe's, and of that of the delivery of
// notifications.
type Safety struct {
	Checked        int64    // number of checks, for example grants
	Violations     int64    // for example two holders at the same time; see the recipe's checker
	BeliefOverlaps int64    // overlaps after a disturbed session: shown, but no violation
	TokensRefused  int64    // older tokens that a resource would have refused
	Tokens         bool     // false: the form has no fencing token
	Details        []string // the first few, each one sentence
	// Weaker names the property that this form does not promise, though other forms of its
	// recipe do, and that was therefore not checked; "" if there is none.
	Weaker string
	// Delivery is of the notifications. Violations and Details include those of it.
	Delivery Delivery
}

// EndedEarly begins the detail that says why a run ended before its time, if an error of a form did that.
const EndedEarly = "the run ended early: "

// Delivery is the result of checking that the service delivers notifications as its protocol promises.
type Delivery struct {
	Notifications int64    // that were checked
	Violations    int64    // notifications that broke a promise or are missing
	Details       []string // the first few, each one sentence
}

// WithDelivery adds the result of checking the notifications.
func (s Safety) WithDelivery(d Delivery) Safety {
	s.Violations += d.Violations
	s.Details = slices.Concat(s.Details, d.Details)
	s.Delivery = d
	return s
}

// Add returns the sum of both results, with at most the given number of details.
func (s Safety) Add(other Safety, details int) Safety {
	s.Checked += other.Checked
	s.Violations += other.Violations
	s.BeliefOverlaps += other.BeliefOverlaps
	s.TokensRefused += other.TokensRefused
	s.Tokens = s.Tokens || other.Tokens
	s.Details = slices.Concat(s.Details, other.Details)
	s.Details = s.Details[:min(len(s.Details), details)]
	s.Weaker = cmp.Or(s.Weaker, other.Weaker)
	s.Delivery.Notifications += other.Delivery.Notifications
	s.Delivery.Violations += other.Delivery.Violations
	s.Delivery.Details = slices.Concat(s.Delivery.Details, other.Delivery.Details)
	s.Delivery.Details = s.Delivery.Details[:min(len(s.Delivery.Details), details)]
	return s
}

// Generator describes the load generator itself.
type Generator struct {
	CPUCores float64                 // processor time used per second of the window
	Machine  *Machine                // processor use in the window; nil where the kernel does not provide it
	GCPause  time.Duration           // total stop-the-world time
	Lag      *hdrhistogram.Histogram // how late timers and wake-ups ran, ns; nil if not sampled
	// The arrivals of an open loop that were due in the window, by outcome. In a closed loop
	// all are 0 except Unfinished and Oldest. Offered is the sum of Completed, Failed, Skipped
	// and Unfinished: see Unaccounted.
	Offered    int64
	Late       int64 // no client was free when they were due, also those that were skipped
	Completed  int64
	Failed     int64 // a client started them and they failed, for example because its session was lost
	Skipped    int64 // no client ever started them
	Unfinished int64 // a client started them and did not finish them
	// Planned is the mean number of arrivals in the window by the rate, and PlannedError is how far
	// Offered may be from it without a defect. Both are 0 where other processes have some arrivals.
	Planned, PlannedError float64
	Oldest                time.Duration // time since the oldest unfinished one was due
	// In a closed loop Unfinished counts the turns in progress when the window closed, and
	// Overdue counts those of them that had lasted more than twice as long as Longest, the
	// longest turn that ended in the window.
	Overdue int64
	Longest time.Duration
	// Wakes records how late the timers fired for arrivals for which a client was waiting, in
	// ns; nil in a closed loop. Response times do not include this delay.
	Wakes *hdrhistogram.Histogram
	// Waiting is the approximate number of due arrivals that no client has taken, and Behind is
	// the time since the first of them was due. Both are 0 when the run is over.
	Waiting int64
	Behind  time.Duration
}

// Unaccounted returns the number of offered arrivals without an outcome; it is negative if
// there are too many outcomes. It is 0 unless stampede has a defect.
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
	P50, P90, P99 time.Duration // response times of the recipe's first phase; 0 if there are too few observations
	Notifications int64
	Reads         int64
	Writes        int64
	// Times are the response times of the percentiles; nil except in a part of a run that several
	// processes share.
	Times *hdrhistogram.Histogram
}

// Sub returns the counts between an earlier moment and c.
func (c Counts) Sub(earlier Counts) Counts { return c.combine(earlier, -1) }

// Add returns the sum of both.
func (c Counts) Add(d Counts) Counts { return c.combine(d, 1) }

func (c Counts) combine(d Counts, sign int64) Counts {
	c.Notifications += sign * d.Notifications
	c.Reads += sign * d.Reads
	c.Writes += sign * d.Writes
	c.FailedWrites += sign * d.FailedWrites
	c.Lists += sign * d.Lists
	c.WatchedExists += sign * d.WatchedExists
	c.WatchedMisses += sign * d.WatchedMisses
	c.WatchedGets += sign * d.WatchedGets
	c.MissedGets += sign * d.MissedGets
	c.Opens += sign * d.Opens
	c.Syncs += sign * d.Syncs
	c.Armings += sign * d.Armings
	c.RPCs += sign * d.RPCs
	c.Pings += sign * d.Pings
	c.Flushes += sign * d.Flushes
	c.Rearms += sign * d.Rearms
	c.BytesIn += sign * d.BytesIn
	c.BytesOut += sign * d.BytesOut
	c.Useful += sign * d.Useful
	c.Wasted += sign * d.Wasted
	c.Cuts += sign * d.Cuts
	return c
}

// Identities returns an error if the record violates an identity that holds for every run: each
// offered arrival was completed, failed, skipped or unfinished, as many arrivals were offered as
// the rate says, each round has its times, and no more turns were in progress than there are
// clients. A violation is a defect of stampede.
func (r *Record) Identities() error {
	g, l := r.Generator, r.Little
	switch {
	case g.Unaccounted() != 0:
		return fmt.Errorf("arrivals do not add up: %d offered, but %d completed, %d failed, %d skipped and %d unfinished",
			g.Offered, g.Completed, g.Failed, g.Skipped, g.Unfinished)
	case g.Planned > 0 && math.Abs(float64(g.Offered)-g.Planned) > g.PlannedError:
		return fmt.Errorf("%d arrivals were offered, but the rate gives %.1f in the window", g.Offered, g.Planned)
	case r.Untimed != 0 && !r.Disturbed:
		return fmt.Errorf("times do not add up: %d are missing of %d rounds and %d completed arrivals", r.Untimed, r.Rounds, g.Completed)
	case g.Offered == 0 && (g.Overdue > g.Unfinished || g.Unfinished == 0 && g.Oldest > 0):
		return fmt.Errorf("turns do not add up: %d overdue of %d in progress, the oldest for %v", g.Overdue, g.Unfinished, g.Oldest)
	case l != nil && !(l.InProgress >= 0 && l.InProgress <= float64(l.Most)*(1+rounding)):
		return fmt.Errorf("%v turns of %d clients were in progress on average", l.InProgress, l.Most)
	case l != nil && g.Offered > 0:
		return fmt.Errorf("an open loop of %d arrivals was checked by Little's law as a closed one", g.Offered)
	}
	if r.Background == nil {
		return nil
	}
	if err := r.Background.Identities(); err != nil {
		return fmt.Errorf("background: %w", err)
	}
	return nil
}

// rounding is the relative error allowed in sums of floating-point numbers.
const rounding = 1e-6

// A Timeline shows the load around the triggers of the window (the writes that caused
// notifications): the operations and notifications of all sessions in bins of time, summed over
// the triggers. Time zero is the first notification of a trigger.
//
// Where triggers follow each other faster than the length of a line, lines overlap, and an
// event counts for each trigger whose line covers it, not only for the latest. So a bin divided
// by the number of triggers is always the load at that distance from a trigger, and a service
// under steady load has a flat line at the level of that load. If events counted for the latest
// trigger alone, the line would end at the next trigger and show the distance between triggers
// instead.
//
// A trigger whose line does not end within the window is left out, since the load ends with the
// window. Load counts from the run's first request for a watch. Edges of bins are accurate to a
// quarter of the bin width.
type Timeline struct {
	Bin      time.Duration // the width of a bin
	From     time.Duration // where the first bin begins
	Triggers int64
	// By bin, summed over the triggers. Operations count at the time of the request.
	Notifications, Reads, Writes [TimelineBins]int64
}

// TimelineBins is the number of bins of a timeline.
const TimelineBins = 100

// The default width of bins, and the limits of the width.
const (
	DefaultBin  = time.Millisecond
	ShortestBin = 10 * time.Microsecond
	LongestBin  = 10 * time.Millisecond
)

// A Warmup holds the measurements before the window, which do not count.
type Warmup struct {
	Took   time.Duration
	Steady bool      // throughput had stopped rising when the window opened
	Rates  []float64 // rounds per second, in equal slices of the warm-up
}

// A slice of a warm-up beats the best earlier one if its rate is higher by more than the share
// rising. Throughput is steady when none of the last plateau slices does so.
const (
	rising  = 0.02
	plateau = 3
)

// Add adds the rate of one more slice and reports whether throughput is steady. It detects a
// slow rise too, since it compares each slice with the best earlier one.
func (w *Warmup) Add(rate float64) bool {
	w.Rates = append(w.Rates, rate)
	best, bestAt := 0.0, 0
	for i, r := range w.Rates {
		if r > best*(1+rising) {
			best, bestAt = r, i
		}
	}
	w.Steady = len(w.Rates)-1-bestAt >= plateau
	return w.Steady
}
