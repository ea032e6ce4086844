package results

import (
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

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
	// each other, the clients were spread over, as many on each. 0 is one.
	Groups int `json:"groups"`
	// Repetition counts the runs that measure the same thing again, from 1; left out
	// where nothing was repeated.
	Repetition int `json:"repetition,omitempty"`
	// Seed is the run's own, derived from the file's and the run's place in it.
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

	// Settings are all flags of stampede run that can change a figure of the run and that the recipe uses,
	// with their values, defaults included.
	Settings map[string]string `json:"settings"`
	// Without names what the form and the settings leave out, so that the run has no figures of it: phases,
	// "notifications" where no write can notify a session, "wake-ups" where no session waits for another client.
	// Left out where nothing is, and in older files.
	Without []string `json:"without,omitempty"`

	HoldNS   time.Duration `json:"hold_ns"`
	ThinkNS  time.Duration `json:"think_ns"`
	WarmupNS time.Duration `json:"warmup_ns"` // as asked for: the least
	// Warmup is what came before the window and was thrown away.
	Warmup *Warmup `json:"warmup,omitempty"`
	// Order is the place of the run in the order in which the command did its runs, from 1;
	// Which form comes first is drawn from the seed.
	Order int `json:"order,omitempty"`
	// RampNS is how long the clients were asked to take to arrive, before the
	// warm-up; left out: as long as their number called for.
	RampNS time.Duration `json:"ramp_ns,omitempty"`
	// RampTookNS is how long they took; left out: they arrived at once.
	RampTookNS time.Duration `json:"ramp_took_ns,omitempty"`

	DurationNS     time.Duration `json:"duration_ns"` // of the measured window
	Rounds         int64         `json:"rounds"`      // that ended in it
	ThroughputPerS float64       `json:"throughput_per_s"`

	Latency  map[string]Latency `json:"latency"` // by phase, in the recipe's own words
	Phases   []string           `json:"phases"`  // the keys of Latency in the recipe's order
	Herd     Herd               `json:"herd"`
	Cost     Cost               `json:"cost"`
	Fanout   *Fanout            `json:"fanout,omitempty"` // of a fan-out only
	Fairness *Fairness          `json:"fairness,omitempty"`
	Storm    *Storm             `json:"storm,omitempty"` // of storms of sessions only
	// Reconnects has the attempts to come back after outages; left out without outages, and where several
	// processes shared the clients.
	Reconnects *Reconnects `json:"reconnects,omitempty"`
	Little     *Little     `json:"littles_law,omitempty"` // of a closed loop in which rounds ended
	Safety     Safety      `json:"safety"`
	Generator  Generator   `json:"generator"`
	// Agents are the processes that shared the clients; left out where one process had all of them.
	Agents []Agent `json:"agents,omitempty"`
	// Server is the server's own account of the window, others' doings
	// included; left out where it keeps none, or a server began to count anew.
	Server    *Server          `json:"server,omitempty"`
	Sessions  Sessions         `json:"sessions"` // what happened to those of the clients, in the window
	Errors    map[string]int64 `json:"errors"`   // how often in the window, by the error's text
	Warnings  []Warning        `json:"warnings"`
	Doubts    []Warning        `json:"doubts"` // those of the warnings for which figures prove nothing
	Intervals []Interval       `json:"intervals"`
	// Faults are the injected faults and their effects; left out without faults.
	Faults *Breakage `json:"faults,omitempty"`
}

// Sessions says what happened to the sessions of the clients, apart from what a storm of sessions did to them.
type Sessions struct {
	Disconnected   int64 `json:"disconnected"`   // clients that had no connection at some time
	Disconnections int64 `json:"disconnections"` // how often they were, in all
	Lost           int64 `json:"lost"`           // sessions that the service ended
	// GivenUp were disconnected for their time-out and ended by their clients; the service may have kept them.
	GivenUp int64 `json:"given_up"`
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
	Reads      string `json:"reads"`             // "local", "sync", "linearizable", "serializable"
	Started    string `json:"started"`           // "own process", "3 own processes", "3 own processes behind proxies", "in process", "" for a given address
	Servers    int    `json:"servers,omitempty"` // over how many the sessions are spread
	// Members are the addresses of the servers, with commas between them, where the URL has a name that stands for several.
	Members string `json:"members,omitempty"`
	// SessionsOn names the servers on which sessions are opened: "leader" or "followers"; left out for all in
	// turn.
	SessionsOn string `json:"sessions_on,omitempty"`
	TLS        bool   `json:"tls,omitempty"` // sessions are encrypted
}

// Address returns the URL without its parameters, which are among the run's conditions.
func (b Backend) Address() string {
	address, _, _ := strings.Cut(b.URL, "?")
	return address
}

// SameService reports whether two runs were done on the same service. The forms of one run may use
// different clients: one that a client library ships uses that library. The addresses of a name may change.
func (b Backend) SameService(other Backend) bool {
	b.Client, b.Members = other.Client, other.Members
	return b == other
}

// A Latency is one phase: service time counts from the call, response time from
// when it was due.
type Latency struct {
	Count    int64         `json:"count"`
	Service  *Distribution `json:"service_ns,omitempty"`
	Response *Distribution `json:"response_ns,omitempty"`
	// ErrorNS is how far each time can be wrong, where times begin with one agent and end with another,
	// which have clocks of their own. Percentiles below twice the error are null. It is left out where
	// one process measured.
	ErrorNS time.Duration `json:"error_ns,omitempty"`
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
	// Lost is how many arrivals of an open loop have no time, because no client served them to the end. They
	// count as infinitely late in the percentiles, which are null if they are among these. The other fields
	// are those of the arrivals that have a time.
	Lost int64 `json:"lost,omitempty"`
	// HDR is the whole histogram in the base64 V2 compressed encoding that
	// HdrHistogram tools read.
	HDR string `json:"hdr"`
	// Others has further percentiles that are known without a histogram: medians over the runs
	// of a sweep's level.
	Others map[float64]int64 `json:"-"`
}

// Herd counts the clients that each write woke.
type Herd struct {
	Triggers      int64         `json:"triggers"` // writes that woke at least one client
	Foreign       int64         `json:"foreign"`  // those made outside this process
	Notifications int64         `json:"notifications"`
	Fanout        *Distribution `json:"fanout,omitempty"`   // sessions notified per trigger
	Drain         *Distribution `json:"drain_ns,omitempty"` // first to last notification of a trigger
	Useful        int64         `json:"useful"`             // after which a client proceeded
	Wasted        int64         `json:"wasted"`             // after which the client waited again
	Leftover      int64         `json:"leftover"`           // watches armed and not fired at the end
	// Timeline is what happened around the triggers; left out where no trigger
	// was long enough before the window's end.
	Timeline *Timeline `json:"timeline,omitempty"`
}

// A Timeline is what happened on the wire before and after a trigger, in bins of
// time, the mean over the triggers. Zero is when the first client that the
// trigger woke was notified. Where triggers come denser than the line is long, lines
// overlap, and what happens counts for each trigger that it is so near to.
type Timeline struct {
	BinNS    time.Duration `json:"bin_ns"`   // the width of a bin
	FromNS   time.Duration `json:"from_ns"`  // where the first bin begins, below zero
	Triggers int64         `json:"triggers"` // the number that this is the mean of: those whose line ended within the window
	// By bin. Operations count when they are asked for.
	Notifications []float64 `json:"notifications"`
	Reads         []float64 `json:"reads"`
	Writes        []float64 `json:"writes"`
}

// Fanout describes the notifications of the watchers of a node that is set repeatedly.
type Fanout struct {
	Watchers int `json:"watchers"` // of each node
	// Writes counts the writes whose notifications are complete: every watcher was notified,
	// or never will be. The other fields describe these writes.
	Writes        int64 `json:"writes"`
	Notifications int64 `json:"notifications"`
	// Missed counts the changes that a watcher was not notified of: they came between a
	// notification and the next watch, or while its session was disturbed.
	Missed int64 `json:"missed"`
	// Behind is the largest number of writes of which the slowest watcher had yet to learn.
	Behind  int64   `json:"behind"`
	FromAck FromAck `json:"from_ack_ns"`
}

// FromAck is when notifications came, after the write's acknowledgement: less than
// zero is before it.
type FromAck struct {
	First  *Signed `json:"first,omitempty"`  // of each write
	Median *Signed `json:"median,omitempty"` // the notification with which half of the notified watchers were reached
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

// Times returns the latency of the phase: the response time, from when the work was due, if it was
// measured, otherwise the service time.
func (r Run) Times(phase string) *Distribution {
	l := r.Latency[phase]
	if l.Response == nil {
		return l.Service
	}
	return l.Response
}

// ServiceTimes returns the service time of the phase.
func (r Run) ServiceTimes(phase string) *Distribution { return r.Latency[phase].Service }

func (r Run) IsOpen() bool { return r.Open != nil }

// LostService reports whether the run ended since its service was gone.
func (r Run) LostService() bool {
	return slices.ContainsFunc(r.Doubts, func(w Warning) bool { return w.Code == metrics.ServiceLost })
}

// KeyPhase returns the phase by which a run is judged, in tables, findings and comparisons: the one
// that a herd or a slow service slows down most, otherwise the first phase.
func KeyPhase(phases []string) string {
	for _, key := range []string{"handoff", "failover", "converge", "pass", "enter", "decide", "read", "back", "last"} {
		if slices.Contains(phases, key) {
			return key
		}
	}
	if len(phases) == 0 {
		return ""
	}
	return phases[0]
}

// FirstPhase returns the phase in which a client's work begins, "" if the run has none.
func FirstPhase(r Run) string {
	if len(r.Phases) == 0 {
		return ""
	}
	return r.Phases[0]
}

// Cost counts what crossed the wire in the window.
type Cost struct {
	Totals
	Heartbeats     int64     `json:"heartbeats"`       // of sessions, and renewals of etcd's leases
	ReadWriteRatio *float64  `json:"read_write_ratio"` // null without writes
	PerRound       *PerRound `json:"per_round"`        // null without rounds
	// Whole are the same counts over all rounds of the run from first to last,
	// warm-up included: identities hold for whole rounds only.
	Whole       Totals `json:"whole"`
	WholeRounds int64  `json:"whole_rounds"`
	// Upkeep has the requests by which the run itself made the nodes of rounds and removed them, in the window. The
	// counts above are of clients only; servers count both. Left out if there was none.
	Upkeep *Upkeep `json:"upkeep,omitempty"`
	// Expected is what the cost model predicts for any schedule; null if the form
	// has no model or the run was disturbed. For the cost of a form at rest see
	// CountReport.
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

// Upkeep counts requests.
type Upkeep struct {
	Reads  int64 `json:"reads"`
	Writes int64 `json:"writes"`
}

// Expected has the identities that must hold for Whole.
type Expected struct {
	Identities []Identity `json:"identities"`
	// NotificationsPerRound is what a round costs at rest with all clients there;
	// left out where the model does not determine it.
	NotificationsPerRound *float64 `json:"notifications_per_round,omitempty"`
	// Invalid is the code of the warning that says why the identities prove nothing; Identities is empty then.
	Invalid string `json:"invalid,omitempty"`
}

// An Identity is something that holds of a form's counts under any schedule.
type Identity struct {
	Formula string `json:"formula"`
	Left    int64  `json:"left"`
	Right   int64  `json:"right"`
	Holds   bool   `json:"holds"`
	// Fixes is the figure whose value the identity fixes, whatever the schedule; left out if the
	// identity only relates counts.
	Fixes string `json:"fixes,omitempty"`
}

// Beyond is how many observations must lie beyond a percentile for it to be known.
const Beyond = metrics.Beyond

// Percentile returns a percentile, given as a number from 0 to 100. It returns false if the percentile is not
// known: there are too few observations, or none.
func (d *Distribution) Percentile(percentile float64) (value int64, known bool) {
	if d == nil {
		return 0, false
	}
	written, ok := map[float64]*int64{50: d.P50, 90: d.P90, 99: d.P99, 99.9: d.P999}[percentile]
	switch {
	case ok && written == nil:
		return 0, false
	case ok:
		return *written, true
	}
	if v, ok := d.Others[percentile]; ok {
		return v, true
	}
	return d.WithLost(percentile, d.Lost)
}

// WithLost returns the percentile if another number of arrivals had been lost. It returns false if the histogram is
// not kept: a baseline and the medians of a sweep have none.
func (d *Distribution) WithLost(percentile float64, lost int64) (value int64, known bool) {
	if d == nil {
		return 0, false
	}
	h, err := hdrhistogram.Decode([]byte(d.HDR))
	if err != nil {
		return 0, false
	}
	return metrics.PercentileWith(h, lost, percentile)
}

func P50(d *Distribution) *int64 {
	if d == nil {
		return nil
	}
	return d.P50
}

func P99(d *Distribution) *int64 {
	if d == nil {
		return nil
	}
	return d.P99
}

// A Reference has published figures of the same procedure, to compare with those of
// a file.
type Reference struct {
	Source string `json:"source"`
	// Figure names the quantity: "seconds" of a run, "rounds/s", or of a mix
	// "creates/s".
	Figure string `json:"figure"`
	// Across names what differs between columns: "clients", or "scenarios".
	Across  string         `json:"across"`
	Columns []string       `json:"columns"` // numbers of clients, or names of scenarios
	Rows    []ReferenceRow `json:"rows"`
	// Differs lists, a line each, how the procedure or the machines differ.
	Differs []string `json:"differs"`
}

// A ReferenceRow is one figure for each column.
type ReferenceRow struct {
	Label   string    `json:"label"` // a scenario's name where its runs belong beside it
	Figures []float64 `json:"figures"`
}

// Figures returns the valid values of a Reference's Figure.
func Figures() []string { return []string{Seconds, RoundsPerS, CreatesPerS} }

// Across returns the valid values of a Reference's Across.
func Across() []string { return []string{AcrossClients, AcrossScenarios} }

// These are the values of a Reference's Figure and Across.
const (
	Seconds         = "seconds"
	RoundsPerS      = "rounds/s"
	CreatesPerS     = "creates/s"
	AcrossClients   = "clients"
	AcrossScenarios = "scenarios"
)
