package journal

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/native/tree"
)

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	return openShort(t, dir, logLength, snapshotAfter)
}

// openShort opens a journal that begins a log and wants a snapshot at lengths of
// its own.
func openShort(t *testing.T, dir string, logLength, snapshotAfter int64) *Journal {
	t.Helper()
	j, err := openWith(dir, logLength, snapshotAfter)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// do appends, applies and awaits, so that each transaction is a batch.
func do(t *testing.T, j *Journal, x tree.Txn) {
	t.Helper()
	j.Append(&x)
	r, _ := j.Tree().Apply(x)
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

// What was appended and not awaited is in one batch or a few, and there after a
// close.
func TestCloseWritesWhatWasAppended(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	for _, x := range history() {
		j.Append(&x)
		j.Tree().Apply(x)
	}
	want := pictureOf(j.Tree())
	j.Close()
	if diff := cmp.Diff(want, pictureOf(open(t, dir).Tree())); diff != "" {
		t.Errorf("before and after (-want +got):\n%s", diff)
	}
}

func TestAwaitAfterTheEnd(t *testing.T) {
	j := open(t, t.TempDir())
	do(t, j, history()[0])
	j.Close()
	j.Append(&history()[1])
	if err := j.Await(1); err != nil {
		t.Errorf("what was written: %v", err)
	}
	if err := j.Await(2); !errors.Is(err, ErrClosed) {
		t.Errorf("what came too late: %v, want %v", err, ErrClosed)
	}
}
