package fanout

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// Each change is a trigger of its own, although no session arms a watch in between.
func TestPersistentWatchesReportEveryChange(t *testing.T) {
	m, w := script(3)
	w[1].arm(drivers.OpWatchNode, "/c", 5, nil)
	w[2].arm(drivers.OpWatchTree, "/c", 5, nil)
	for pos := int64(6); pos <= 7; pos++ {
		w[0].ask(drivers.OpSet, "/c")
		w[1].notify(drivers.DataChanged, "/c")
		w[2].notify(drivers.DataChanged, "/c")
		w[0].answer(drivers.OpSet, "/c", pos)
	}
	check(t, m, woken{Triggers: 2, Notifications: 4, Largest: 2})
}

// A creation notifies the tree's watcher of the child and the node's watcher of the parent, and
// is one trigger.
func TestPersistentWatchesOfATree(t *testing.T) {
	m, w := script(3)
	w[1].arm(drivers.OpWatchNode, "/l", 5, nil)
	w[2].arm(drivers.OpWatchTree, "/l", 5, nil)
	w[0].ask(drivers.OpCreate, "/l/a")
	w[1].notify(drivers.ChildrenChanged, "/l")
	w[2].notify(drivers.Created, "/l/a")
	w[0].answer(drivers.OpCreate, "/l/a", 6)
	check(t, m, woken{Triggers: 1, Notifications: 2, Largest: 2})
}

// Two ephemeral nodes that a session's end deletes cause two notifications of one write, which wake one session.
func TestPersistentWatchReportsASessionsEnd(t *testing.T) {
	m, w := script(2)
	w[0].ephemeral("/l/a", 3)
	w[0].ephemeral("/l/b", 4)
	w[1].arm(drivers.OpWatchNode, "/l", 5, nil)
	w[0].ask(drivers.OpClose, "")
	w[1].notify(drivers.ChildrenChanged, "/l")
	w[1].notify(drivers.ChildrenChanged, "/l")
	w[0].answer(drivers.OpClose, "", 6)
	check(t, m, woken{Triggers: 1, Notifications: 2, Largest: 1})
}

// On etcd a notification may come after every session has seen later writes.
func TestLateNotificationOfAPersistentWatch(t *testing.T) {
	m, w := script(2)
	w[1].arm(drivers.OpWatchTree, "/l", 5, nil)
	w[0].ask(drivers.OpCreate, "/l/a")
	w[0].answer(drivers.OpCreate, "/l/a", 6)
	for _, w := range w {
		w.ask(drivers.OpGet, "/m")
		w.answer(drivers.OpGet, "/m", 9)
	}
	m.ledger.prune()
	w[1].Message(drivers.Message{Kind: drivers.Notification, Event: drivers.Created, Path: []byte("/l/a"), Pos: 6})
	check(t, m, woken{Triggers: 1, Notifications: 1, Largest: 1})
	m.ledger.prune()
	if n := len(m.ledger.writes); n != 0 {
		t.Errorf("%d writes are kept although all their notifications have come", n)
	}
}

// A change while a session was disconnected causes no notification, and the next notification
// is not attributed to that change.
func TestPersistentWatchAfterACut(t *testing.T) {
	m, w := script(3)
	w[1].arm(drivers.OpWatchNode, "/c", 5, nil)
	w[2].arm(drivers.OpWatchNode, "/c", 5, nil)
	set := func(pos int64, reported ...wire) {
		w[0].ask(drivers.OpSet, "/c")
		for _, w := range reported {
			w.notify(drivers.DataChanged, "/c")
		}
		w[0].answer(drivers.OpSet, "/c", pos)
	}
	w[1].cut()
	set(6, w[2])
	w[1].ask(drivers.OpOpen, "")
	w[1].answer(drivers.OpOpen, "", 0)
	w[1].ask(drivers.OpRearm, "")
	w[1].answer(drivers.OpRearm, "", 6)
	set(7, w[1], w[2])
	check(t, m, woken{Triggers: 2, Notifications: 3, Largest: 2})
}

// Arming a persistent watch counts as neither a read nor a write, and the watch ends with the
// session.
func TestPersistentWatchIsNoRead(t *testing.T) {
	m, w := script(1)
	w[0].arm(drivers.OpWatchNode, "/c", 5, nil)
	w[0].arm(drivers.OpWatchTree, "/c", 5, nil)
	if c := w[0].counts(); c.RPCs != 2 || c.Reads != 0 || c.Writes != 0 {
		t.Errorf("counted %+v; want two calls, and no reads and writes", c)
	}
	w[0].ask(drivers.OpClose, "")
	w[0].answer(drivers.OpClose, "", 6)
	if l := &m.ledger; l.persistent != 0 || len(l.nodes) != 0 {
		t.Errorf("%d persistent watches and %d nodes are kept of a session that has ended", l.persistent, len(l.nodes))
	}
}

// A transaction that creates a node and deletes it, or sets it in between, is one trigger, whichever of its changes the
// persistent watches report, in their order, and so is the next one.
func TestPersistentWatchesReportATransaction(t *testing.T) {
	events := map[drivers.Op]drivers.EventType{drivers.OpCreate: drivers.Created, drivers.OpSet: drivers.DataChanged, drivers.OpDelete: drivers.Deleted}
	for _, ops := range [][]drivers.Op{
		{drivers.OpCreate, drivers.OpDelete}, {drivers.OpDelete, drivers.OpCreate}, {drivers.OpCreate, drivers.OpSet}, {drivers.OpSet, drivers.OpSet},
		{drivers.OpCreate, drivers.OpSet, drivers.OpDelete},
	} {
		m, h, writer, tree, node := listening()
		tree.arm(drivers.OpWatchTree, "/l", 5, nil)
		node.arm(drivers.OpWatchNode, "/l/a", 5, nil)
		const transactions = 3
		for i := range transactions {
			writer.ask(drivers.OpMulti, "")
			reply := drivers.Message{Kind: drivers.Reply, Op: drivers.OpMulti, Pos: int64(6 + i)}
			for _, op := range ops {
				reply.Parts = append(reply.Parts, drivers.TxnOp{Op: op, Path: []byte("/l/a")})
				tree.notify(events[op], "/l/a")
				node.notify(events[op], "/l/a")
			}
			writer.Message(reply)
		}
		m.Finish()
		triggers := map[Trigger]bool{}
		for _, n := range h.caused {
			triggers[n.Trigger] = true
		}
		if all := 2 * transactions * len(ops); len(triggers) != transactions || len(h.caused) != all {
			t.Errorf("%v: %d triggers with %d notifications, want %d with %d", ops, len(triggers), len(h.caused), transactions, all)
		}
		for i, n := range h.caused {
			if op := ops[i/2%len(ops)]; n.Writer != writer.Session || n.Op != op {
				t.Errorf("%v: notification %d is of a write of %v, by the writer %v; want its %v", ops, i, n.Op, n.Writer == writer.Session, op)
			}
		}
	}
}
