package fanout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/delivery"
)

// heard keeps what a Meter tells its listener.
type heard struct {
	caused   []Notified
	complete []Trigger
	missed   []delivery.Violation
	unasked  []string
}

func (h *heard) Caused(n Notified)  { h.caused = append(h.caused, n) }
func (h *heard) Complete(t Trigger) { h.complete = append(h.complete, t) }
func (h *heard) Undelivered(v delivery.Violation) {
	if v.Kind == delivery.Unasked || v.Kind == delivery.Twice {
		h.unasked = append(h.unasked, v.Path)
	} else {
		h.missed = append(h.missed, v)
	}
}

// listening returns a Meter with a listener, and a writer and two watchers of it.
func listening() (m *Meter, h *heard, writer, first, second wire) {
	h = new(heard)
	m = NewListening(h, func() time.Time { return time.Unix(1, 0) }, 1<<14) // a time from a capture
	return m, h, wire{m.Session()}, wire{m.Session()}, wire{m.Session()}
}

func (w wire) hear(e drivers.EventType, path string, pos int64) {
	w.Message(drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte(path), Pos: pos, Size: 30})
}

// TestListenerHearsTheCause checks that both notifications of a set name it, although they come
// before its reply.
func TestListenerHearsTheCause(t *testing.T) {
	_, h, writer, first, second := listening()
	first.arm(drivers.OpGet, "/a", 1, nil)
	second.arm(drivers.OpGet, "/a", 1, nil)
	writer.ask(drivers.OpSet, "/a")
	first.hear(drivers.DataChanged, "/a", 0)
	second.hear(drivers.DataChanged, "/a", 0)
	if len(h.caused) > 0 {
		t.Errorf("heard %v before the write is known", h.caused)
	}
	writer.answer(drivers.OpSet, "/a", 2)
	want := []Notified{
		{Session: first.Session, Nth: 1, Path: "/a", Event: drivers.DataChanged, Writer: writer.Session, Op: drivers.OpSet, Written: "/a"},
		{Session: second.Session, Nth: 1, Path: "/a", Event: drivers.DataChanged, Writer: writer.Session, Op: drivers.OpSet, Written: "/a"},
	}
	sameSession := cmp.Comparer(func(a, b *Session) bool { return a == b })
	if d := cmp.Diff(want, h.caused, sameSession, cmpopts.IgnoreFields(Notified{}, "Trigger")); d != "" {
		t.Errorf("heard (-want +got):\n%s", d)
	}
	if len(h.caused) == 2 && h.caused[0].Trigger != h.caused[1].Trigger {
		t.Error("the notifications of one write have two triggers")
	}
}

// TestListenerHearsTheOperationOfATransaction checks that a transaction is one write, and that each
// notification of it names the operation that it reports.
func TestListenerHearsTheOperationOfATransaction(t *testing.T) {
	m, h, writer, first, second := listening()
	first.arm(drivers.OpGet, "/a", 1, nil)
	first.arm(drivers.OpChildren, "/q", 1, nil)
	second.arm(drivers.OpGet, "/q/item", 1, nil)
	both := []drivers.TxnOp{{Op: drivers.OpDelete, Path: []byte("/q/item")}, {Op: drivers.OpSet, Path: []byte("/a")}}
	writer.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpMulti, Parts: both})
	first.hear(drivers.DataChanged, "/a", 0)
	first.hear(drivers.ChildrenChanged, "/q", 0)
	second.hear(drivers.Deleted, "/q/item", 0)
	writer.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpMulti, Parts: both, Pos: 2})
	m.Finish()
	if len(h.caused) != 3 {
		t.Fatalf("heard %d causes, want 3", len(h.caused))
	}
	for i, want := range []struct {
		op   drivers.Op
		path string
	}{{drivers.OpSet, "/a"}, {drivers.OpDelete, "/q/item"}, {drivers.OpDelete, "/q/item"}} {
		if n := h.caused[i]; n.Writer != writer.Session || n.Op != want.op || n.Written != want.path || n.Trigger != h.caused[0].Trigger {
			t.Errorf("notification %d: %v of %q, want %v of %q by the writer, in one transaction", i, n.Op, n.Written, want.op, want.path)
		}
	}
}

// TestListenerHearsOfAnUnseenWriter checks that a change without a known write has no writer.
func TestListenerHearsOfAnUnseenWriter(t *testing.T) {
	m, h, _, first, _ := listening()
	first.arm(drivers.OpExists, "/a", 1, nil)
	first.hear(drivers.Deleted, "/a", 0)
	m.Finish()
	if len(h.caused) != 1 || h.caused[0].Writer != nil || h.caused[0].Written != "" {
		t.Errorf("heard %+v, want one notification without a writer", h.caused)
	}
}

// TestListenerHearsWhenAWriteIsComplete checks that a write is complete once later writes show
// that all its notifications have come, and only then.
func TestListenerHearsWhenAWriteIsComplete(t *testing.T) {
	_, h, writer, first, second := listening()
	first.arm(drivers.OpGet, "/a", 1, nil)
	writer.ask(drivers.OpSet, "/a")
	writer.answer(drivers.OpSet, "/a", 2)
	first.hear(drivers.DataChanged, "/a", 0)
	if len(h.complete) > 0 {
		t.Error("complete at once, though the other session may still be notified")
	}
	const writes = 2 * smallestBatch
	for pos := int64(3); pos < writes; pos++ {
		writer.ask(drivers.OpSet, "/b")
		writer.answer(drivers.OpSet, "/b", pos)
		first.answer(drivers.OpPing, "", pos)
		second.answer(drivers.OpPing, "", pos)
	}
	if len(h.complete) != 1 || h.complete[0] != h.caused[0].Trigger {
		t.Errorf("%d writes are complete, want the one that caused a notification", len(h.complete))
	}
}

// TestEndedSessionDelaysNothing checks that a session that has ended keeps no write from being
// complete, and that its watches are gone.
func TestEndedSessionDelaysNothing(t *testing.T) {
	m, h, writer, first, second := listening()
	first.arm(drivers.OpGet, "/a", 1, nil)
	second.arm(drivers.OpGet, "/a", 1, nil)
	second.End()
	writer.ask(drivers.OpSet, "/a")
	writer.answer(drivers.OpSet, "/a", 2)
	first.hear(drivers.DataChanged, "/a", 0)
	for pos := int64(3); pos < 2*smallestBatch; pos++ {
		writer.ask(drivers.OpSet, "/b")
		writer.answer(drivers.OpSet, "/b", pos)
		first.answer(drivers.OpPing, "", pos)
	}
	if len(h.complete) != 1 {
		t.Errorf("%d writes are complete, want 1", len(h.complete))
	}
	if left := m.SoFar().Leftover; left != 0 {
		t.Errorf("%d watches are left, want none", left)
	}
}
