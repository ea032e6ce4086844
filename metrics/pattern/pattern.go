package pattern

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// A Pattern is what is counted of the paths of one pattern.
type Pattern struct {
	Name   string
	Parent *Pattern // of the node above, nil for the root's
	number int      // 0 for the others
	tree   *Pattern // the nearest node above it with a recursive watch, nil without one; known of a report
	Places int64    // paths that messages named; one may be counted again after a long time
	Lined  bool     // a line is below a node of it
	Ops    [drivers.OpFlush + 1]Counts
	Modes  [4]int64 // creates, by mode

	Events   [drivers.Rearmed + 1]int64
	Watchers client.Set
	Takers   client.Set // sessions that deleted what another had written last
	Lone     client.Set // sessions that were notified by connections that carry nothing else
	Watches  Level      // that are armed
	Live     Level      // those of them that can fire
	Audited  bool       // it is known whether watches were missed
	Undelivered

	roles map[*client.Session]*Role
	raced []*Pattern // of a node with a recursive watch: those below it for which sessions race; known of a report
	// races are what sessions raced for after notifications here, and unclear those after which they may have. prompted and
	// unprompted are tries to win a node of this pattern, after a notification and without.
	races                map[*Pattern]*race
	beside               int64 // races lost by sessions that may be of the clients that were notified here
	unclear              int64
	prompted, unprompted int64

	effects []*Effect                  // of changes that woke sessions at it
	Woken   [standings][outcomes]int64 // notifications
	Further [standings][outcomes]int64 // those of them by a lasting watch that had fired before, without the last of several at once

	Unchanged int64                   // repeated reads that are known to have returned the same
	Interval  metrics.CoarseHistogram // between such a read and the one before

	Ahead     Ahead
	KeptLists int64 // of a queue: items taken without a new list

	Revoked                                     int64      // ephemeral nodes that ended with a lease that their owner revoked
	Leavers                                     client.Set // owners that did so
	DeletedFirst, DeletedLater, DeletedByOthers int64
	Rounds                                      observation.Rounds // in which sessions asked by writing
	Left                                        Left
	LeftByAge, LeftByName                       Ends // nodes that stood in no line, and that their owners ended
}

// Ends counts nodes that ended by their place among those below the same node, in one order: in the first half of them or in the last.
type Ends struct{ First, Last int64 }

// Add counts the node at the index of so many. One by itself, and the one in the middle, is in neither half.
func (e *Ends) Add(i, of int) {
	switch before, after := i, of-1-i; {
	case before < after:
		e.First++
	case before > after:
		e.Last++
	}
}

// add adds other counts.
func (e *Ends) add(o Ends) { e.First, e.Last = e.First+o.First, e.Last+o.Last }

// mixed reports whether nodes ended in no order: those of each half did.
func (e Ends) mixed() bool { return outOfTurn*min(e.First, e.Last) > max(e.First, e.Last) }

// outOfTurn is for how many sessions that leave in their turn one may leave out of it, where they take turns: it gives up.
const outOfTurn = 9

// Undelivered counts watches that a change has passed without a notification, those that stood over one at the end,
// and notifications that belong to no watch.
type Undelivered struct{ Missed, Unproven, Unasked int64 }

// Left counts the nodes of a line that their owners asked to delete.
type Left struct {
	First   int64 // their lists had shown them as the first
	Behind  int64 // they had not, and their owners waited no more
	Waiting int64 // they had not, and their owners waited still
	Free    int64 // of all, those whose owners had not watched the line since their last list
}

// Ahead counts the watches on a child of a line by the place of the watched child, seen from the
// watching session's own child.
type Ahead struct {
	Next    int64 // right ahead, and not the lowest
	Only    int64 // right ahead and the lowest
	Lowest  int64 // the lowest, and not right ahead
	Other   int64
	Behind  int64
	Own     int64
	None    int64 // the session has no child in the line
	Missing int64 // the child was not there
}

// Counts are of one operation.
type Counts struct {
	Requests, Failed, Watched int64
	Lost                      int64 // creates of a node that another had created
	By                        client.Set
	Repeats                   int64      // reads without a watch that repeat the session's last one, though nothing was notified
	Again                     client.Set // those that repeated one
	Looped                    bool       // one of them did so more than once
	Fired, Spent              int64      // lasting watches that have fired, and those of them that the session then gave up
	Latency                   metrics.CoarseHistogram
}

// MaxSessions is how many different sessions are distinguished for one pattern and operation.
const MaxSessions = 4096

// AddTo adds a session to a set, unless that has many.
func AddTo(s *client.Set, one *client.Session) {
	if len(*s) < MaxSessions {
		s.Add(one)
	}
}

// An Outcome is what a session did after a notification.
type Outcome int

// The outcomes.
const (
	Acted  Outcome = iota // wrote, or had its turn, or asked for nothing more
	Waited                // asked again and waited again
	Read                  // read what had changed, and watches on
	Unread                // went on without it: it was waiting for something else, or for nothing
	outcomes
)

// A Standing is the session's own place where it is notified.
type Standing int

// The standings.
const (
	Waiting Standing = iota // it has a node in the line, or there is no line
	Turned                  // it has its turn: the lock, the lead
	Inside                  // it has set the line's node, and waits for nothing
	Outside                 // it has no node in the line
	Voted                   // it has set a sibling of the node that changed
	Leaving                 // it gives its node up, or has
	Apart                   // it takes no part in a line or a vote: see Role
	standings
)

// A Level is a number that rises and falls.
type Level struct{ Now, Most int64 }

// Add adds to the number, or takes from it.
func (l *Level) Add(n int64) {
	l.Now += n
	l.Most = max(l.Most, l.Now)
}

// named reports whether a request or a notification named a path of the pattern.
func (p *Pattern) named() bool {
	return p.notifications() > 0 || slices.ContainsFunc(p.Ops[:], func(o Counts) bool { return o.Requests > 0 })
}

func (p *Pattern) notifications() (n int64) {
	for _, e := range p.Events {
		n += e
	}
	return n
}

func (p *Pattern) soFar() observation.Pattern {
	now := observation.Pattern{Path: p.Name, Requests: map[string]int64{}, Notifications: p.notifications(), Watches: p.Watches.Now}
	for op, counts := range p.Ops {
		if counts.Requests > 0 {
			now.Requests[drivers.Op(op).String()] += counts.Requests
		}
	}
	for _, of := range p.Woken {
		now.Acted, now.Read, now.Waited = now.Acted+of[Acted], now.Read+of[Read], now.Waited+of[Waited]
	}
	now.Fanout = fanoutOf(p)
	return now
}
