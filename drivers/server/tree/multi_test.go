package tree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/wire"
)

func (l *log) multi(ops ...Op) Result {
	return l.apply(Txn{Session: 1, Time: 1000 + l.Zxid(), Op: Op{Kind: Multi}, Ops: ops})
}

func TestMultiAppliesAllWithOneZxid(t *testing.T) {
	l := newLog(t)
	r := l.multi(
		Op{Kind: Create, Path: "/a"},
		Op{Kind: Create, Path: "/a/n-", Mode: Sequential},
		Op{Kind: SetData, Path: "/a", Data: []byte("x"), Version: 0},
		Op{Kind: Check, Path: "/a", Version: 1},
		Op{Kind: Delete, Path: "/a/n-0000000000", Version: 0},
	)
	for i, op := range r.Ops {
		if op.Err != wire.OK {
			t.Errorf("operation %d: error %d", i, op.Err)
		}
	}
	if r.Ops[1].Path != "/a/n-0000000000" || r.Ops[2].Stat.Version != 1 {
		t.Errorf("results %+v", r.Ops)
	}
	if s := l.stat("/a"); r.Zxid != 1 || s.Czxid != 1 || s.Mzxid != 1 || s.Pzxid != 1 {
		t.Errorf("zxid %d, stat %+v; want 1 everywhere", r.Zxid, s)
	}
	l.wantEvents(
		Event{Type: wire.EventCreated, Path: "/a"}, Event{Type: wire.EventChildrenChanged, Path: "/"},
		Event{Type: wire.EventCreated, Path: "/a/n-0000000000"}, Event{Type: wire.EventChildrenChanged, Path: "/a"},
		Event{Type: wire.EventDataChanged, Path: "/a"},
		Event{Type: wire.EventDeleted, Path: "/a/n-0000000000"}, Event{Type: wire.EventChildrenChanged, Path: "/a"})
}

func TestFailedMultiLeavesNoTrace(t *testing.T) {
	l := newLog(t)
	l.open(1)
	l.do(Op{Kind: Create, Path: "/a", Data: []byte("before")}, wire.OK)
	for i := range 4 {
		l.create(fmt.Sprintf("/e%d", i), Ephemeral)
	}
	before := l.dump()
	r := l.multi(
		Op{Kind: SetData, Path: "/a", Data: []byte("after, and longer"), Version: 0},
		Op{Kind: SetACL, Path: "/a", Version: 0},
		Op{Kind: Delete, Path: "/e1", Version: 0},
		Op{Kind: Delete, Path: "/e2", Version: 0},
		Op{Kind: Create, Path: "/e1"},
		Op{Kind: Create, Path: "/e2", Mode: Ephemeral},
		Op{Kind: SetData, Path: "/e1", Data: []byte("new"), Version: 0},
		Op{Kind: Delete, Path: "/e0", Version: 0},
		Op{Kind: Create, Path: "/a/deep"},
		Op{Kind: Check, Path: "/a", Version: 0}, // the version is 1 by now
		Op{Kind: Create, Path: "/never"},
		Op{Kind: Check, Path: "/a", Version: 0},
	)
	var want []OpResult
	for i := range 12 {
		want = append(want, OpResult{})
		switch {
		case i == 9:
			want[i].Err = wire.ErrBadVersion
		case i > 9:
			want[i].Err = wire.ErrRuntimeInconsistency
		}
	}
	if diff := cmp.Diff(want, r.Ops); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, l.dump()); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}
	l.wantEvents()
	l.apply(Txn{Session: 1, Op: Op{Kind: CloseSession}})
	if got := l.Size(); got.Ephemerals != 0 || got.Nodes != 5 {
		t.Errorf("after the session: %+v, want /, /a and /zookeeper's three", got)
	}
}

// randomTxn returns transactions that conflict often.
func randomTxn(r *rand.Rand, now int64) Txn {
	x := Txn{Session: r.Int64N(3) + 1, Time: now, Op: randomOp(r)}
	if x.Session == 1 {
		x.Who = []Identity{{"digest", "u:h"}}
	}
	switch r.IntN(12) {
	case 0:
		x.Op = Op{Kind: OpenSession}
	case 1:
		x.Op = Op{Kind: CloseSession}
	case 2, 3, 4:
		x.Op = Op{Kind: Multi}
		for range r.IntN(6) {
			x.Ops = append(x.Ops, randomOp(r))
		}
	}
	return x
}

func randomOp(r *rand.Rand) Op {
	path := fmt.Sprintf("/%d", r.IntN(3))
	if r.IntN(2) == 0 {
		path += fmt.Sprintf("/%d", r.IntN(3))
	}
	acls := [][]wire.ACL{
		everyone,
		{{Perms: wire.PermAll, Scheme: "auth"}},
		{{Perms: wire.PermAll &^ (1 << r.Int32N(5)), Scheme: "world", ID: "anyone"}},
		{{Perms: wire.PermAll, Scheme: "nobody"}},
	}
	return Op{
		Kind: Kind(r.IntN(6)) + Create, Path: path, Mode: Mode(r.IntN(8)), ACL: acls[r.IntN(len(acls))],
		Data: make([]byte, r.IntN(4)), Version: r.Int32N(3) - 1,
	}
}

// wantDescendants checks the descendant counts of n and of each node below it, and returns n's.
func wantDescendants(t *testing.T, n *Node) (count int) {
	t.Helper()
	if n.children != nil {
		for _, c := range n.children.list {
			count += 1 + wantDescendants(t, c)
		}
	}
	if got := n.Descendants(); got != count {
		t.Fatalf("%s has %d descendants, want %d", n.path(), got, count)
	}
	return count
}

// The same transactions in the same order produce the same state, results and events. A multi that
// fails only takes a zxid.
func TestSameTransactionsSameState(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	one, two, without := newLog(t), newLog(t), newLog(t)
	failed := 0
	for i := range 20_000 {
		x := randomTxn(r, int64(i))
		a, b := one.apply(x), two.apply(x)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("transaction %d, %+v:\n%s", i, x, diff)
		}
		if diff := cmp.Diff(one.events, two.events); diff != "" {
			t.Fatalf("events of transaction %d, %+v:\n%s", i, x, diff)
		}
		if n := len(a.Ops); n > 0 && a.Ops[n-1].Err != wire.OK {
			failed++
			wantDescendants(t, one.root)
			x = Txn{Op: Op{Kind: Refuse}}
		}
		without.apply(x)
	}
	if diff := cmp.Diff(one.dump(), two.dump()); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	if diff := cmp.Diff(one.dump(), without.dump()); diff != "" {
		t.Errorf("failed multis left a trace:\n%s", diff)
	}
	if one.Size().Nodes < 10 || failed < 1000 {
		t.Errorf("%d nodes, %d failed multis: the test tried too little", one.Size().Nodes, failed)
	}
}
