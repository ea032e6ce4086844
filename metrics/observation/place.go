package observation

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/polling"
)

// A Place is a path pattern, with the form that was recognised there.
type Place struct {
	Path string `json:"path"` // the pattern, of the watched nodes
	Form *Form  `json:"form"` // null if none was recognised

	Sessions int `json:"sessions"`   // that armed watches, the most at the same time
	Askers   int `json:"requesters"` // sessions that sent requests, the most at the same time
	// Followers are those of the sessions that want to know who has the turn and have never tried to get it, where
	// others wait for theirs.
	Followers int   `json:"followers,omitempty"`
	Armed     int64 `json:"watches_armed"` // requests that armed a watch
	Watches   int64 `json:"watches"`       // standing now
	// Most is the number of watches that stood at the same time, at most, and Live of those without the
	// ones that cannot fire, because they were set on sequential nodes that were gone. Both are sums over
	// the place's patterns.
	Most      int64 `json:"most_watches"`
	Live      int64 `json:"most_live_watches"`
	Changes   int64 `json:"changes"`
	FanoutP50 int64 `json:"fanout_p50"` // sessions that a change wakes
	FanoutMax int64 `json:"fanout_max"`

	Notifications int64 `json:"notifications"`
	Unjoined      int64 `json:"unjoined_notifications"` // as of Traffic, of the sessions that the place has notified
	// Useful and Wasted are null where it is not known what the sessions waited for or did.
	Useful *int64 `json:"useful"`
	Wasted *int64 `json:"wasted"`
	// OfOwnChanges are notifications that are neither: a session that races for its turn got them of a change that it made itself.
	OfOwnChanges int64  `json:"notifications_of_own_changes,omitempty"`
	ReadsAfter   int64  `json:"reads_after"`         // between a notification and what the session did next
	LostAfter    int64  `json:"failed_writes_after"` // the races that it lost
	SettledP90   *int64 `json:"settled_p90_ns"`      // from a change to the rest of the last session that it woke
	Requests     int64  `json:"requests"`
	Reads        int64  `json:"reads"`
	Writes       int64  `json:"writes"`
	FailedWrites int64  `json:"failed_writes"`
	PollsSame    int64  `json:"polls_unchanged"` // reads that repeated an earlier one and returned the same
	Polls        int64  `json:"polls"`
	PollEvery    *int64 `json:"poll_interval_p50_ns"` // between a read and the one before that returned the same
	Rounds       Rounds `json:"poll_rounds,omitzero"`
	LatencyP90   *int64 `json:"latency_p90_ns"`
	OfPatterns   int    `json:"patterns"` // path patterns that belong to the place
	// Beyond is how many paths the row "others" has, at most: they have more patterns than are told apart, so that no form is
	// recognised. It is 0 in all other rows.
	Beyond int64 `json:"paths_beyond_patterns,omitempty"`
	// Missed and Unasked are as in Traffic, null if no session was audited while it set a watch.
	Missed *int64 `json:"missed_watches"`
	// Unproven are as in Traffic.
	Unproven int64  `json:"unproven_watches"`
	Unasked  *int64 `json:"unasked_notifications"`
}

// Herd reports whether one change wakes several sessions, of which most wait again or lose.
func (p Place) Herd() bool { return p.Form != nil && p.Form.Herd && p.FanoutMax > 1 }

// Undecided reports whether one change wakes several sessions, maybe a herd: it is not known what they wait for, or
// what they do then.
func (p Place) Undecided() bool {
	return p.FanoutMax > 1 && p.Wasted == nil && !p.Herd()
}

// Watched reports whether a session armed a watch, or was notified.
func (p Place) Watched() bool { return p.Sessions > 0 || p.Notifications > 0 }

// Own reports whether the place is the service's own, and no program writes there: libraries watch
// ZooKeeper's configuration.
func (p Place) Own() bool { return p.Path == "/zookeeper/config" && p.Changes == 0 }

// minRefused is the smallest number of failed writes that are called too many, if they are most: a race for a
// node that some clients make at their start costs little.
const minRefused = 50

// Refused reports whether most writes of the place failed, as of a node that exists or has another version.
func (p Place) Refused() bool { return p.FailedWrites >= minRefused && 2*p.FailedWrites > p.Writes }

// minPolls is the smallest number of reads that are called polling, if they are more than half of
// the requests for a path: a client that reads a node a few times at its start polls nothing.
const minPolls = 10

// Polled reports whether sessions ask the same again and again, by reading it or by writing.
func (p Place) Polled() bool { return p.PolledByReads() || p.PolledByWrites() }

// PolledByReads reports whether sessions read the same again and again.
func (p Place) PolledByReads() bool { return p.PollsSame >= minPolls && p.PollsSame*2 > p.Requests }

// PolledByWrites reports whether sessions create and delete nodes of a line again and again, to see by its list who is first.
func (p Place) PolledByWrites() bool { return p.Rounds.Poll() && p.Rounds.Requests*2 > p.Requests }

// Rounds are the times that a session created a node in a line, listed that without a watch and deleted the node again, as it
// had done the time before, and was told nothing of the line meanwhile.
type Rounds struct {
	Times    int64         `json:"times"`
	Requests int64         `json:"requests"`
	Behind   int64         `json:"behind"`   // times that the list did not show the session's node as the first
	Asked    time.Duration `json:"asked_ns"` // in all, from the request to create the node until the list
	Held     time.Duration `json:"held_ns"`  // in all, from the list until the session deleted its node
}

// Add adds a round.
func (r *Rounds) Add(one polling.Round, behind bool) {
	r.Merge(Rounds{Times: 1, Requests: one.Requests, Asked: one.Asked, Held: one.Held})
	if behind {
		r.Behind++
	}
}

// Merge adds other rounds.
func (r *Rounds) Merge(o Rounds) {
	r.Times, r.Requests, r.Behind = r.Times+o.Times, r.Requests+o.Requests, r.Behind+o.Behind
	r.Asked, r.Held = r.Asked+o.Asked, r.Held+o.Held
}

// Poll reports whether the rounds are a way to ask. A lock that is free is taken and released by the same requests, but who
// takes a lock and is not the first waits: a session that gives up has only asked. Between others, some rounds of a poll
// meet nobody. Who holds its node for longer than it takes to ask may have its turn behind others, as at a semaphore.
func (r Rounds) Poll() bool {
	return r.Behind >= minPolls && 4*r.Behind >= r.Times && r.Held <= 2*r.Asked
}

// Project returns how many sessions a change of the place wakes now and would wake if n clients
// used it, and how long they would take to settle. A herd wakes the same share of the
// sessions; any other form that gives turns wakes as many as now. It returns false for a place
// without a form or without a change.
func (p Place) Project(n int) (now, then int64, settled time.Duration, ok bool) {
	if p.Form == nil || p.Changes == 0 || p.Sessions == 0 || p.FanoutMax == 0 {
		return 0, 0, 0, false
	}
	now, then = p.FanoutMax, p.FanoutMax
	grows := p.Form.Herd || p.Form.WaitFor == News
	if grows && p.Sessions > 1 {
		// A session that holds or has changed the node is not woken by itself.
		own := int64(p.Sessions) - min(p.FanoutMax, int64(p.Sessions))
		then = max(now, int64(n)-own)
	}
	if p.SettledP90 != nil {
		settled = time.Duration(float64(*p.SettledP90) * float64(then) / float64(now))
	}
	return now, then, settled, true
}

// A Form is what was recognised at a place.
type Form struct {
	// Name says it in words, e.g. "lock or election, one node".
	Name string `json:"name"`
	// Forms are the forms of the catalogue with which the traffic agrees. Several mean that their
	// traffic is the same, or that it was in what was observed.
	Forms []string `json:"forms"`
	// Herd reports that changes wake several sessions, of which most wait again or lose. It follows
	// from the counts of the place, whatever the form is.
	Herd bool `json:"herd"`
	// Most is how many sessions a change wakes at most, if that does not depend on the number of clients; 0
	// otherwise.
	Most int64 `json:"most_woken,omitempty"`
	// Instead is the form that would wake fewer, and Wakes how many a change would wake then; ""
	// if there is none.
	Instead string `json:"instead,omitempty"`
	Wakes   int64  `json:"instead_wakes,omitempty"`
	// Evidence says in words what the form was recognised by.
	Evidence string `json:"evidence"`
	// WaitFor is what its sessions wait for: their turn, an item, a meeting, votes, or nothing: they want the
	// news of each change. "" if that is not known.
	WaitFor Want `json:"wait_for"`
}

// A Want is what sessions wait for. It says which notifications are useful to them.
type Want string

// What sessions wait for. In a report of another version of stampede there may be others.
const (
	Unknown Want = ""
	Turn    Want = "turn"    // their turn: useful is the notification that leads to it
	Item    Want = "item"    // consumers for an item, or clients for a node
	Meeting Want = "meeting" // each other, to enter and to leave
	Votes   Want = "votes"   // sites that have voted, for the others' votes
	News    Want = "news"    // nothing: each wants to know of each change
)

// A Pattern is what has been counted of one path pattern until now. Its counts never decrease,
// except Watches.
type Pattern struct {
	Path          string
	Requests      map[string]int64 // by operation, those that were sent
	Notifications int64
	Watches       int64 // standing now
	// Acted, Read and Waited count the notifications by what the session did next: it acted, it read
	// what had changed, or it waited again.
	Acted, Read, Waited int64
	Fanout              metrics.Tally // sessions that each change woke, empty without a change
}
