package recovery

import (
	"fmt"
	"slices"
	"time"
)

// A Kind is what a fault does to a session.
type Kind string

// The kinds of faults.
const (
	Expired      Kind = "expired"      // the service ended it
	Disconnected Kind = "disconnected" // its connection broke or went silent
	LostReply    Kind = "lost-reply"   // a request was executed and its reply lost
	ServerFailed Kind = "server"       // a server failed or the leader changed
	Delayed      Kind = "delayed"      // its messages were held or slowed down: nothing ended

	// Watches of etcd ended, and the connection went on.
	WatchCanceled  Kind = "watch-canceled"  // by the service
	WatchCompacted Kind = "watch-compacted" // by the service, since the revisions before the current one are compacted
	StreamBroken   Kind = "stream-broken"   // with the stream that they were on
)

// endsWatches reports whether the fault ends watches and nothing else.
func (k Kind) endsWatches() bool {
	return k == WatchCanceled || k == WatchCompacted || k == StreamBroken
}

// A Fault is one step of a fault that was done.
type Fault struct {
	At    time.Time `json:"at"`             // when it began
	Until time.Time `json:"until,omitzero"` // when it was undone; absent if it is over at once
	What  string    `json:"what"`           // for people: "expire clients=all"
	Kind  Kind      `json:"kind"`
	// Sessions are the numbers of the sessions that it hit, and Clients the addresses, host:port, of the client's
	// connections that it hit, for services whose sessions have no number. Both nil: all that were connected.
	Sessions []int64  `json:"sessions"`
	Clients  []string `json:"clients"`
	// Watches are the keys and prefixes whose watches it ended, of all clients; null if it is of another kind or ended none.
	Watches []string `json:"watches"`
}

// end returns when the client could begin to recover.
func (f Fault) end() time.Time {
	if f.Until.After(f.At) {
		return f.Until
	}
	return f.At
}

// precedes reports whether something came after the fault had begun.
func (f Fault) precedes(at time.Time) bool { return !at.Before(f.At) }

// A Verdict says whether what a fault hit has come back.
type Verdict string

// The verdicts.
const (
	Recovers       Verdict = "recovers"         // all is back, nothing was done twice, no change was missed
	RecoversPartly Verdict = "recovers partly"  // some is
	NotRecovered   Verdict = "does not recover" // nothing is back
	NotApplicable  Verdict = "n/a"              // see Reason
)

// A Reason is why there is no verdict.
type Reason string

// The reasons.
const (
	NoFault    Reason = "no fault was injected"
	NothingHit Reason = "the fault hit no session"
	NoWatch    Reason = "the fault hit no gRPC watch, and it ends no others"
	NothingHad Reason = "nothing was registered or watched before the fault"
	Ongoing    Reason = "the fault was not over"                          // when the observation ended
	TooSoon    Reason = "the next fault came before everything was back"  // within a time-out; the next one is judged by that, too
	Ended      Reason = "the program ended before it had everything back" // with all its sessions closed in order, within a time-out of the fault
	Incomplete Reason = "part of the traffic was not decoded"
	Beyond     Reason = "more was observed than is kept" // or the fault was reported too late
)

// A Report says how a program recovered from the faults.
type Report struct {
	// Verdict is that of all outcomes that have one: recovers if all do, does not recover if none does even partly.
	Verdict  Verdict   `json:"verdict"`
	Reason   Reason    `json:"reason"`   // "" with a verdict
	Outcomes []Outcome `json:"outcomes"` // one for each fault, by the times of their beginnings
	// Unprobed are the changes that should have been made to see who notices them, and could not be.
	Unprobed int64 `json:"probes_not_made"`
	// Undone are the faults that did not happen before the observation ended, each strike of one that repeats.
	Undone int64 `json:"faults_not_made"`
}

// An Outcome is how a program recovered from one fault.
type Outcome struct {
	Fault   Fault   `json:"fault"`
	Verdict Verdict `json:"verdict"` // of all sessions that have one, as in a Report
	Reason  Reason  `json:"reason"`  // "" with a verdict
	// Observed is how long was observed from the end of the fault: until later faults had hit all of the clients, or until
	// the end of the observation.
	Observed time.Duration `json:"observed_ns"`

	// Sessions are those that the fault hit. Each is in one of the counts that follow it.
	Sessions  int64 `json:"sessions"`
	Recovered int64 `json:"recovered"`
	Partly    int64 `json:"recovered_partly"`
	Not       int64 `json:"not_recovered"`
	Unjudged  int64 `json:"unjudged"` // those without a verdict

	// The fates of the judged sessions, which add up to those.
	Kept     int64 `json:"kept"`
	Resumed  int64 `json:"resumed"`
	Replaced int64 `json:"replaced"`
	Gone     int64 `json:"gone"`

	Closed int64 `json:"closed"` // of Unjudged, those that the program closed itself

	// What follows, up to Watching but for Refused and Resuming, is of the sessions with a verdict.

	GaveUp  int64 `json:"gave_up"` // sessions
	Refused int64 `json:"refused"` // attempts to resume a session that had ended

	Nodes    Things `json:"nodes"` // ephemeral nodes
	Watches  Things `json:"watches"`
	Repeated int64  `json:"writes_done_twice"` // see Write
	// Changes are those that other clients made on what a session had watched, from the fault until it watched again.
	// Missed are those that the session was not notified of and did not read afterwards.
	Changes int64 `json:"changes_in_gap"`
	Missed  int64 `json:"changes_missed"`
	// FromRevision counts the sessions that lost watches of etcd and have all of them back from a revision that the client
	// named. The others watch from the current one on.
	FromRevision int64 `json:"watching_from_revision"`
	// Probe is the change that was made after the fault to see who notices it; it is one of Changes for each session that
	// had watched the node. Null if none was made.
	Probe *Probed `json:"probe"`

	Resuming   Times `json:"resumed_within"`   // of the sessions that were resumed
	Registered Times `json:"registered_again"` // of the sessions that lost nodes, until they had all of them back
	Watching   Times `json:"watching_again"`   // of the sessions that lost watches, until they had all of them back

	Reconnects Peak `json:"reconnects"` // new connections
	Rearmed    Peak `json:"rearmed"`    // watches that were armed, each by a request or all by a packet that sets them again
	Retries    Peak `json:"retries"`    // requests like one that had failed or was not answered, and refused attempts
	// InStep says that clients retry at the same times. It is null if they do not, or if their retries are too few to
	// tell.
	InStep *Step `json:"in_step"`

	Rows []Session `json:"rows"` // of the sessions, those that did not recover first; at most 100
}

// Judged is how many sessions have a verdict. All counts of what came back, or did not, are of these.
func (o Outcome) Judged() int64 { return o.Recovered + o.Partly + o.Not }

// A Fate is what became of a session.
type Fate string

// The fates.
const (
	Kept     Fate = "kept"     // its connection outlived the fault
	Resumed  Fate = "resumed"  // by a new connection
	Replaced Fate = "replaced" // by a session that the same client opened; of etcd, its lease by another one
	Closed   Fate = "closed"   // by the program itself, before it had everything back
	Gone     Fate = "gone"     // none of these
)

// A Session is how one session that a fault hit has recovered.
type Session struct {
	ID      int64   `json:"id"`      // 0 if it has no number
	Process string  `json:"process"` // name of the program, "" if it is not known
	PID     int     `json:"pid"`     // 0 if it is not known
	Client  string  `json:"client"`  // host:port of the connection that it had last before the fault
	Fate    Fate    `json:"fate"`
	By      int64   `json:"replaced_by"` // number of the session that replaces it, 0 if there is none or it has no number
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason"` // "" with a verdict
	// GaveUp says that the client was not connected at the end, and had not tried for longer than the session's
	// time-out and than four times its longest pause before.
	GaveUp bool `json:"gave_up"`
	// Refused are the attempts of the client to resume sessions that had ended. A session that is gone and was refused
	// was not replaced by a new one.
	Refused int64 `json:"refused"`

	Nodes     Things        `json:"nodes"`
	Watches   Things        `json:"watches"`
	Resume    time.Duration `json:"resumed_ns"`          // until a connection had resumed it, see Times; 0 if none did
	Register  time.Duration `json:"registered_again_ns"` // until the last node that is back was; 0 if none was lost
	Watch     time.Duration `json:"watching_again_ns"`   // until the last watch that is back was; 0 if none was lost
	Revision  int64         `json:"watching_from"`       // the first revision that a watch named that is back, 0 if one named none
	Changes   int64         `json:"changes_in_gap"`      // see Outcome
	Missed    int64         `json:"changes_missed"`
	Probe     *Noticed      `json:"probe"`    // null without one, if the session had not watched the node, or if it is not known
	Lived     time.Duration `json:"lived_ns"` // from the end of the fault until the program closed it; 0 if it did not
	DoneTwice []Write       `json:"writes_done_twice"`
}

// wrong reports whether the session, or its client, has done what no later time makes good.
func (s Session) wrong() bool { return s.Nodes.Duplicated > 0 || s.Missed > 0 || len(s.DoneTwice) > 0 }

// Things are nodes or watches that sessions had when the fault began.
type Things struct {
	Had  int64 `json:"had"`
	Back int64 `json:"back"`
	// Elsewhere are those of Back that another session has than the one that replaces it: one of the same client, or,
	// of a node with the very same name, that of any client.
	Elsewhere int64 `json:"back_elsewhere"`
	// Duplicated are the nodes that the session, or the one that replaces it, has had for a second or at the end in
	// addition to as many as it ever had before, of names that the service or the client numbers. 0 for watches.
	Duplicated int64 `json:"duplicated"`
	// Late are those of Had that were not back when a later fault hit the client, and that it had at the end.
	Late int64 `json:"back_late"`
	// Missing are the names of those that are not back, at most ten, by name. In a Session each is the name of one
	// node or path, in an Outcome a pattern.
	Missing []Missing `json:"missing"`
}

// A Missing is what is not back.
type Missing struct {
	Path  string `json:"path"`
	Watch string `json:"watch"` // kind of the watch: "data", "exists", "children", "persistent" or "recursive"; "" for a node
	Times int64  `json:"times"` // sessions that miss it; 1 in a Session
	// Partly says that the session had several such watches on the path, and some of them are back.
	Partly bool `json:"partly"`

	fold string // pattern of the path
}

// A Probed is how the sessions that a fault hit noticed a change that was made after it.
type Probed struct {
	At   time.Time `json:"at"`
	Path string    `json:"path"`
	// Noticed are the sessions that had watched the node before the fault and were notified of the change or read the
	// new value afterwards, they or those that replace them. Missed are the others that had watched it.
	Noticed int64 `json:"noticed"`
	Missed  int64 `json:"missed"`
	Within  Times `json:"noticed_within"` // from the change
}

// A Noticed says whether a session has noticed such a change, and how long after it.
type Noticed struct {
	Noticed bool          `json:"noticed"`
	After   time.Duration `json:"after_ns"` // 0 if it has not
}

// Times are how long several sessions took. The time of a session starts when it loses what comes back later: when its
// connection breaks, or, where the fault ends a lease or a watch and no connection, when the fault begins. A percentile
// that falls on a session that did not come back is a lower bound: see AtLeast.
type Times struct {
	Sessions int64         `json:"sessions"`   // that came back
	NotBack  int64         `json:"not_back"`   // sessions that did not
	Longest  time.Duration `json:"longest_ns"` // of those that came back
	P50      time.Duration `json:"p50_ns"`
	P99      time.Duration `json:"p99_ns"`
	Max      time.Duration `json:"max_ns"`
}

// A Write is one that was made again after its reply was lost, although it had been executed.
type Write struct {
	Op    string        `json:"operation"`
	Path  string        `json:"path"`     // as the first one named it
	After time.Duration `json:"after_ns"` // from the first request to the second
}

// A Peak compares a rate after a fault with that before the first fault.
type Peak struct {
	Total  int64 `json:"total"`      // from the beginning of the fault until the next one
	Second int64 `json:"busiest_1s"` // in the busiest second, which begins at a tenth of one
	Tenth  int64 `json:"busiest_100ms"`
	// Steady is the mean rate before the first fault, per second. It is null if nothing was observed before it.
	Steady *float64 `json:"steady_per_s"`
}

// A Step says that clients retry in step.
type Step struct {
	Of      string        `json:"of"`        // "connections" or "requests"
	Clients int64         `json:"clients"`   // that take part in a round, the median
	Period  time.Duration `json:"period_ns"` // between two rounds, the median
	Longest time.Duration `json:"longest_pause_ns"`
	Rounds  int64         `json:"rounds"`
}

// FaultNames returns what to call the fault of each outcome, with a number where one came several times.
func (r Report) FaultNames() (all []string) {
	total, n := map[string]int{}, map[string]int{}
	for _, o := range r.Outcomes {
		total[o.Fault.What]++
	}
	for _, o := range r.Outcomes {
		name := o.Fault.What
		if n[name]++; total[name] > 1 {
			name += fmt.Sprintf(" #%d", n[name])
		}
		all = append(all, name)
	}
	return all
}

// Doubtful reports whether an outcome has no verdict because not all was seen or kept: then no sum over all is known.
func (r Report) Doubtful() bool {
	return slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Reason == Incomplete || o.Reason == Beyond })
}

// Unwatched returns the path of the changes that were made to see who notices them, if no session that a fault hit had
// watched it, and else "".
func (r Report) Unwatched() string {
	path := ""
	for _, o := range r.Outcomes {
		switch p := o.Probe; {
		case p == nil:
		case p.Noticed+p.Missed > 0, slices.ContainsFunc(o.Rows, func(s Session) bool { return s.Probe != nil }), o.unsure():
			return ""
		default:
			path = p.Path
		}
	}
	return path
}

// unsure reports whether it is not known of a session what it has noticed.
func (o Outcome) unsure() bool {
	return slices.ContainsFunc(o.Rows, func(s Session) bool {
		return s.Reason == Ongoing || s.Reason == TooSoon || s.Reason == Incomplete || s.Reason == Beyond
	})
}

// WhyUnjudged is the most frequent reason why a session has no verdict, "" if all have one.
func (o Outcome) WhyUnjudged() Reason {
	var t tally
	for _, s := range o.Rows {
		if s.Verdict == NotApplicable {
			t.add(s.Verdict, s.Reason)
		}
	}
	_, why := t.verdict("")
	return why
}

// Unfinished reports whether a percentile of the times is a lower bound: too many sessions had not come back when the
// observation ended. A nil Report has none.
func (r *Report) Unfinished(percent int) bool {
	return r != nil && slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Registered.AtLeast(percent) || o.Watching.AtLeast(percent) })
}
