package tree

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// ears are watchers that write down what they hear.
type ears struct {
	*Watches
	heard []string
}

func (e *ears) watcher(name string) *Watcher {
	return &Watcher{Notify: func(ev Event, zxid int64) {
		e.heard = append(e.heard, fmt.Sprintf("%s: %d %s @%d", name, ev.Type, ev.Path, zxid))
	}}
}

func (e *ears) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(e.heard, want) {
		t.Errorf("heard %q, want %q", e.heard, want)
	}
	e.heard = nil
}

func TestAWatchFiresOnce(t *testing.T) {
	e := &ears{Watches: NewWatches()}
	a := e.watcher("a")
	e.Arm(a, DataWatch, "/x")
	e.Arm(a, DataWatch, "/x") // one per path and watcher
	if e.Len() != 1 {
		t.Errorf("%d watches, want 1", e.Len())
	}
	change := Event{wire.EventDataChanged, "/x"}
	if got := e.Fire(change, 7); got != (Fired{DataWatch: 1}) {
		t.Errorf("fired %v", got)
	}
	e.want(t, "a: 3 /x @7")
	if got := e.Fire(change, 8); got != (Fired{}) || e.Len() != 0 {
		t.Errorf("fired %v again", got)
	}
	e.want(t)
}

func TestWatchesFireInTheOrderTheyWereArmed(t *testing.T) {
	e := &ears{Watches: NewWatches()}
	a, b, c := e.watcher("a"), e.watcher("b"), e.watcher("c")
	for _, w := range []*Watcher{c, a, b} {
		e.Arm(w, ChildWatch, "/x")
	}
	e.Forget(a)
	e.Arm(a, ChildWatch, "/x")
	e.Fire(Event{wire.EventCreated, "/x"}, 1) // concerns no child watch
	e.Fire(Event{wire.EventChildrenChanged, "/x"}, 2)
	e.want(t, "c: 4 /x @2", "b: 4 /x @2", "a: 4 /x @2")
}

func TestADeletionIsToldOnce(t *testing.T) {
	e := &ears{Watches: NewWatches()}
	both, data, child := e.watcher("both"), e.watcher("data"), e.watcher("child")
	e.Arm(child, ChildWatch, "/x")
	e.Arm(both, ChildWatch, "/x")
	e.Arm(both, DataWatch, "/x")
	e.Arm(data, DataWatch, "/x")
	if got := e.Fire(Event{wire.EventDeleted, "/x"}, 9); got != (Fired{2, 2}) {
		t.Errorf("fired %v, want two in each table", got)
	}
	e.want(t, "both: 2 /x @9", "data: 2 /x @9", "child: 2 /x @9")
	if e.Len() != 0 {
		t.Errorf("%d watches left", e.Len())
	}
}

func TestForgetLeavesOthersAlone(t *testing.T) {
	e := &ears{Watches: NewWatches()}
	a, b := e.watcher("a"), e.watcher("b")
	for _, path := range []string{"/x", "/y"} {
		e.Arm(a, DataWatch, path)
		e.Arm(b, DataWatch, path)
	}
	e.Forget(a)
	if e.Len() != 2 {
		t.Errorf("%d watches, want b's 2", e.Len())
	}
	e.Fire(Event{wire.EventDataChanged, "/x"}, 1)
	e.want(t, "b: 3 /x @1")
	e.Forget(b)
	if e.Len() != 0 || len(e.tables[DataWatch]) != 0 {
		t.Errorf("%d watches, %d lists left", e.Len(), len(e.tables[DataWatch]))
	}
}
