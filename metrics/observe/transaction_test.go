package observe

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// transact sends a transaction and its answer.
func (s script) transact(pos int64, err error, parts ...drivers.TxnOp) {
	m := drivers.Message{Kind: drivers.Request, Op: drivers.OpMulti, Parts: parts}
	s.Message(time.Unix(10, 0), m)
	m.Kind, m.Pos, m.Err = drivers.Reply, pos, err
	for i := range m.Parts {
		m.Parts[i].Err = err
	}
	s.Message(time.Unix(10, 0), m)
}

func part(op drivers.Op, path string) drivers.TxnOp { return drivers.TxnOp{Op: op, Path: []byte(path)} }

// TestTransactionIsCountedAtEachPath checks that the operations of a transaction are counted by
// path pattern, that the transaction is one request, one write and one change, and that a change
// names the path that its operation changed.
func TestTransactionIsCountedAtEachPath(t *testing.T) {
	a := New(DefaultLimits)
	watcher, writer := newScript(a, 1), newScript(a, 2)
	watcher.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/x/value"), Watch: true, Pos: 1})
	watcher.call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/items"), Watch: true, Pos: 1})
	writer.transact(2, nil, part(drivers.OpSet, "/x/value"), part(drivers.OpDelete, "/items/i7"), part(drivers.OpDelete, "/items/i8"))
	writer.transact(2, drivers.ErrNoNode, part(drivers.OpSet, "/x/value"), part(drivers.OpDelete, "/items/i9"))
	watcher.Message(time.Unix(11, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.ChildrenChanged, Path: []byte("/items")})
	watcher.Message(time.Unix(11, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte("/x/value")})
	r := a.Report()
	if c := r.Traffic; c.Requests != 4 || c.Writes != 2 || c.FailedWrites != 1 || c.Changes != 1 || c.FanoutMax != 1 || c.Notifications != 2 {
		t.Errorf("%+v; want 4 requests, 2 writes, 1 of them failed, 1 change that woke 1 session by 2 notifications", c)
	}
	for pattern, want := range map[string]struct {
		op               drivers.Op
		requests, failed int64
	}{"/x/value": {drivers.OpSet, 2, 1}, "/items/i#": {drivers.OpDelete, 3, 1}} {
		if o := a.patterns.Named(pattern, nil).Op(want.op); o.Requests != want.requests || o.Failed != want.failed {
			t.Errorf("%s: %d requests, %d failed; want %d and %d", pattern, o.Requests, o.Failed, want.requests, want.failed)
		}
	}
	if len(r.Largest) != 1 || r.Largest[0].Op != "delete" || r.Largest[0].Path != "/items/i#" {
		t.Errorf("largest changes %+v; want the delete of /items/i#", r.Largest)
	}
}

// TestWatchOnAllKeys lets four sessions watch all keys of etcd, of which some have no slash: each change
// wakes four of four sessions, at whatever key.
func TestWatchOnAllKeys(t *testing.T) {
	for _, keys := range [][]string{{"/x/1", "/x/2", "/y/z/3"}, {"job", "queue/7", "\x00"}} {
		a := New(DefaultLimits)
		var watching []script
		for i := range int64(4) {
			watching = append(watching, newScript(a, i+2))
			watching[i].call(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/"), Watch: true, Pos: 1})
		}
		writer, pos := newScript(a, 1), int64(1)
		for _, key := range keys {
			pos++
			writer.call(drivers.Message{Op: drivers.OpSet, Path: []byte(key), Pos: pos})
			for _, s := range watching {
				s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged,
					Path: []byte(key), Pos: pos})
			}
		}
		r := a.Report()
		for _, p := range r.Places {
			if p.Notifications > 0 && (p.Sessions != 4 || p.FanoutMax != 4 || p.Watches != 4 && p.Path == "/") {
				t.Errorf("%q: %s has %d watches, wakes %d of %d sessions; want 4 of 4", keys, p.Path, p.Watches,
					p.FanoutMax, p.Sessions)
			}
		}
		if c := r.Traffic; c.Changes != 3 || c.Notifications != 12 || c.FanoutMax != 4 || c.MostOfSession != 1 {
			t.Errorf("%q: %+v; want 3 changes that wake 4 sessions each", keys, c)
		}
	}
}

// TestSeveralWatchesOfAClientOnAKey lets a client of etcd watch one key several times: each watch stands
// until it ends, whatever ends it. One of ZooKeeper's stands once.
func TestSeveralWatchesOfAClientOnAKey(t *testing.T) {
	for _, another := range []int{1, 0} {
		a := New(DefaultLimits)
		s, want := newScript(a, 1), int64(1)
		for n := range 200 {
			s.call(drivers.Message{Op: drivers.OpWatchNode, Path: []byte("/cfg"), Watch: true, Number: another * (n + 1), Pos: 1})
		}
		if another > 0 {
			want = 200
		}
		p, c := a.SoFar().Places[0], a.SoFar().Traffic
		if p.Watches != want || p.Most != want || p.Live != want || int64(c.MostOfSession) != want || c.MostStanding != want {
			t.Errorf("another %v: %+v, %+v; want %d watches", another, p, c, want)
		}
		if another == 0 {
			continue
		}
		for left := want - 1; left >= 0; left-- {
			s.Message(time.Unix(11, 0), drivers.Message{Kind: drivers.Reply, Op: drivers.OpUnwatch, Path: []byte("/cfg"),
				Watch: true})
			if p := a.SoFar().Places[0]; p.Watches != left || p.Most != want {
				t.Fatalf("%d watches stand, at most %d; want %d and %d", p.Watches, p.Most, left, want)
			}
		}
		s.call(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/cfg"), Watch: true, Number: 201, Pos: 1})
		s.Close(time.Unix(12, 0))
	}
}

// TestFailedTransactionIsOneLoss has a session lose a race by a transaction of two nodes below one: that is one failed
// write after the notification.
func TestFailedTransactionIsOneLoss(t *testing.T) {
	a := New(DefaultLimits)
	loser, holder := newScript(a, 1), newScript(a, 2)
	holder.create("/locks/job", drivers.Ephemeral, 1, nil)
	loser.get("/locks/job", 1)
	holder.remove("/locks/job", 2)
	loser.told(drivers.Deleted, "/locks/job")
	loser.transact(2, drivers.ErrNodeExists, part(drivers.OpCreate, "/locks/job"), part(drivers.OpSet, "/locks/token"))
	for _, p := range a.Report().Places {
		if p.Path == "/locks/job" && p.LostAfter != 1 {
			t.Errorf("%d failed writes after the notification, want 1", p.LostAfter)
		}
	}
}
