package wal

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	return openLimited(t, dir, standard)
}

// openShort opens a journal with its own lengths for logs and snapshots.
func openShort(t *testing.T, dir string, logLength, snapshotAfter int64) *Journal {
	t.Helper()
	l := standard
	l.log, l.snapshot = logLength, snapshotAfter
	return openLimited(t, dir, l)
}

func openLimited(t *testing.T, dir string, l limits) *Journal {
	t.Helper()
	j, err := openWith(disktest.Unsynced{}, dir, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// do applies and awaits each transaction, so that each is a batch.
func do(t *testing.T, j *Journal, x tree.Txn) {
	t.Helper()
	r, _ := j.Apply(x)
	if err := j.Await(r.Zxid); err != nil {
		t.Fatal(err)
	}
}

func TestRecoversAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "for it")
	j := open(t, dir)
	for _, x := range history() {
		do(t, j, x)
	}
	want := pictureOf(j.Tree())
	if len(want.Sessions) != 1 || len(want.Ephemerals[7]) != 1 || len(want.Nodes) < 10 || len(want.Idle) != 1 {
		t.Fatalf("the history makes too little: %+v", want)
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j = open(t, dir)
		if diff := cmp.Diff(want, pictureOf(j.Tree())); diff != "" {
			t.Fatalf("before and after (-want +got):\n%s", diff)
		}
	}
	do(t, j, tree.Txn{Session: 7, Op: create("/a/s-", tree.Sequential)})
	if n := j.Tree().Find("/a/s-0000000003"); n == nil || n.Stat().Czxid != want.Zxid+1 {
		t.Errorf("what was written next is not /a/s-0000000003 with the next zxid")
	}
}

// Transactions that were applied and not awaited are in one batch or a few, and are on disk after
// Close.
func TestCloseWritesWhatWasApplied(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	for _, x := range history() {
		j.Apply(x)
	}
	want := pictureOf(j.Tree())
	j.Close()
	if diff := cmp.Diff(want, pictureOf(open(t, dir).Tree())); diff != "" {
		t.Errorf("before and after (-want +got):\n%s", diff)
	}
}

// Each transaction that is awaited before the next is a batch, and each batch is synced once.
func TestSyncs(t *testing.T) {
	j := open(t, t.TempDir())
	for range 5 {
		do(t, j, tree.Txn{Session: 7, Op: create("/a-", tree.Sequential)})
	}
	if n, _ := j.Dir().Syncs(); n != 5 {
		t.Errorf("%d syncs of 5 batches", n)
	}
}

func TestAwaitAfterTheEnd(t *testing.T) {
	j := open(t, t.TempDir())
	do(t, j, history()[0])
	j.Close()
	j.Apply(history()[1])
	if err := j.Await(1); err != nil {
		t.Errorf("what was written: %v", err)
	}
	if err := j.Await(2); !errors.Is(err, ErrClosed) {
		t.Errorf("what came too late: %v, want %v", err, ErrClosed)
	}
}

// A client has room up to the limits, and up to half of them while it has a transaction that is not
// on disk.
func TestRoom(t *testing.T) {
	for name, l := range map[string]limits{
		"transactions": {pending: 1 << 20, pendingOf: 4},
		"bytes":        {pending: 400, pendingOf: 1000},
	} {
		j := &Journal{limits: l, written: make(chan struct{})}
		j.gathers = sync.NewCond(&j.mu)
		for n, want := range []struct{ other, own bool }{{true, true}, {true, true}, {true, false}, {true, false}, {false, false}} {
			j.pending = load{bytes: n * 100, txns: n}
			if other, own := j.Room(0) == nil, j.Room(1) == nil; other != want.other || own != want.own {
				t.Errorf("%s, %d pending: room for another %v and for its own %v, want %v", name, n, other, own, want)
			}
		}
		wait := j.Room(1)
		j.fail(ErrClosed)
		<-wait
		if j.Room(1) != nil {
			t.Errorf("%s: a client waits for a journal that has ended", name)
		}
	}
}
