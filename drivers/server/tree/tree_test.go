package tree

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A log applies transactions and keeps the events of the last one.
type log struct {
	*Tree
	t      *testing.T
	events []Event
}

func newLog(t *testing.T) *log { return &log{Tree: New(), t: t} }

// apply gives created nodes without an ACL the open ACL.
func (l *log) apply(x Txn) Result {
	x.ACL = orEveryone(x.ACL)
	x.Ops = slices.Clone(x.Ops)
	for i := range x.Ops {
		x.Ops[i].ACL = orEveryone(x.Ops[i].ACL)
	}
	r, events := l.Apply(x)
	l.events = slices.Clone(events)
	for i := range l.events {
		l.events[i].Node = nil // not compared
	}
	return r
}

func orEveryone(acl []wire.ACL) []wire.ACL {
	if acl == nil {
		return everyone
	}
	return acl
}

// do applies one operation of session 1 and checks its error.
func (l *log) do(op Op, want wire.Err) Result {
	l.t.Helper()
	r := l.apply(Txn{Session: 1, Time: 1000 + l.Zxid(), Op: op})
	if r.Err != want {
		l.t.Errorf("%+v: error %d, want %d", op, r.Err, want)
	}
	return r
}

func (l *log) create(path string, mode Mode) string {
	l.t.Helper()
	return l.do(Op{Kind: Create, Path: path, Mode: mode}, wire.OK).Path
}

func (l *log) open(id int64) { l.apply(Txn{Session: id, Op: Op{Kind: OpenSession}}) }

func (l *log) wantEvents(want ...Event) {
	l.t.Helper()
	if !slices.Equal(l.events, want) {
		l.t.Errorf("events %v, want %v", l.events, want)
	}
}

func (l *log) stat(path string) wire.Stat {
	l.t.Helper()
	n := l.Find(path)
	if n == nil {
		l.t.Fatalf("no node %s", path)
	}
	return n.Stat()
}

// dump returns the whole state in a comparable form.
func (t *Tree) dump() []string {
	lines := []string{fmt.Sprintf("%+v", t.size)}
	var walk func(n *Node)
	walk = func(n *Node) {
		lines = append(lines, fmt.Sprintf("%s %q %+v %v, %d below", n.path(), n.Data(), n.Stat(), n.ACL(), n.Descendants()))
		if n.children != nil {
			for _, c := range n.children.list {
				walk(c)
			}
		}
	}
	walk(t.root)
	for n, life := range t.mortal {
		lines = append(lines, fmt.Sprintf("mortal %s %d", n.path(), life))
	}
	for id, s := range t.sessions {
		line := fmt.Sprintf("session %d:", id)
		for n := s.first; n != nil; n = n.owned.next {
			line += " " + n.path()
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func TestStatFollowsWrites(t *testing.T) {
	l := newLog(t)
	l.do(Op{Kind: Create, Path: "/a", Data: []byte("one")}, wire.OK) // zxid 1, time 1000
	l.do(Op{Kind: SetData, Path: "/a", Data: []byte("three"), Version: 0}, wire.OK)
	l.create("/a/x", 0)
	l.create("/a/y", 0)
	l.do(Op{Kind: Delete, Path: "/a/x", Version: AnyVersion}, wire.OK)
	l.do(Op{Kind: SetACL, Path: "/a", Version: 0}, wire.OK)
	l.wantEvents()
	want := wire.Stat{Czxid: 1, Mzxid: 2, Pzxid: 5, Ctime: 1000, Mtime: 1001,
		Version: 1, Aversion: 1, Cversion: 3, DataLength: 5, NumChildren: 1}
	if got := l.stat("/a"); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := string(l.Find("/a").Data()); got != "three" {
		t.Errorf("data %q", got)
	}
}

func TestFailedWritesTakeAZxidAndChangeNothing(t *testing.T) {
	l := newLog(t)
	l.create("/a", 0)
	l.create("/a/b", 0)
	before, zxid := l.dump(), l.Zxid()
	for _, c := range []struct {
		op   Op
		want wire.Err
	}{
		{Op{Kind: Create, Path: "/a"}, wire.ErrNodeExists},
		{Op{Kind: Create, Path: "/"}, wire.ErrNodeExists},
		{Op{Kind: Create, Path: "/none/x"}, wire.ErrNoNode},
		{Op{Kind: Create, Path: "/a/"}, wire.ErrBadArguments},
		{Op{Kind: Create, Path: "/a/."}, wire.ErrBadArguments},
		{Op{Kind: Create, Path: "a"}, wire.ErrBadArguments},
		{Op{Kind: Create, Path: "/e", Mode: Ephemeral}, wire.ErrSessionExpired},
		{Op{Kind: Delete, Path: "/none", Version: AnyVersion}, wire.ErrNoNode},
		{Op{Kind: Delete, Path: "/a", Version: 1}, wire.ErrBadVersion},
		{Op{Kind: Delete, Path: "/a", Version: AnyVersion}, wire.ErrNotEmpty},
		{Op{Kind: Delete, Path: "/zookeeper/quota", Version: AnyVersion}, wire.ErrBadArguments},
		{Op{Kind: SetData, Path: "/none", Version: AnyVersion}, wire.ErrNoNode},
		{Op{Kind: SetData, Path: "/a", Version: 7}, wire.ErrBadVersion},
		{Op{Kind: SetData, Path: "", Version: AnyVersion}, wire.ErrBadArguments},
		{Op{Kind: SetACL, Path: "/a", Version: 7}, wire.ErrBadVersion},
		{Op{Kind: Check, Path: "/a", Version: 7}, wire.ErrBadVersion},
		{Op{Kind: Check, Path: "/none", Version: 0}, wire.ErrNoNode},
		{Op{Kind: Refuse, Err: wire.ErrInvalidACL}, wire.ErrInvalidACL},
	} {
		zxid++
		if r := l.do(c.op, c.want); r.Zxid != zxid {
			t.Errorf("%+v: zxid %d, want %d", c.op, r.Zxid, zxid)
		}
		l.wantEvents()
	}
	if diff := cmp.Diff(before, l.dump()); diff != "" {
		t.Errorf("state changed:\n%s", diff)
	}
}

func TestSequenceCountsAllCreates(t *testing.T) {
	l := newLog(t)
	l.create("/q", 0)
	l.create("/q/plain", 0)
	if got, want := l.create("/q/n-", Sequential), "/q/n-0000000001"; got != want {
		t.Errorf("after one plain create: %s, want %s", got, want)
	}
	l.do(Op{Kind: Delete, Path: "/q/plain", Version: AnyVersion}, wire.OK)
	if got, want := l.create("/q/", Sequential), "/q/0000000002"; got != want {
		t.Errorf("after a delete: %s, want %s", got, want)
	}
	l.do(Op{Kind: Create, Path: "/q/0000000002"}, wire.ErrNodeExists)
	if got, want := l.create("/q/n-", Sequential), "/q/n-0000000003"; got != want {
		t.Errorf("after a failed create: %s, want %s", got, want)
	}
	if got := l.stat("/q").Cversion; got != 2*4-3 {
		t.Errorf("cversion %d, want 5", got)
	}
	if got, want := l.create("/", Sequential), "/0000000001"; got != want {
		t.Errorf("at the root: %s, want %s", got, want)
	}
}

func TestSequenceWraps(t *testing.T) {
	l := newLog(t)
	l.create("/q", 0)
	l.create("/q/first", 0)
	l.Find("/q").children.creates = 1<<31 - 1
	var got []string
	for range 3 {
		got = append(got, l.create("/q/n", Sequential))
	}
	want := []string{"/q/n2147483647", "/q/n-2147483648", "/q/n-2147483647"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEphemeralsGoWithTheirSession(t *testing.T) {
	l := newLog(t)
	l.open(1)
	l.open(2)
	l.create("/d", 0)
	for _, name := range []string{"/d/b", "/d/a", "/d/c", "/d/d"} {
		l.create(name, Ephemeral)
	}
	l.apply(Txn{Session: 2, Op: Op{Kind: Create, Path: "/d/other", Mode: Ephemeral}})
	l.do(Op{Kind: Delete, Path: "/d/a", Version: AnyVersion}, wire.OK)
	l.do(Op{Kind: Create, Path: "/d/b/x"}, wire.ErrNoChildrenForEphemerals)
	if got := l.stat("/d/b").EphemeralOwner; got != 1 {
		t.Errorf("owner %d, want 1", got)
	}
	if got := l.Size(); got.Ephemerals != 4 || got.Sessions != 2 {
		t.Errorf("size %+v, want 4 ephemerals of 2 sessions", got)
	}

	zxid := l.Zxid()
	r := l.apply(Txn{Session: 1, Op: Op{Kind: CloseSession}})
	if r.Err != wire.OK || r.Zxid != zxid+1 {
		t.Errorf("closing took zxid %d, error %d; want one transaction", r.Zxid, r.Err)
	}
	l.wantEvents(
		Event{Type: wire.EventDeleted, Path: "/d/b"}, Event{Type: wire.EventChildrenChanged, Path: "/d"},
		Event{Type: wire.EventDeleted, Path: "/d/c"}, Event{Type: wire.EventChildrenChanged, Path: "/d"},
		Event{Type: wire.EventDeleted, Path: "/d/d"}, Event{Type: wire.EventChildrenChanged, Path: "/d"})
	if got := slices.Collect(l.Find("/d").Children()); !slices.Equal(got, []string{"other"}) {
		t.Errorf("left over: %v, want the other session's", got)
	}
	if r := l.apply(Txn{Session: 1, Op: Op{Kind: CloseSession}}); r.Err != wire.ErrSessionExpired {
		t.Errorf("closing twice: error %d", r.Err)
	}
	if got := l.stat("/d").Pzxid; got != zxid+1 {
		t.Errorf("pzxid %d, want that of the closing, %d", got, zxid+1)
	}
}

func TestEventsOfEachWrite(t *testing.T) {
	l := newLog(t)
	l.create("/a", 0)
	l.wantEvents(Event{Type: wire.EventCreated, Path: "/a"}, Event{Type: wire.EventChildrenChanged, Path: "/"})
	l.create("/a/b", 0)
	l.wantEvents(Event{Type: wire.EventCreated, Path: "/a/b"}, Event{Type: wire.EventChildrenChanged, Path: "/a"})
	l.do(Op{Kind: SetData, Path: "/a/b", Version: AnyVersion}, wire.OK)
	l.wantEvents(Event{Type: wire.EventDataChanged, Path: "/a/b"})
	l.do(Op{Kind: Check, Path: "/a/b", Version: 1}, wire.OK)
	l.wantEvents()
	l.do(Op{Kind: Delete, Path: "/a/b", Version: 1}, wire.OK)
	l.wantEvents(Event{Type: wire.EventDeleted, Path: "/a/b"}, Event{Type: wire.EventChildrenChanged, Path: "/a"})
}

func TestValidPath(t *testing.T) {
	for _, path := range []string{"/", "/a", "/a/b", "/a.b", "/..a", "/ä", "/a b", "/\u2603"} {
		if !ValidPath(path) {
			t.Errorf("%q is a path", path)
		}
	}
	for _, path := range []string{"", "a", "//", "/a/", "/a//b", "/.", "/a/..", "/../a",
		"/a\x00", "/\x1f", "/\x7f", "/\u009f", "/\ue000", "/\ufff0", "/\U0001f600", "/\xff"} {
		if ValidPath(path) {
			t.Errorf("%q is no path", path)
		}
	}
}

func TestFindTakesOnlyWholePaths(t *testing.T) {
	l := newLog(t)
	l.create("/a", 0)
	l.create("/a/b", 0)
	for _, path := range []string{"a", "/a/", "//a", "/a//b", "/a/b/", "/b", "/a/b/c"} {
		if l.Find(path) != nil {
			t.Errorf("found a node at %q", path)
		}
	}
	if l.Find("/") == nil || l.Find("") != l.Find("/") || l.Find("/a/b") == nil || l.Find("/zookeeper/config") == nil {
		t.Error("a node is missing")
	}
}
