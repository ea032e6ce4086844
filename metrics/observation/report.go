package observation

import (
	"cmp"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
)

// A Report is what an Analysis has observed so far.
type Report struct {
	Duration time.Duration `json:"duration_ns"` // from the first message to the last
	Traffic  Traffic       `json:"traffic"`
	// Places are the recognised forms and all other path patterns, those whose changes wake most sessions
	// first, and those that nobody watches by their requests.
	Places []Place `json:"places"`
	// Largest are the writes that woke most sessions, at most ten.
	Largest    []Change         `json:"largest"`
	Events     causality.Events `json:"events"`
	Operations []Operation      `json:"operations"`
	Watchers   []Watcher        `json:"watchers"` // the sessions with most watches, at most ten
	// Standing are the patterns with most armed watches at the end, at most ten.
	Standing []Standing `json:"standing"`
	// Clients are the processes and addresses that have connections, those with most requests first.
	Clients  []client.Row    `json:"clients"`
	Churn    client.Churn    `json:"churn"`
	Rearming client.Rearming `json:"rearming"`
}

// Traffic is the sum over all connections.
type Traffic struct {
	Connections int64 `json:"connections"`
	Joined      int64 `json:"joined"`  // connections that were open before the observation began
	Clients     int   `json:"clients"` // local processes, and addresses whose process is not known
	Sessions    int64 `json:"sessions"`
	// ToldApart are the sessions by what told them apart. A session of ZooKeeper's protocol has a number.
	// Those of etcd are what one client has: see the report's documentation.
	ToldApart client.Counts `json:"sessions_by"`
	Resumed   int64         `json:"resumed"`
	Ended     int64         `json:"ended"` // sessions that were closed
	Lost      int64         `json:"lost"`  // sessions that had no connection for longer than their timeout

	Messages      int64 `json:"messages"`
	Bytes         int64 `json:"bytes"` // of messages, both ways
	Requests      int64 `json:"requests"`
	Reads         int64 `json:"reads"`
	Writes        int64 `json:"writes"`
	FailedWrites  int64 `json:"failed_writes"`
	Notifications int64 `json:"notifications"`
	Rearms        int64 `json:"rearms"` // requests that armed watches again after a reconnect

	Changes       int64 `json:"changes"`        // writes that caused notifications
	FanoutP50     int64 `json:"fanout_p50"`     // sessions that a change woke
	FanoutMax     int64 `json:"fanout_max"`     //
	UnseenWriters int64 `json:"unseen_writers"` // changes whose writer was not observed, e.g. an expiry
	Armed         int64 `json:"watches_armed"`  // requests that armed a watch
	StandingNow   int64 `json:"standing_watches"`
	MostStanding  int64 `json:"most_watches"`             // standing at the same time
	MostLive      int64 `json:"most_live_watches"`        // as of a Place
	MostOfSession int   `json:"most_watches_per_session"` // standing at the same time
	Unfollowed    int64 `json:"unfollowed_watches"`       // beyond the number that is kept
	// Unjoined are notifications by connections that carry nothing else, of clients whose other connections are not
	// known: those of etcd's JSON gateway. What they led to is not known.
	Unjoined int64 `json:"unjoined_notifications"`

	Beyond Beyond `json:"beyond_limits"`

	// Missed and Unasked are known of the audited sessions, those that were seen from their beginning, until
	// traffic of theirs is missing; of a service that tells of a change before any reply shows it, as ZooKeeper does.
	Audited int64 `json:"audited_sessions"`
	// Unjudged are sessions of such a service that watched something while they were not audited.
	Unjudged int64 `json:"unjudged_sessions,omitempty"`
	Missed   int64 `json:"missed_watches"` // that a change has passed without a notification
	// Unproven are watches of audited sessions that stood over a change when their connection or the observation ended,
	// before an answer that shows the change: the notification may have been lost, or on its way.
	Unproven int64 `json:"unproven_watches"`
	Unasked  int64 `json:"unasked_notifications"` // that belong to no watch, as one that comes twice

	// Undecoded is the traffic that was not decoded, by cause. Empty if all was.
	Undecoded []traffic.Undecoded `json:"undecoded"`
}

// Beyond is what was observed beyond the limits of what is kept, besides watches. It is counted, and
// nothing else is known of it.
type Beyond struct {
	Connections int64 `json:"connections"` // their messages are counted
	Sessions    int64 `json:"sessions"`    // their messages are counted
	Nodes       int64 `json:"nodes"`       // ephemeral or sequential nodes whose order is not followed
	Requests    int64 `json:"requests"`    // their latency and the effect of their replies are not known
	Paths       int64 `json:"paths"`       // messages that named too long a path; they are counted
	// Early are changes, writes and notifications that were decided before everything was known of them.
	Early int64 `json:"decided_early"`
}

// Any reports whether anything was beyond the limits.
func (b Beyond) Any() bool { return b != Beyond{} }

// Herds returns the places at which changes wake herds.
func (r Report) Herds() []Place {
	return slices.DeleteFunc(slices.Clone(r.Places), func(p Place) bool { return !p.Herd() })
}

// Undecided returns the places of which it is not known whether changes wake herds.
func (r Report) Undecided() []Place {
	return slices.DeleteFunc(slices.Clone(r.Places), func(p Place) bool { return !p.Undecided() })
}

// An Operation is one kind of request, over all paths.
type Operation struct {
	Name     string `json:"name"`
	Requests int64  `json:"requests"`
	P50      *int64 `json:"p50_ns"` // from the request to its reply, where the source saw both
	P99      *int64 `json:"p99_ns"`
}

// A Watcher is a session with many watches.
type Watcher struct {
	Client        string `json:"client"` // host:port
	Watches       int    `json:"watches"`
	Notifications int64  `json:"notifications"`
}

// Standing are the watches of one path pattern that are armed at the end of the observation.
type Standing struct {
	Path    string        `json:"path"`
	Watches int64         `json:"watches"`
	AgeP50  time.Duration `json:"age_p50_ns"` // since they were armed
	Oldest  time.Duration `json:"oldest_ns"`
}

// Fewer watches than minStanding cost a server little memory, and younger ones than minAge may be
// those of clients that wait for their turn.
const (
	minStanding = 1000
	minAge      = time.Minute
)

// Many reports whether many watches have stood for long.
func (s Standing) Many() bool { return s.Watches >= minStanding && s.AgeP50 >= minAge }

// A Change is one write that woke many.
type Change struct {
	At     time.Time `json:"at"`
	Op     string    `json:"operation"` // "" if another process wrote, or a session expired
	Writer string    `json:"client"`    // its address, "" if it is not known
	// Process is the writer's, null if it is not known.
	Process *client.Process `json:"process"`
	Path    string          `json:"path"` // pattern of the path that changed
	Woke    int64           `json:"woke"` // sessions
	// Notifications that it caused: a session with several watches gets several.
	Notifications int64         `json:"notifications"`
	Waited        int64         `json:"waited_again"`
	Reads         int64         `json:"reads_after"`
	Lost          int64         `json:"failed_writes_after"`
	Settled       time.Duration `json:"settled_ns"`
}

// CompareChanges puts the change that woke most sessions first, and of equal ones the earliest.
func CompareChanges(x, y Change) int {
	return cmp.Or(cmp.Compare(y.Woke, x.Woke), x.At.Compare(y.At), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Writer, y.Writer), cmp.Compare(x.Op, y.Op),
		cmp.Compare(y.Waited, x.Waited), cmp.Compare(y.Reads, x.Reads), cmp.Compare(y.Lost, x.Lost), cmp.Compare(y.Settled, x.Settled))
}
