package results

import (
	"time"
)

// Storm is how many writes of the ordinary client were due while storms lasted. It makes
// one at a time: those omitted were due and never made, since the one before had not ended.
type Storm struct {
	Made    int64 `json:"made"`
	Omitted int64 `json:"omitted"`
}

// Reconnects says how clients tried to come back after outages in the window. Attempts that were refused count.
type Reconnects struct {
	OutageNS          time.Duration `json:"outage_ns"` // the length of each outage
	Outages           int64         `json:"outages"`
	AttemptsPerClient float64       `json:"attempts_per_client"` // after one outage, on average
	// BusiestTenth and BusiestSecond are the attempts of all clients in the busiest 100 ms and 1 s since the beginning
	// of an outage, on average over the outages.
	BusiestTenth  float64 `json:"busiest_100ms"`
	BusiestSecond float64 `json:"busiest_1s"`
	AttemptsPerS  float64 `json:"attempts_per_s"` // in the window: the steady rate beside which the bursts stand
}

// Little checks a closed loop by Little's law: the mean number of turns in progress is
// the rate at which turns end times the mean time that they take. The turns that ended
// take too little where those in progress at the end take longer, as in a form that lets
// some clients wait and whose window is short.
type Little struct {
	InProgress float64 `json:"in_progress"` // turns in progress, think time included, on average over the window
	Ended      float64 `json:"ended"`       // rate times mean time of the turns that ended
	Error      float64 `json:"error"`       // three standard errors of the difference
	Holds      bool    `json:"holds"`       // the difference is within the error, or at most 5 % of in_progress
}

// Fairness says how evenly and in which order clients were served.
type Fairness struct {
	Jain          float64       `json:"jain"` // 1 is even, 1/N is one for all
	Inversions    int64         `json:"inversions"`
	LongestWaitNS time.Duration `json:"longest_wait_ns"`
}

// Safety is the result of the recipe's safety checker.
type Safety struct {
	Checked        int64    `json:"checked"`
	Violations     int64    `json:"violations"` // any void the numbers
	BeliefOverlaps int64    `json:"belief_overlaps"`
	TokensRefused  int64    `json:"tokens_refused"`
	Tokens         bool     `json:"tokens"` // whether the form has fencing tokens
	Details        []string `json:"details"`
	Weaker         string   `json:"weaker,omitempty"`        // what the form does not promise, though others of its recipe do
	Notifications  int64    `json:"notifications,omitempty"` // whose delivery was checked
	Undelivered    int64    `json:"undelivered,omitempty"`   // notifications that were missing, late, repeated, out of order or wrong: violations, too
}

// Machine is which programs used the generator's machine in the window, in seconds of
// processor time per second.
type Machine struct {
	Cores          float64 `json:"cores"`                   // that the generator and the servers which it started may use
	BusyCores      float64 `json:"busy_cores"`              // of these, used by all programs and the kernel
	StartedCores   float64 `json:"started_cores"`           // used by the servers that the run started
	ServiceCores   float64 `json:"service_cores,omitempty"` // used by a service on this machine that the run did not start
	OtherCores     float64 `json:"other_cores"`             // used by programs that are not of the run
	WaitingThreads float64 `json:"waiting_threads"`         // of the generator, ready to run without a processor; average
	// StartedResidentBytes is the memory of the servers that the run started, at the end of the window, and
	// StartedWrittenBytes what they had the disk write. Left out where there are none.
	StartedResidentBytes int64 `json:"started_resident_bytes,omitempty"`
	StartedWrittenBytes  int64 `json:"started_written_bytes,omitempty"`
}

// Generator describes the load generator itself.
type Generator struct {
	CPUCores    float64  `json:"cpu_cores"`
	StolenCores float64  `json:"stolen_cores,omitempty"` // that the hypervisor gave to other machines
	Machine     *Machine `json:"machine,omitempty"`      // left out where the kernel does not tell
	// RequestsPerS is how many requests the clients made, and CeilingPerS how many the
	// generator makes of a server that does nothing, where stampede calibrate --ceiling has
	// found that out; missing otherwise.
	RequestsPerS float64 `json:"requests_per_s,omitempty"`
	CeilingPerS  float64 `json:"ceiling_per_s,omitempty"`

	GCPauseNS time.Duration `json:"gc_pause_ns"`
	Lag       *Distribution `json:"lag_ns,omitempty"` // how late timers ran
	// Offered are the arrivals that were due in the window, in an open loop only. Each
	// is completed, failed, skipped or unfinished: offered is their sum.
	Offered   int64 `json:"offered,omitempty"`
	Late      int64 `json:"late"` // no client was free when they were due, also those that were skipped
	Completed int64 `json:"completed,omitempty"`
	Failed    int64 `json:"failed,omitempty"` // a client started them and lost them, with its session for instance
	Skipped   int64 `json:"skipped"`          // no client ever started them
	// Unfinished are those that a client started and did not end. In a closed loop, which
	// is offered nothing, they are the turns in progress when the window closed.
	Unfinished int64 `json:"unfinished"`
	// OldestNS is for how long the first of the unfinished had been due.
	OldestNS time.Duration `json:"oldest_unfinished_ns,omitempty"`
	// Wakes is by how much the timers of an open loop were late for which a client waited.
	// Response times do not include it.
	Wakes *Distribution `json:"wakes_ns,omitempty"`
}

// An Agent is one of the processes that shared the clients of a run.
type Agent struct {
	Name       string  `json:"name"`
	Host       string  `json:"host"`
	Processors float64 `json:"processors"` // that its process may use
	Sessions   int     `json:"sessions"`
	// Lost says when the agent was lost; left out if it was not. What its sessions did is in no figure of the
	// run, and its generator and its clock are not known.
	Lost *AgentLoss `json:"lost,omitempty"`
	// Generator describes its part of the load.
	Generator Generator `json:"generator,omitzero"`
	// ClockErrorNS is how far its times can be wrong on the coordinator's clock, at most. Latencies from a
	// client of one agent to a client of another have the errors of both. ClockDriftPPM is how much slower
	// its clock ran than the coordinator's, in millionths.
	ClockErrorNS  time.Duration `json:"clock_error_ns,omitzero"`
	ClockDriftPPM float64       `json:"clock_drift_ppm,omitzero"`
}

// AgentLoss is the loss of an agent that died or was cut off.
type AgentLoss struct {
	NoticedNS   time.Duration `json:"noticed_ns"`    // from the window's beginning; 0 if before
	LastHeardNS time.Duration `json:"last_heard_ns"` // how long the window had been open when it last told of its progress
	Rounds      int64         `json:"rounds"`        // that it had told of by then
}

// Lost returns the number of arrivals of an open loop that have no response time.
func (g Generator) Lost() int64 {
	if g.Offered == 0 {
		return 0
	}
	return g.Failed + g.Skipped + g.Unfinished
}

// Fsyncs says how often a server had the disk confirm its log.
type Fsyncs struct {
	Count  int64         `json:"count"`
	TookNS time.Duration `json:"took_ns,omitempty"` // in all; left out where the server does not tell it, as ZooKeeper
}

// Server has the server's own counts. Apache ZooKeeper counts
// heartbeats among the reads.
type Server struct {
	// Rounds ended while the server counted, from a little before the window until a little after it;
	// left out where the server keeps no count.
	Rounds        int64 `json:"rounds,omitzero"`
	Notifications int64 `json:"notifications"`
	Reads         int64 `json:"reads"`
	Writes        int64 `json:"writes"`
	// Fsyncs are left out where the server does not tell.
	Fsyncs *Fsyncs `json:"fsyncs,omitempty"`
}

// An Interval is one slice of the window.
type Interval struct {
	T             time.Duration `json:"t_ns"` // from the window's beginning
	Rounds        int64         `json:"rounds"`
	P50           time.Duration `json:"p50_ns,omitzero"` // response time of the first phase; left out of too few to know it
	P90           time.Duration `json:"p90_ns,omitzero"`
	P99           time.Duration `json:"p99_ns,omitzero"`
	Notifications int64         `json:"notifications"`
	Reads         int64         `json:"reads"`
	Writes        int64         `json:"writes"`
}

// Seconds returns the rounds that ended in each whole second of the window, except for seconds whose
// beginning or end a busy machine missed. It returns nil if there are less than two.
func (r Run) Seconds() (rounds []int64) {
	sum, began := int64(0), time.Duration(-1) // of the second that began then; negative: none
	reach := func(at time.Duration) {
		if began >= 0 && at == began+time.Second {
			rounds = append(rounds, sum)
		}
		if at%time.Second == 0 {
			sum, began = 0, at
		}
	}
	for _, i := range r.Intervals {
		reach(i.T)
		sum += i.Rounds
	}
	if reach(r.DurationNS.Truncate(closedLate)); len(rounds) < 2 {
		return nil
	}
	return rounds
}

// closedLate is how long after its time a window may close: the last second may be that much longer.
const closedLate = 20 * time.Millisecond
