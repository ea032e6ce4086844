package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// A member is a session that waits in the line at a node, and watches all of it.
type member struct{ script }

func (m member) node(dir string, seq int) []byte { return fmt.Appendf(nil, "%s/lock-%010d", dir, seq) }

func (m member) create(dir string, seq int, pos int64) {
	m.call(drivers.Message{Op: drivers.OpCreate, Path: m.node(dir, seq), Mode: drivers.Ephemeral | drivers.Sequential, Pos: pos})
}

func (m member) remove(dir string, seq int, pos int64) {
	m.call(drivers.Message{Op: drivers.OpDelete, Path: m.node(dir, seq), Pos: pos})
}

func (m member) list(dir string, pos int64) {
	m.call(drivers.Message{Op: drivers.OpChildren, Path: []byte(dir), Watch: true, Pos: pos})
}

func (m member) changed(dir string) {
	m.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.ChildrenChanged, Path: []byte(dir)})
}

// TestCauseIsKnownAfterTheSessionHasEnded has a write of one connection that is not answered until the sessions that
// another write woke have ended: only then it is known which write that was.
func TestCauseIsKnownAfterTheSessionHasEnded(t *testing.T) {
	a := New(DefaultLimits)
	stuck, first, second, writer := newScript(a, 1), newScript(a, 2), newScript(a, 3), newScript(a, 4)
	watch := drivers.Message{Op: drivers.OpGet, Path: []byte("/flag"), Watch: true, Pos: 1}
	first.call(watch)
	second.call(watch)
	stuck.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Request, Op: drivers.OpSet, Path: []byte("/other")})
	writer.call(drivers.Message{Op: drivers.OpSet, Path: []byte("/flag"), Pos: 2})
	for _, s := range []script{first, second} {
		s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte("/flag")})
		s.call(drivers.Message{Op: drivers.OpClose, Pos: 3})
		s.Close(time.Unix(10, 0))
	}
	a.retained(t)
	if len(a.ended) != 2 {
		t.Errorf("%d sessions are kept after their end, want the two that were woken", len(a.ended))
	}
	stuck.Close(time.Unix(11, 0))
	if len(a.ended) != 0 {
		t.Errorf("%d sessions are kept although all causes are known", len(a.ended))
	}
	if r := a.Report().Traffic; r.Notifications != 2 || r.Changes != 1 || r.FanoutMax != 2 {
		t.Errorf("%d notifications, %d changes that wake up to %d; want 2, 1 and 2", r.Notifications, r.Changes, r.FanoutMax)
	}
}

// TestTimeDoesNotGoBack ends a connection of which nothing more is known, after others, at its last packet's time.
func TestTimeDoesNotGoBack(t *testing.T) {
	a := New(DefaultLimits)
	early, late := newScript(a, 1), newScript(a, 2)
	late.Message(time.Unix(60, 0), drivers.Message{Kind: drivers.Request, Op: drivers.OpPing})
	early.Close(time.Unix(3, 0))
	if got := a.Report().Duration; got != 59*time.Second {
		t.Errorf("observed for %v, want 59 s", got)
	}
}

// TestWaitsAreJudgedByWhatFollows has a session take its turn three times. The first time one notification
// leads to its turn and another comes when it has it. The second time one of two is for a change behind it. The
// third time a watch of an earlier turn fires while it waits.
func TestWaitsAreJudgedByWhatFollows(t *testing.T) {
	for _, test := range []struct {
		name           string
		wait           func(first, second member)
		useful, wasted int64
	}{
		{"notified with its turn", func(first, second member) {
			first.create("/l", 1, 1)
			second.create("/l", 2, 2)
			second.list("/l", 2)
			first.remove("/l", 1, 3)
			second.changed("/l") // leads to its turn
			second.list("/l", 3)
			first.create("/l", 3, 4)
			second.changed("/l") // it has its turn
			second.remove("/l", 2, 5)
		}, 1, 0},
		{"notified of a change behind it", func(first, second member) {
			first.create("/l", 1, 1)
			second.create("/l", 2, 2)
			second.list("/l", 2)
			member{newScript(first.Tap.(*tap).a, 3)}.create("/l", 3, 3)
			second.changed("/l") // of no use
			second.list("/l", 3)
			first.remove("/l", 1, 4)
			second.changed("/l")
			second.list("/l", 4)
			second.remove("/l", 2, 5)
		}, 1, 1},
		{"the reply to the create ahead comes late", func(first, second member) {
			second.create("/l", 2, 2)
			second.list("/l", 2)
			member{newScript(first.Tap.(*tap).a, 3)}.create("/l", 3, 3)
			second.changed("/l")     // as if it had its turn
			first.create("/l", 1, 1) // but this one is ahead
			second.list("/l", 3)
			first.remove("/l", 1, 4)
			second.changed("/l")
			second.list("/l", 4)
			second.remove("/l", 2, 5)
		}, 1, 1},
		{"notified of the line before", func(first, second member) {
			second.create("/old", 1, 1)
			second.list("/old", 1)
			second.remove("/old", 1, 2)
			first.create("/l", 1, 3)
			second.create("/l", 2, 4)
			second.changed("/old") // of no use
			second.list("/l", 4)
			first.remove("/l", 1, 5)
			second.changed("/l")
			second.list("/l", 5)
			second.remove("/l", 2, 6)
		}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := New(DefaultLimits)
			test.wait(member{newScript(a, 1)}, member{newScript(a, 2)})
			a.finish()
			var useful, wasted int64
			for p := range a.patterns.All() {
				u, w, _ := p.Useful(observation.Turn, nil)
				useful, wasted = useful+u, wasted+w
			}
			if useful != test.useful || wasted != test.wasted {
				t.Errorf("%d useful and %d wasted notifications, want %d and %d", useful, wasted, test.useful, test.wasted)
			}
		})
	}
}

// TestOwnRemovalLeadsToNothing has a consumer be notified of an item, take it, and be notified of its own removal of
// the item before the reply.
func TestOwnRemovalLeadsToNothing(t *testing.T) {
	a := New(DefaultLimits)
	producer, consumer := member{newScript(a, 1)}, member{newScript(a, 2)}
	item := drivers.Message{Op: drivers.OpCreate, Path: []byte("/q/item-0000000001"), Mode: drivers.Sequential, Pos: 1}
	consumer.list("/q", 0)
	producer.call(item)
	consumer.changed("/q")
	consumer.list("/q", 1)
	take := drivers.Message{Op: drivers.OpDelete, Path: item.Path, Pos: 2}
	take.Kind = drivers.Request
	consumer.Message(time.Unix(10, 0), take)
	consumer.changed("/q")
	take.Kind = drivers.Reply
	consumer.Message(time.Unix(10, 0), take)
	a.finish()
	if u, w, _ := a.patterns.Named("/q", nil).Useful(observation.Item, nil); u != 1 || w != 0 {
		t.Errorf("%d useful and %d wasted notifications, want 1 and 0", u, w)
	}
}
