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
		if o := a.patterns[pattern].op(want.op); o.requests != want.requests || o.failed != want.failed {
			t.Errorf("%s: %d requests, %d failed; want %d and %d", pattern, o.requests, o.failed, want.requests, want.failed)
		}
	}
	if len(r.Largest) != 1 || r.Largest[0].Op != "delete" || r.Largest[0].Path != "/items/i#" {
		t.Errorf("largest changes %+v; want the delete of /items/i#", r.Largest)
	}
}
