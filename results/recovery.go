package results

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// Breakage describes the faults injected into a run.
type Breakage struct {
	Schedule []string   `json:"schedule"` // as asked for, a line each, e.g. "at=10s kill leader for=5s"
	Done     []Break    `json:"done"`     // the faults, in order
	Recovery []Recovery `json:"recovery"` // the recovery of the clients from each fault
	// ErrorNS is how far times from a fault to what it did can be wrong; left out where one process noted both.
	ErrorNS time.Duration `json:"error_ns,omitempty"`
}

// A Break is one injected fault.
type Break struct {
	AtNS time.Duration `json:"at_ns"` // from the window's beginning
	What string        `json:"what"`  // "kill member 2, the leader"
}

// A Recovery describes the effect of one fault on the clients, until the next one or the
// end of the window. Times are from the fault; null where it did not come about.
type Recovery struct {
	Break
	SpanNS        time.Duration  `json:"span_ns"`        // for how long it was watched
	NoticedNS     *time.Duration `json:"noticed_ns"`     // until the first client noticed that it is disconnected
	LedNS         *time.Duration `json:"led_ns"`         // until a server led, where something was done to servers
	ReconnectedNS *time.Duration `json:"reconnected_ns"` // until all disconnected clients were connected again
	// Effect is "outage": a gap between grants began at the fault that was longer than
	// DetectableNS; "slowdown": no such gap, but in the second after the fault fewer than
	// half as many grants came as in the slowest second before it; "none"; or "unclear":
	// too little happened before, an outage was in progress, or SpanNS is not longer than DetectableNS.
	Effect string `json:"effect,omitempty"`
	// Phase is that of the operations of which none ended during the outage while those of others did; left
	// out if none of any ended.
	Phase string `json:"phase,omitempty"`
	// DetectableNS is the longest gap that is not an outage, a multiple of the longest
	// one before the fault; 0 where there was none.
	DetectableNS time.Duration  `json:"detectable_ns,omitempty"`
	PauseNS      *time.Duration `json:"pause_ns"`  // the gap between grants that began at the fault; null unless it is an outage
	ServedNS     *time.Duration `json:"served_ns"` // until the first grant after the outage
	// The times in which clients by themselves were not served, from the fault on: the
	// middle one's and the longest, null where no longer than before the fault; and the
	// middle one's longest before the fault.
	StallNS        *time.Duration `json:"stall_ns"`
	LongestStallNS *time.Duration `json:"longest_stall_ns"`
	UsualStallNS   time.Duration  `json:"usual_stall_ns"`
	BackNS         *time.Duration `json:"back_ns"`       // until a second saw nine tenths of what was done before, or as much as the slowest second before; null unless there was an outage or a slowdown
	BeforePerS     float64        `json:"before_per_s"`  // grants before the fault
	AfterPerS      float64        `json:"after_per_s"`   // and from it on
	Disconnected   int            `json:"disconnected"`  // clients that were, at least once
	SessionsLost   int            `json:"sessions_lost"` // that the service ended
	// SessionsGivenUp were disconnected for their time-out and ended by their clients; the service may have
	// kept them.
	SessionsGivenUp int              `json:"sessions_given_up"`
	Errors          map[string]int64 `json:"errors"`
	// Totals is the traffic on the wire until all clients were back, over at least one second.
	Totals
	Rearms int64 `json:"rearms"` // requests that arm watches again after a reconnect
}

// breakage converts the recorded faults and recoveries; it returns nil if no faults were planned.
func breakage(schedule []string, r *metrics.Record) *Breakage {
	if len(schedule) == 0 {
		return nil
	}
	b := &Breakage{Schedule: schedule, ErrorNS: r.FaultsError}
	for _, done := range r.Breaks {
		b.Done = append(b.Done, Break{done.At, done.What})
	}
	for _, v := range r.Recoveries {
		b.Recovery = append(b.Recovery, Recovery{
			Break: Break{v.At, v.What}, SpanNS: v.Span, NoticedNS: v.Noticed, LedNS: v.Led, ReconnectedNS: v.Reconnected,
			Effect: string(v.Effect), Phase: v.Phase, DetectableNS: v.Detectable, PauseNS: v.Pause, ServedNS: v.Served, StallNS: v.Stall, LongestStallNS: v.LongestStall, UsualStallNS: v.Usual,
			BackNS: v.Back, BeforePerS: v.Before, AfterPerS: v.After, Disconnected: v.Disconnected, SessionsLost: v.Lost, SessionsGivenUp: v.GivenUp,
			Errors: v.Errors, Totals: totals(v.Counts), Rearms: v.Counts.Rearms,
		})
	}
	return b
}
