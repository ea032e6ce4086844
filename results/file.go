package results

import "time"

// Schema is the version of the file format that this package writes. Warnings have codes since
// version 2.
const Schema = 2

// A File is the result of one command. Durations are in nanoseconds, sizes in
// bytes, throughput per second, unless a name says otherwise. What does not
// apply is left out; a percentile that too few observations support is null.
type File struct {
	Schema  int       `json:"schema"`
	ID      string    `json:"id"`      // of the start and the recipes, e.g. "20261121-093105-022871-lock"; ids sort by time
	Started time.Time `json:"started"` // UTC
	Tool    Tool      `json:"tool"`
	Host    Host      `json:"host"`
	Command []string  `json:"command"` // that does the same again, credentials redacted
	Seed    uint64    `json:"seed"`
	// Interrupted: the command was ended early; the last run may be shorter
	// than asked for, and others may be missing.
	Interrupted bool `json:"interrupted,omitempty"`
	// Took is how long the whole command took.
	Took time.Duration `json:"took_ns"`
	// Skipped says, a line each, what was left out and why.
	Skipped []string `json:"skipped,omitempty"`
	// Scenario is the scenario file that it was run from, by its name without
	// folder and suffix; left out otherwise.
	Scenario string `json:"scenario,omitempty"`
	// Percentiles are those that tables show and findings cite, where they were
	// chosen.
	Percentiles []float64 `json:"percentiles,omitempty"`
	// Reference is what the scenario file sets beside the runs.
	Reference *Reference `json:"reference,omitempty"`
	// Gates are what was asked of the runs, and Verdict what follows from all of
	// them; left out where nothing was asked.
	Gates   []Gate  `json:"gates,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
	Runs    []Run   `json:"runs"`
	// Summary has the medians over the repetitions of each form at each number of
	// clients, with their intervals; left out where nothing was repeated, and missing in
	// older files.
	Summary []Level `json:"summary,omitempty"`
}

// A Tool is the stampede that did it.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// A Host is the machine that the generator ran on.
type Host struct {
	OS          string `json:"os"`
	Kernel      string `json:"kernel"`
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"` // that the generator may use
	MemoryBytes int64  `json:"memory_bytes"`
}

// A Run is one recipe in one form, on one backend, with one number of clients.
type Run struct {
	// Scenario is which one of a scenario file the run belongs to.
	Scenario string `json:"scenario,omitempty"`

	Recipe  string  `json:"recipe"`
	Form    string  `json:"form"`
	Family  string  `json:"family"` // "recipe", "naive", "library", "load"
	Backend Backend `json:"backend"`
	Clients int     `json:"clients"`
	// Groups is how many instances of the recipe, which had nothing to do with
	// each other, the clients were spread over, as many on each. 0 is one: older
	// files do not say.
	Groups int `json:"groups"`
	// Repetition counts the runs that measure the same thing again, from 1; left out
	// where nothing was repeated.
	Repetition int `json:"repetition,omitempty"`
	// Seed is the run's own, derived from the file's and the run's place in it. 0:
	// older files do not say.
	Seed uint64 `json:"seed,omitempty"`
	Loop string `json:"loop"` // "closed": a client begins a round when its last one has ended; "open": work comes at a rate
	// Open is of an open loop.
	Open *Open `json:"open,omitempty"`
	// OfferedPerS is how many arrivals an open loop had in a second of the
	// window; 0 in a closed one.
	OfferedPerS float64 `json:"offered_per_s,omitempty"`
	// Mix and ReadRatio are of raw operations; a recipe has neither.
	Mix        *Mix        `json:"mix,omitempty"`
	ReadRatio  *ReadRatio  `json:"read_ratio,omitempty"`
	Preload    *Preload    `json:"preload,omitempty"`
	Background *Background `json:"background,omitempty"`

	// Settings are the flags of stampede run that can change a figure of the run, with
	// their values, defaults included. Flags that the recipe does not use are left out,
	// and so are those that have a field of their own under another name. It is missing
	// in older files.
	Settings map[string]string `json:"settings,omitempty"`

	HoldNS   time.Duration `json:"hold_ns"`
	ThinkNS  time.Duration `json:"think_ns"`
	WarmupNS time.Duration `json:"warmup_ns"` // as asked for: the least
	// Warmup is what came before the window and was thrown away; missing in older files.
	Warmup *Warmup `json:"warmup,omitempty"`
	// Order is the place of the run in the order in which the command did its runs, from 1;
	// missing in older files. Which form comes first is drawn from the seed.
	Order int `json:"order,omitempty"`
	// RampNS is how long the clients were asked to take to arrive, before the
	// warm-up; left out: as long as their number called for.
	RampNS time.Duration `json:"ramp_ns,omitempty"`
	// RampTookNS is how long they took; left out: they arrived at once, or the file is older.
	RampTookNS time.Duration `json:"ramp_took_ns,omitempty"`

	DurationNS     time.Duration `json:"duration_ns"` // of the measured window
	Rounds         int64         `json:"rounds"`      // that ended in it
	ThroughputPerS float64       `json:"throughput_per_s"`

	Latency   map[string]Latency `json:"latency"` // by phase, in the recipe's own words
	Phases    []string           `json:"phases"`  // the keys of Latency in the recipe's order
	Herd      Herd               `json:"herd"`
	Cost      Cost               `json:"cost"`
	Fanout    *Fanout            `json:"fanout,omitempty"` // of a fan-out only
	Fairness  *Fairness          `json:"fairness,omitempty"`
	Storm     *Storm             `json:"storm,omitempty"`       // of storms of sessions only; not in older files
	Little    *Little            `json:"littles_law,omitempty"` // of a closed loop in which rounds ended; not in older files
	Safety    Safety             `json:"safety"`
	Generator Generator          `json:"generator"`
	// Server is the server's own account of the window, others' doings
	// included; left out where it keeps none.
	Server *Server `json:"server,omitempty"`
	// Disturbed: a connection was cut or a session lost, so that operations
	// were repeated, and the identities are not checked.
	Disturbed bool             `json:"disturbed,omitempty"`
	Errors    map[string]int64 `json:"errors"` // how often, by the error's text
	Warnings  []Warning        `json:"warnings"`
	Doubts    []Warning        `json:"doubts,omitzero"` // those of the warnings for which figures prove nothing; missing in older files
	Intervals []Interval       `json:"intervals"`
	// Faults are what was broken on purpose; left out where nothing was.
	Faults *Breakage `json:"faults,omitempty"`
}

// Warmup is how long a run was driven before it was measured.
type Warmup struct {
	TookNS time.Duration `json:"took_ns"`
	// Steady: throughput had stopped rising. False where the warm-up has a fixed length, as
	// in an open loop, or its limit came first.
	Steady     bool      `json:"steady"`
	RoundsPerS []float64 `json:"rounds_per_s,omitempty"` // in equal slices of it; missing where it has a fixed length
}

// Open is how work comes in an open loop.
type Open struct {
	Rate        string        `json:"rate"`    // arrivals a second: "500", "100..1000" rising evenly, "100,200" in steps
	Arrival     string        `json:"arrival"` // "constant" or "poisson"
	LateLimitNS time.Duration `json:"late_limit_ns,omitempty"`
}

// A Backend is the service that a run was done on.
type Backend struct {
	Name       string `json:"name"`
	URL        string `json:"url"` // credentials redacted
	Server     string `json:"server"`
	Durability string `json:"durability"`        // "fsync", "memory", "unknown"
	Client     string `json:"client"`            // the client library
	Reads      string `json:"reads"`             // "local", "sync", "linearizable", "serializable"; "" in files before it was noted
	Started    string `json:"started"`           // "own process", "3 own processes", "3 own processes behind proxies", "in process", "" for a given address
	Servers    int    `json:"servers,omitempty"` // over how many the sessions are spread; not in files before it was noted
}

// A Latency is one phase: service time counts from the call, response time from
// when it was due.
type Latency struct {
	Count    int64         `json:"count"`
	Service  *Distribution `json:"service_ns,omitempty"`
	Response *Distribution `json:"response_ns,omitempty"`
}

// A Distribution sums up a histogram. A percentile with fewer than ten
// observations beyond it is null.
type Distribution struct {
	Min  int64   `json:"min"`
	Mean float64 `json:"mean"`
	P50  *int64  `json:"p50"`
	P90  *int64  `json:"p90"`
	P99  *int64  `json:"p99"`
	P999 *int64  `json:"p999"`
	Max  int64   `json:"max"`
	// HDR is the whole histogram in the base64 V2 compressed encoding that
	// HdrHistogram tools read.
	HDR string `json:"hdr"`
	// Others has further percentiles that are known without a histogram: medians over the runs
	// of a sweep's level.
	Others map[float64]int64 `json:"-"`
}

// Herd is how many each write woke.
type Herd struct {
	Triggers      int64         `json:"triggers"` // writes that woke somebody
	Foreign       int64         `json:"foreign"`  // those that nobody in this process made
	Notifications int64         `json:"notifications"`
	Fanout        *Distribution `json:"fanout,omitempty"`   // notifications per trigger
	Drain         *Distribution `json:"drain_ns,omitempty"` // first to last notification of a trigger
	Useful        int64         `json:"useful"`             // after which a client went on
	Wasted        int64         `json:"wasted"`             // after which it went back to sleep
	Leftover      int64         `json:"leftover"`           // watches armed and not fired at the end
	// Timeline is what happened around the triggers; left out where no trigger
	// was long enough before the window's end.
	Timeline *Timeline `json:"timeline,omitempty"`
}

// A Timeline is what happened on the wire before and after a trigger, in bins of
// time, the mean over the triggers. Zero is when the first of those that the
// trigger woke was told. Where triggers come denser than the line is long, lines
// overlap, and what happens counts for each trigger that it is so near to.
type Timeline struct {
	BinNS    time.Duration `json:"bin_ns"`   // the width of a bin
	FromNS   time.Duration `json:"from_ns"`  // where the first bin begins, below zero
	Triggers int64         `json:"triggers"` // of which this is the mean: those whose line ended within the window
	// By bin. Operations count when they are asked for.
	Notifications []float64 `json:"notifications"`
	Reads         []float64 `json:"reads"`
	Writes        []float64 `json:"writes"`
}

// Fanout is how those were told who watch a node that is set again and again.
type Fanout struct {
	Watchers int `json:"watchers"` // of each node
	// Writes are those of which every watcher has been told, or never will be;
	// the rest is of these.
	Writes        int64 `json:"writes"`
	Notifications int64 `json:"notifications"`
	// Missed are the changes that a watcher was not told of: they came between a
	// notification and the next watch, or while its session was disturbed.
	Missed  int64   `json:"missed"`
	FromAck FromAck `json:"from_ack_ns"`
}

// FromAck is when notifications came, after the write's acknowledgement: less than
// zero is before it.
type FromAck struct {
	First  *Signed `json:"first,omitempty"`  // of each write
	Median *Signed `json:"median,omitempty"` // with which half of those were told who were
	Last   *Signed `json:"last,omitempty"`
	Each   *Signed `json:"each,omitempty"` // all notifications
}

// Signed sums up times that may be negative. A percentile with fewer than ten
// observations beyond it is null.
type Signed struct {
	Min int64  `json:"min"`
	P50 *int64 `json:"p50"`
	P99 *int64 `json:"p99"`
	Max int64  `json:"max"`
}

// Cost is what crossed the wire in the window.
type Cost struct {
	Totals
	ReadWriteRatio *float64  `json:"read_write_ratio"` // null without writes
	PerRound       *PerRound `json:"per_round"`        // null without rounds
	// Whole are the same counts over all rounds of the run from first to last,
	// warm-up included: identities hold for whole rounds only.
	Whole       Totals `json:"whole"`
	WholeRounds int64  `json:"whole_rounds"`
	// Expected is what the cost model says of any schedule; null if the form
	// has no model or the run was disturbed. What a form costs at rest is
	// another question: see CountReport.
	Expected *Expected `json:"expected"`
}

// Totals are counts on the wire.
type Totals struct {
	Notifications int64 `json:"notifications"`
	Reads         int64 `json:"reads"`
	Writes        int64 `json:"writes"`        // failed ones included
	FailedWrites  int64 `json:"failed_writes"` // those whose reply was an error
	RPCs          int64 `json:"rpcs"`          // requests of every kind but heartbeats
	BytesIn       int64 `json:"bytes_in"`
	BytesOut      int64 `json:"bytes_out"`
}

// PerRound is Totals divided by the rounds.
type PerRound struct {
	Notifications float64 `json:"notifications"`
	Reads         float64 `json:"reads"`
	Writes        float64 `json:"writes"`
	FailedWrites  float64 `json:"failed_writes"`
	RPCs          float64 `json:"rpcs"`
	BytesIn       float64 `json:"bytes_in"`
	BytesOut      float64 `json:"bytes_out"`
}

// Expected is what must hold of Whole.
type Expected struct {
	Identities []Identity `json:"identities"`
	// NotificationsPerRound is what a round costs at rest with all clients there;
	// left out where the model does not determine it.
	NotificationsPerRound *float64 `json:"notifications_per_round,omitempty"`
}

// An Identity is something that holds of a form's counts under any schedule.
type Identity struct {
	Formula string `json:"formula"`
	Left    int64  `json:"left"`
	Right   int64  `json:"right"`
	Holds   bool   `json:"holds"`
}

// Storm is how many writes of the ordinary client were due while storms lasted. It makes
// one at a time: those omitted were due and never made, since the one before had not ended.
type Storm struct {
	Made    int64 `json:"made"`
	Omitted int64 `json:"omitted"`
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

// Fairness is how evenly and in which order clients were served.
type Fairness struct {
	Jain          float64       `json:"jain"` // 1 is even, 1/N is one for all
	Inversions    int64         `json:"inversions"`
	LongestWaitNS time.Duration `json:"longest_wait_ns"`
}

// Safety is what the recipe's checker saw.
type Safety struct {
	Checked        int64    `json:"checked"`
	Violations     int64    `json:"violations"` // any void the numbers
	BeliefOverlaps int64    `json:"belief_overlaps"`
	TokensRefused  int64    `json:"tokens_refused"`
	Tokens         bool     `json:"tokens"` // whether the form has fencing tokens
	Details        []string `json:"details"`
	Weaker         string   `json:"weaker,omitempty"` // what the form does not promise, though others of its recipe do
}

// Machine is which programs used the generator's machine in the window, in seconds of
// processor time per second.
type Machine struct {
	Cores          int     `json:"cores"`           // that the machine has
	BusyCores      float64 `json:"busy_cores"`      // used by all programs and the kernel
	StartedCores   float64 `json:"started_cores"`   // used by the servers that the run started
	OtherCores     float64 `json:"other_cores"`     // used by programs that are not of the run
	WaitingThreads float64 `json:"waiting_threads"` // of the generator, ready to run without a processor; average
}

// Generator is how the load generator itself fared.
type Generator struct {
	CPUCores    float64  `json:"cpu_cores"`
	StolenCores float64  `json:"stolen_cores,omitempty"` // that the hypervisor gave to other machines
	Machine     *Machine `json:"machine,omitempty"`      // missing in older files and where the kernel does not tell
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
	Late      int64 `json:"late"`                // no client was free when they were due
	Completed int64 `json:"completed,omitempty"` // not in older files
	Failed    int64 `json:"failed,omitempty"`    // a client started them and lost them, with its session for instance; not in older files
	Skipped   int64 `json:"skipped"`             // no client ever started them
	// Unfinished are those that a client started and did not end. In a closed loop, which
	// is offered nothing, they are the turns in progress when the window closed; older
	// files have 0.
	Unfinished int64 `json:"unfinished"`
	// OldestNS is for how long the first of the unfinished had been due; not in older files.
	OldestNS time.Duration `json:"oldest_unfinished_ns,omitempty"`
	// Wakes is by how much the timers of an open loop were late for which a client waited.
	// Response times do not include it; those of older files do.
	Wakes *Distribution `json:"wakes_ns,omitempty"`
}

// Lost returns the number of arrivals of an open loop that have no response time.
func (g Generator) Lost() int64 {
	if g.Offered == 0 {
		return 0
	}
	return g.Failed + g.Skipped + g.Unfinished
}

// Server is what a server counted for itself. Apache ZooKeeper counts
// heartbeats among the reads.
type Server struct {
	Notifications int64 `json:"notifications"`
	Reads         int64 `json:"reads"`
	Writes        int64 `json:"writes"`
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
