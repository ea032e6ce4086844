package fanout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
)

// A wire is one session's connection in a script. Its methods pass packets to the session.
type wire struct{ *Session }

func (w wire) ask(op drivers.Op, path string) {
	w.Message(drivers.Message{Kind: drivers.Request, Op: op, Path: []byte(path), Size: 10})
}

func (w wire) answer(op drivers.Op, path string, pos int64) {
	w.Message(drivers.Message{Kind: drivers.Reply, Op: op, Path: []byte(path), Pos: pos, Size: 20})
}

func (w wire) fail(op drivers.Op, path string, pos int64, err error) {
	w.Message(drivers.Message{Kind: drivers.Reply, Op: op, Path: []byte(path), Pos: pos, Err: err, Size: 20})
}

// arm sends a read with a watch and its reply.
func (w wire) arm(op drivers.Op, path string, pos int64, err error) {
	m := drivers.Message{Kind: drivers.Request, Op: op, Path: []byte(path), Watch: true, Size: 10}
	w.Message(m)
	m.Kind, m.Pos, m.Err, m.Size = drivers.Reply, pos, err, 20
	w.Message(m)
}

// ephemeral creates an ephemeral node.
func (w wire) ephemeral(path string, pos int64) {
	m := drivers.Message{Kind: drivers.Request, Op: drivers.OpCreate, Path: []byte(path), Mode: drivers.Ephemeral}
	w.Message(m)
	m.Kind, m.Pos = drivers.Reply, pos
	w.Message(m)
}

func (w wire) notify(e drivers.EventType, path string) {
	w.Message(drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte(path), Size: 5})
}

func (w wire) cut() { w.Message(drivers.Message{Kind: drivers.Cut}) }

// script returns a meter whose window has begun and n connections.
func script(n int) (*Meter, []wire) {
	m := NewMeter(metrics.NewWindow())
	wires := make([]wire, n)
	for i := range wires {
		wires[i] = wire{m.Session()}
	}
	m.ledger.window.Open(time.Now())
	return m, wires
}

// A woken holds the numbers of a Herd.
type woken struct{ Triggers, Foreign, Notifications, Largest, Leftover int64 }

func check(t *testing.T, m *Meter, want woken) {
	t.Helper()
	h := m.Herd()
	got := woken{h.Triggers, h.Foreign, h.Notifications, h.Largest, h.Leftover}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("herd (-want +got):\n%s", diff)
	}
}

// A notification of an earlier write is not attributed to a later write on the same path whose
// reply is seen first.
func TestRepliesOutOfOrder(t *testing.T) {
	m, w := script(4)
	w[2].arm(drivers.OpGet, "/c", 5, nil)
	w[0].ask(drivers.OpSet, "/c") // its position will be 6
	w[1].ask(drivers.OpSet, "/c") // its position will be 7
	w[2].notify(drivers.DataChanged, "/c")
	w[2].arm(drivers.OpGet, "/c", 6, nil)
	w[2].notify(drivers.DataChanged, "/c")
	w[1].answer(drivers.OpSet, "/c", 7)
	w[0].answer(drivers.OpSet, "/c", 6)
	check(t, m, woken{Triggers: 2, Notifications: 2, Largest: 1})
}

func TestADeleteWakesASessionOnce(t *testing.T) {
	m, w := script(2)
	w[1].arm(drivers.OpExists, "/n", 3, nil)
	w[1].arm(drivers.OpChildren, "/n", 3, nil)
	w[0].ask(drivers.OpDelete, "/n")
	w[1].notify(drivers.Deleted, "/n")
	w[0].answer(drivers.OpDelete, "/n", 4)
	check(t, m, woken{Triggers: 1, Notifications: 1, Largest: 1})
}

func TestACreateTouchesNodeAndParent(t *testing.T) {
	m, w := script(3)
	w[1].arm(drivers.OpExists, "/p/n", 3, drivers.ErrNoNode)
	w[2].arm(drivers.OpChildren, "/p", 3, nil)
	w[0].ask(drivers.OpCreate, "/p/n")
	w[1].notify(drivers.Created, "/p/n")
	w[2].notify(drivers.ChildrenChanged, "/p")
	w[0].answer(drivers.OpCreate, "/p/n", 4)
	check(t, m, woken{Triggers: 1, Notifications: 2, Largest: 2})
}

func TestCloseDeletesWhatIsEphemeral(t *testing.T) {
	m, w := script(4)
	w[0].ephemeral("/p/a", 1)
	w[0].ephemeral("/p/b", 2)
	w[1].arm(drivers.OpExists, "/p/a", 2, nil)
	w[2].arm(drivers.OpExists, "/p/b", 2, nil)
	w[3].arm(drivers.OpChildren, "/p", 2, nil)
	w[0].ask(drivers.OpClose, "")
	w[1].notify(drivers.Deleted, "/p/a")
	w[2].notify(drivers.Deleted, "/p/b")
	w[3].notify(drivers.ChildrenChanged, "/p")
	w[0].answer(drivers.OpClose, "", 3)
	check(t, m, woken{Triggers: 1, Notifications: 3, Largest: 3})
}

// Another session can delete a session's ephemeral node. The owner's close then deletes
// nothing.
func TestCloseAfterAnotherSessionsDelete(t *testing.T) {
	m, w := script(3)
	w[0].ephemeral("/a", 1)
	w[1].ask(drivers.OpDelete, "/a")
	w[1].answer(drivers.OpDelete, "/a", 2)
	w[2].arm(drivers.OpExists, "/a", 2, drivers.ErrNoNode)
	w[0].ask(drivers.OpClose, "")
	w[0].answer(drivers.OpClose, "", 3)
	w[1].ask(drivers.OpCreate, "/a")
	w[2].notify(drivers.Created, "/a")
	w[1].answer(drivers.OpCreate, "/a", 4)
	check(t, m, woken{Triggers: 1, Notifications: 1, Largest: 1})
}

// The time of its first notification decides whether a trigger is in the window.
func TestWindow(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := NewMeter(metrics.NewWindow())
		w, r := wire{m.Session()}, wire{m.Session()}
		wake := func(pos int64) {
			r.arm(drivers.OpGet, "/c", pos-1, nil)
			w.ask(drivers.OpSet, "/c")
			r.notify(drivers.DataChanged, "/c")
			time.Sleep(time.Second)
			w.answer(drivers.OpSet, "/c", pos)
		}
		wake(10) // before the window
		m.ledger.window.Open(time.Now())
		wake(20)
		wake(30)
		m.ledger.window.Close(time.Now())
		time.Sleep(time.Second)
		wake(40) // after the window
		check(t, m, woken{Triggers: 2, Notifications: 2, Largest: 1})
	})
}

func TestDrain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, w := script(4)
		for _, r := range w[1:] {
			r.arm(drivers.OpGet, "/c", 1, nil)
		}
		w[0].ask(drivers.OpSet, "/c")
		for _, r := range w[1:] {
			r.notify(drivers.DataChanged, "/c")
			time.Sleep(time.Millisecond)
		}
		w[0].answer(drivers.OpSet, "/c", 2)
		h := m.Herd()
		if got := h.Drain.Max(); !h.Drain.ValuesAreEquivalent(got, int64(2*time.Millisecond)) || h.Drain.TotalCount() != 1 {
			t.Errorf("drained in %v, %d times; not in 2ms, once", time.Duration(got), h.Drain.TotalCount())
		}
	})
}

// A node is deleted twice by sessions that the meter does not see. Each time all its watchers
// belong to one trigger, whatever the order of the notifications.
func TestForeignTriggers(t *testing.T) {
	m, w := script(3)
	for _, c := range w {
		c.arm(drivers.OpChildren, "/g", 5, nil)
	}
	w[0].notify(drivers.ChildrenChanged, "/g")
	w[0].arm(drivers.OpChildren, "/g", 6, nil)
	w[0].notify(drivers.ChildrenChanged, "/g") // the second change, before other sessions are notified of the first
	w[0].arm(drivers.OpChildren, "/g", 7, nil)
	for _, c := range w[1:] {
		c.notify(drivers.ChildrenChanged, "/g")
		c.arm(drivers.OpChildren, "/g", 6, nil)
		c.notify(drivers.ChildrenChanged, "/g")
		c.arm(drivers.OpChildren, "/g", 7, nil)
	}
	check(t, m, woken{Triggers: 2, Foreign: 2, Notifications: 6, Largest: 3, Leftover: 3})
}

// A session that began to watch after a foreign change was not notified of that change.
func TestForeignTriggersOfDifferentTimes(t *testing.T) {
	m, w := script(2)
	w[0].arm(drivers.OpChildren, "/g", 5, nil)
	w[0].notify(drivers.ChildrenChanged, "/g")
	w[0].ask(drivers.OpGet, "/x")
	w[0].answer(drivers.OpGet, "/x", 6) // so the change was at 6
	w[1].arm(drivers.OpChildren, "/g", 6, nil)
	w[1].notify(drivers.ChildrenChanged, "/g")
	w[1].ask(drivers.OpGet, "/x")
	w[1].answer(drivers.OpGet, "/x", 8)
	check(t, m, woken{Triggers: 2, Foreign: 2, Notifications: 2, Largest: 1})
}

// A write whose reply was cut off has no known position. Its notifications are grouped, and
// they wait for the write no longer than until the cut.
func TestAWriteCutOff(t *testing.T) {
	m, w := script(3)
	w[1].arm(drivers.OpExists, "/l", 5, nil)
	w[2].arm(drivers.OpExists, "/l", 5, nil)
	w[0].ask(drivers.OpDelete, "/l")
	w[1].notify(drivers.Deleted, "/l")
	w[2].notify(drivers.Deleted, "/l")
	w[0].cut()
	if n := len(m.ledger.waiting); n != 0 {
		t.Errorf("%d notifications wait for a reply that will not come", n)
	}
	check(t, m, woken{Triggers: 1, Foreign: 1, Notifications: 2, Largest: 2})
}

// A watch outlives its connection: the client library sets it again.
func TestRearmAfterACut(t *testing.T) {
	m, w := script(2)
	w[0].arm(drivers.OpGet, "/c", 5, nil)
	w[0].cut()
	w[1].ask(drivers.OpSet, "/c")
	w[1].answer(drivers.OpSet, "/c", 6)
	m.ledger.prune() // must keep the write that the watch waits for
	w[0].ask(drivers.OpOpen, "")
	w[0].answer(drivers.OpOpen, "", 0)
	w[0].ask(drivers.OpRearm, "")
	w[0].notify(drivers.DataChanged, "/c")
	w[0].answer(drivers.OpRearm, "", 6)
	check(t, m, woken{Triggers: 1, Notifications: 1, Largest: 1})
	if n := m.Counts().Cuts; n != 1 {
		t.Errorf("%d cuts, not 1", n)
	}
}

func TestALostSessionHasNoWatches(t *testing.T) {
	m, w := script(1)
	w[0].arm(drivers.OpGet, "/c", 5, nil)
	w[0].cut()
	w[0].ask(drivers.OpOpen, "")
	w[0].fail(drivers.OpOpen, "", 0, drivers.ErrSessionLost)
	check(t, m, woken{})
}

func TestLeftover(t *testing.T) {
	m, w := script(2)
	w[0].arm(drivers.OpGet, "/a", 1, nil)
	w[0].arm(drivers.OpExists, "/a", 2, nil)                   // the same watch
	w[0].arm(drivers.OpChildren, "/a", 2, nil)                 // another table
	w[0].arm(drivers.OpExists, "/gone", 2, drivers.ErrNoNode)  // counts
	w[0].arm(drivers.OpGet, "/gone", 2, drivers.ErrNoNode)     // arms nothing
	w[0].arm(drivers.OpChildren, "/no", 2, drivers.ErrNoNode)  // arms nothing
	w[1].arm(drivers.OpGet, "/a", 2, nil)                      // another session
	w[1].arm(drivers.OpExists, "/b", 2, drivers.ErrBadVersion) // arms nothing
	check(t, m, woken{Leftover: 4})
}

func TestCounts(t *testing.T) {
	m, w := script(1)
	c := w[0]
	before := m.Counts()
	c.ask(drivers.OpPing, "")
	c.answer(drivers.OpPing, "", 1)
	c.ask(drivers.OpFlush, "/flush")
	c.answer(drivers.OpFlush, "/flush", 1)
	c.ask(drivers.OpCreate, "/a")
	c.fail(drivers.OpCreate, "/a", 2, drivers.ErrNodeExists)
	c.arm(drivers.OpExists, "/a", 2, nil)
	c.arm(drivers.OpExists, "/b", 2, drivers.ErrNoNode)
	c.ask(drivers.OpChildren, "/")
	c.answer(drivers.OpChildren, "/", 2)
	c.notify(drivers.Deleted, "/a")
	c.notify(0, "") // reports a change of the session
	want := metrics.Counts{
		Notifications: 1, Reads: 3, Writes: 1, FailedWrites: 1, Lists: 1, WatchedExists: 2, WatchedMisses: 1,
		RPCs: 4, Pings: 1, Flushes: 1, BytesOut: 50, BytesIn: 105,
	}
	if diff := cmp.Diff(want, m.Counts().Sub(before)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestUsefulAndWasted(t *testing.T) {
	m, w := script(1)
	c := w[0]
	c.notify(drivers.Deleted, "/a") // outside of every phase
	c.PhaseBegin()
	c.notify(drivers.Deleted, "/a")
	c.notify(drivers.Deleted, "/a")
	c.notify(drivers.Deleted, "/a")
	c.PhaseEnd() // 1 useful, 2 wasted
	c.PhaseBegin()
	c.PhaseEnd() // no notification
	c.PhaseBegin()
	c.notify(drivers.Deleted, "/a")
	c.PhaseBegin() // given up: wasted
	c.notify(drivers.Deleted, "/a")
	c.PhaseEnd() // useful
	if n := m.Counts(); n.Useful != 2 || n.Wasted != 3 {
		t.Errorf("%d useful and %d wasted, not 2 and 3", n.Useful, n.Wasted)
	}
}

func TestQuiet(t *testing.T) {
	_, w := script(1)
	c := w[0]
	expect := func(want bool, when string) {
		t.Helper()
		if got := c.Quiet(); got != want {
			t.Errorf("%s: quiet is %v", when, got)
		}
	}
	expect(false, "at first")
	c.arm(drivers.OpExists, "/a", 1, nil)
	expect(true, "after arming")
	c.ask(drivers.OpPing, "")
	expect(true, "while a ping is in flight")
	c.ask(drivers.OpFlush, "/flush")
	c.answer(drivers.OpFlush, "/flush", 1)
	expect(true, "after a flush")
	c.notify(drivers.Deleted, "/b")
	expect(true, "after the notification of another watch")
	c.ask(drivers.OpGet, "/a")
	expect(false, "while a read is in flight")
	c.answer(drivers.OpGet, "/a", 1)
	expect(false, "after a read that arms nothing")
	c.arm(drivers.OpExists, "/a", 1, nil)
	c.notify(drivers.Deleted, "/a")
	expect(false, "after its notification")
	c.ask(drivers.OpDelete, "/a")
	c.cut()
	c.arm(drivers.OpExists, "/a", 2, drivers.ErrNoNode)
	expect(true, "after arming again, with a request cut off before")
}

// TestFanoutIsExact checks that a write that wakes 2,100 watchers is not one that wakes 2,101.
func TestFanoutIsExact(t *testing.T) {
	const watchers, writes = 2100, 3
	m, w := script(1 + watchers)
	for i := range int64(writes) {
		woken := watchers - i // one fewer with each write
		for _, one := range w[1 : 1+woken] {
			one.arm(drivers.OpGet, "/c", 2*i+1, nil)
		}
		w[0].ask(drivers.OpSet, "/c")
		w[0].answer(drivers.OpSet, "/c", 2*i+2)
		for _, one := range w[1 : 1+woken] {
			one.notify(drivers.DataChanged, "/c")
		}
	}
	h := m.Herd()
	if diff := cmp.Diff(metrics.Tally{2100: 1, 2099: 1, 2098: 1}, h.Fanout); diff != "" || h.Largest != watchers {
		t.Errorf("the largest fan-out is %d; fan-outs (-want +got):\n%s", h.Largest, diff)
	}
}
