package tree

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// ears are watchers that record their notifications.
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
	e.Arm(a, DataWatch, "/x", Standard)
	e.Arm(a, DataWatch, "/x", Standard) // one entry per path and watcher
	if e.Len() != 1 {
		t.Errorf("%d watches, want 1", e.Len())
	}
	change := Event{Type: wire.EventDataChanged, Path: "/x"}
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
		e.Arm(w, ChildWatch, "/x", Standard)
	}
	e.Forget(a)
	e.Arm(a, ChildWatch, "/x", Standard)
	e.Fire(Event{Type: wire.EventCreated, Path: "/x"}, 1) // fires no child watch
	e.Fire(Event{Type: wire.EventChildrenChanged, Path: "/x"}, 2)
	e.want(t, "c: 4 /x @2", "b: 4 /x @2", "a: 4 /x @2")
}

func TestADeletionIsToldOnce(t *testing.T) {
	e := &ears{Watches: NewWatches()}
	both, data, child := e.watcher("both"), e.watcher("data"), e.watcher("child")
	e.Arm(child, ChildWatch, "/x", Standard)
	e.Arm(both, ChildWatch, "/x", Standard)
	e.Arm(both, DataWatch, "/x", Standard)
	e.Arm(data, DataWatch, "/x", Standard)
	if got := e.Fire(Event{Type: wire.EventDeleted, Path: "/x"}, 9); got != (Fired{2, 2}) {
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
		e.Arm(a, DataWatch, path, Standard)
		e.Arm(b, DataWatch, path, Standard)
	}
	e.Forget(a)
	if e.Len() != 2 {
		t.Errorf("%d watches, want b's 2", e.Len())
	}
	e.Fire(Event{Type: wire.EventDataChanged, Path: "/x"}, 1)
	e.want(t, "b: 3 /x @1")
	e.Forget(b)
	if e.Len() != 0 || len(e.tables[DataWatch]) != 0 {
		t.Errorf("%d watches, %d lists left", e.Len(), len(e.tables[DataWatch]))
	}
}

func TestPersistentWatchesStay(t *testing.T) {
	e := &ears{Watches: NewWatches()}
	a := e.watcher("a")
	for _, table := range []Table{DataWatch, ChildWatch} {
		e.Arm(a, table, "/x", Persistent)
		e.Arm(a, table, "/x", Standard) // the same entry
	}
	for zxid := range int64(2) {
		if got := e.Fire(Event{Type: wire.EventDeleted, Path: "/x"}, zxid); got != (Fired{1, 1}) {
			t.Errorf("fired %v, want one in each table", got)
		}
		e.Fire(Event{Type: wire.EventChildrenChanged, Path: "/x"}, zxid)
		e.Fire(Event{Type: wire.EventCreated, Path: "/x/below"}, zxid)
	}
	e.want(t, "a: 2 /x @0", "a: 4 /x @0", "a: 2 /x @1", "a: 4 /x @1")
	if e.Len() != 2 || e.Armed(a, DataWatch, "/x") != Persistent {
		t.Errorf("%d entries, mode %d; want 2 that are persistent", e.Len(), e.Armed(a, DataWatch, "/x"))
	}
}

// A recursive watch reports events of every node below it, once per watcher even if that watcher
// has several recursive watches above the node. It does not report changes of lists of children.
func TestRecursiveWatches(t *testing.T) {
	e := &ears{Watches: NewWatches()}
	a, root := e.watcher("a"), e.watcher("root")
	e.Arm(a, DataWatch, "/x", Recursive)
	e.Arm(a, DataWatch, "/x/y", Recursive|Standard)
	e.Arm(root, DataWatch, "/", Recursive)
	e.Arm(a, DataWatch, "/", Persistent)
	if got := e.Fire(Event{Type: wire.EventCreated, Path: "/x/y/z"}, 1); got != (Fired{DataWatch: 2}) {
		t.Errorf("fired %v, want two watchers", got)
	}
	e.Fire(Event{Type: wire.EventChildrenChanged, Path: "/x/y"}, 1)
	e.Fire(Event{Type: wire.EventDataChanged, Path: "/x/y"}, 2)
	e.Fire(Event{Type: wire.EventDataChanged, Path: "/xx"}, 3)
	e.Fire(Event{Type: wire.EventDataChanged, Path: "/"}, 4)
	e.want(t, "a: 1 /x/y/z @1", "root: 1 /x/y/z @1", "a: 3 /x/y @2", "root: 3 /x/y @2",
		"root: 3 /xx @3", "root: 3 / @4", "a: 3 / @4")
	e.Forget(root)
	e.Disarm(a, DataWatch, "/x", AnyMode)
	e.Disarm(a, DataWatch, "/x/y", Recursive)
	if e.recursive != 0 || e.Len() != 1 {
		t.Errorf("%d recursive watches of %d left, want 0 of 1", e.recursive, e.Len())
	}
}

func TestDisarmTakesOnlyItsModes(t *testing.T) {
	e := &ears{Watches: NewWatches()}
	a, b := e.watcher("a"), e.watcher("b")
	e.Arm(a, DataWatch, "/x", Standard|Persistent)
	e.Arm(b, DataWatch, "/x", Standard)
	for _, c := range []struct {
		w    *Watcher
		mode WatchMode
		want bool
	}{
		{a, Recursive, false}, {a, Standard, true}, {a, Standard, false},
		{b, Persistent, false}, {a, AnyMode, true}, {a, AnyMode, false},
	} {
		if got := e.Disarm(c.w, DataWatch, "/x", c.mode); got != c.want {
			t.Errorf("mode %d: %v, want %v", c.mode, got, c.want)
		}
	}
	var left []string
	for path, w := range e.All(DataWatch) {
		if left = append(left, path); w != b {
			t.Error("not b's watch")
		}
	}
	if !slices.Equal(left, []string{"/x"}) || e.Len() != 1 {
		t.Errorf("left over: %v", left)
	}
}
