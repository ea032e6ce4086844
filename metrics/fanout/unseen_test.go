package fanout

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/delivery"
)

// A lost is a service that loses notifications: a writer and an owner of the ephemeral node /d/n, and three watchers of which
// some are told.
type lost struct {
	h             *heard
	m             *Meter
	pos           int64
	positions     bool
	writer, owner *Session
	watchers      []*Session
}

func newLost(positions bool) *lost {
	h := new(heard)
	l := &lost{h: h, m: NewListening(h, func() time.Time { return time.Unix(1, 0) }, 1<<14), pos: 10, positions: positions}
	l.writer, l.owner = l.m.Session(), l.m.Session()
	for range 3 {
		w := l.m.Session()
		w.Audit()
		l.watchers = append(l.watchers, w)
	}
	l.write(l.owner, drivers.Message{Op: drivers.OpCreate, Path: []byte("/d/n"), Mode: drivers.Ephemeral})
	return l
}

func (l *lost) write(s *Session, m drivers.Message) {
	l.pos++
	m.Pos = l.pos
	exchange(s, m)
}

// change is a way in which /d/n is deleted, at the next position. It may be known before the watchers are told, or after. Those
// of which nobody is told have happened in doubt if no request shows them.
type change struct {
	before, after func(l *lost)
	doubtful      bool // no request shows its position
}

func byWriter(m drivers.Message) change {
	say := func(kind drivers.MessageKind) func(l *lost) {
		return func(l *lost) {
			m := m
			if m.Kind = kind; kind == drivers.Reply {
				m.Pos = l.pos
			}
			l.writer.Message(m)
		}
	}
	return change{before: say(drivers.Request), after: say(drivers.Reply)}
}

var changes = map[string]change{
	"by a request": byWriter(drivers.Message{Op: drivers.OpDelete, Path: []byte("/d/n")}),
	"in a transaction": byWriter(drivers.Message{Op: drivers.OpMulti, Parts: []drivers.TxnOp{
		{Op: drivers.OpSet, Path: []byte("/e")}, {Op: drivers.OpDelete, Path: []byte("/d/n")}}}),
	"by another process": {doubtful: true},
	"by the close of its session": {
		before: func(l *lost) { l.owner.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpClose}) },
		after:  func(l *lost) { l.owner.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpClose, Pos: l.pos}) },
	},
	"by a close without an answer": {
		before: func(l *lost) { l.owner.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpClose}) },
		after:  func(l *lost) { l.owner.Message(drivers.Message{Kind: drivers.Cut}) }, doubtful: true,
	},
	"by the expiry of its session": {
		before: func(l *lost) { l.owner.Message(drivers.Message{Kind: drivers.Cut}) },
		after:  func(l *lost) { l.owner.End() }, doubtful: true,
	},
	"by an expiry that its owner learns of": {
		before: func(l *lost) { l.owner.Message(drivers.Message{Kind: drivers.Cut}) },
		after: func(l *lost) {
			l.owner.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen})
			l.owner.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen, Err: drivers.ErrSessionLost})
		}, doubtful: true,
	},
	"by an expiry that is noticed first": {
		before: func(l *lost) { l.owner.Message(drivers.Message{Kind: drivers.Cut}); l.owner.End() }, doubtful: true,
	},
}

// watches are the ways to watch /d/n, and what such a watch is told of its deletion.
var watches = map[string]struct {
	op    drivers.Op
	path  string
	told  string
	event drivers.EventType
}{
	"exists":              {drivers.OpExists, "/d/n", "/d/n", drivers.Deleted},
	"get":                 {drivers.OpGet, "/d/n", "/d/n", drivers.Deleted},
	"children":            {drivers.OpChildren, "/d/n", "/d/n", drivers.Deleted},
	"the list":            {drivers.OpChildren, "/d", "/d", drivers.ChildrenChanged},
	"persistent":          {drivers.OpWatchNode, "/d/n", "/d/n", drivers.Deleted},
	"the list, for good":  {drivers.OpWatchNode, "/d", "/d", drivers.ChildrenChanged},
	"recursive":           {drivers.OpWatchTree, "/d/n", "/d/n", drivers.Deleted},
	"recursive, on above": {drivers.OpWatchTree, "/d", "/d/n", drivers.Deleted},
}

// TestEachLostNotificationIsMissedOrInDoubt deletes a node in each way, before each kind of watch, and loses the notifications of
// none, of some, and of all watchers. Then the watchers close. Who was not told is missed, or in doubt where nothing shows when
// the node was deleted; who was told is neither.
func TestEachLostNotificationIsMissedOrInDoubt(t *testing.T) {
	for way, c := range changes {
		for kind, w := range watches {
			for _, positions := range []bool{true, false} {
				for told := range 4 {
					l := newLost(positions)
					for _, s := range l.watchers {
						exchange(s, drivers.Message{Op: w.op, Path: []byte(w.path), Watch: true, Pos: l.pos})
					}
					l.pos++
					if c.before != nil {
						c.before(l)
					}
					for _, s := range l.watchers[:told] {
						m := drivers.Message{Kind: drivers.Notification, Path: []byte(w.told), Event: w.event}
						if positions {
							m.Pos = l.pos
						}
						s.Message(m)
						if !w.op.IsWatch() && w.path == "/d" { // it lists again
							exchange(s, drivers.Message{Op: w.op, Path: []byte(w.path), Watch: true, Pos: l.pos})
						}
					}
					if c.after != nil {
						c.after(l)
					}
					for _, s := range l.watchers {
						s.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpPing, Pos: l.pos})
					}
					for _, s := range l.watchers {
						s.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpClose})
						s.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpClose, Pos: l.pos + 1})
					}
					l.check(t, fmt.Sprintf("%s, %s, positions %v, %d told", way, kind, positions, told), c, told)
				}
			}
		}
	}
}

func (l *lost) check(t *testing.T, name string, c change, told int) {
	missed, doubts := 0, 0
	for i, s := range l.watchers {
		of := slices.DeleteFunc(slices.Clone(l.h.missed), func(v delivery.Violation) bool { return v.Session != s.delivery })
		want := 1
		if i < told || told == 0 && c.before == nil { // nothing shows what another process has done
			want = 0
		}
		if len(of) != want {
			t.Errorf("%s: watcher %d: %v", name, i, of)
		}
		for _, v := range of {
			if v.Kind == delivery.Undecided {
				doubts++
			} else {
				missed++
			}
		}
	}
	shown := !c.doubtful || told > 0 // by another watcher's notification
	if shown && doubts > 0 || !shown && missed > 0 || len(l.h.unasked) > 0 {
		t.Errorf("%s: %d missed, %d in doubt, unasked %q", name, missed, doubts, l.h.unasked)
	}
}
