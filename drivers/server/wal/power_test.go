package wal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

func openSim(t *testing.T, d *disktest.Disk) *Journal {
	t.Helper()
	j, err := OpenOn(d, d.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// State that a server recovered and showed survives a loss of power, even if its sync had failed
// and the system kept it in memory as if it were written.
func TestRecoveredIsWrittenAgain(t *testing.T) {
	d := disktest.New(t, t.TempDir())
	j := openSim(t, d)
	x := history()
	for i := range 3 {
		do(t, j, x[i])
	}
	d.Syncs = 0
	r, _ := j.Apply(x[3])
	if err := j.Await(r.Zxid); !errors.Is(err, disktest.ErrSync) {
		t.Fatalf("got %v, want %v", err, disktest.ErrSync)
	}
	j.Close()

	j = openSim(t, d)
	if got := j.Tree().Zxid(); got != 4 {
		t.Fatalf("zxid %d, want 4: what failed to be written can be read", got)
	}
	do(t, j, x[4])
	shown := pictureOf(j.Tree())
	j.Close()

	j = openSim(t, d.LosePower(rand.New(rand.NewPCG(1, 1))))
	defer j.Close()
	if diff := cmp.Diff(shown, pictureOf(j.Tree())); diff != "" {
		t.Errorf("what was shown and what is left (-want +got):\n%s", diff)
	}
}

// After a loss of power at any step, all confirmed or recovered transactions are there, possibly
// some later ones, and nothing else.
func TestPowerFailsAnywhere(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 10
	}
	for name, begin := range map[string]func(t *testing.T) (dir string, zxid int64){
		"new":     func(t *testing.T) (string, int64) { return t.TempDir(), 0 },
		"written": func(t *testing.T) (string, int64) { return writtenHistory(t), int64(len(history())) },
	} {
		t.Run(name, func(t *testing.T) {
			completed := false
			for steps := 0; !completed; steps += stride {
				dir, zxid := begin(t)
				d := disktest.New(t, dir)
				d.Steps = steps
				shown := zxid
				completed = useSim(d, &shown)
				wantShown(t, fmt.Sprint("power fails at step ", steps), d, zxid, shown)
			}
		})
	}
}

// The same holds if a sync fails and servers are restarted before the power fails.
func TestSyncFailsAnywhere(t *testing.T) {
	completed := false
	for syncs := 0; !completed; syncs++ {
		d := disktest.New(t, t.TempDir())
		d.Syncs = syncs
		shown := int64(0)
		completed = useSim(d, &shown)
		wantShown(t, fmt.Sprint("sync ", syncs, " fails"), d, 0, shown)
	}
}

// wantShown cuts the power and checks that all the state that was shown is recovered.
func wantShown(t *testing.T, when string, d *disktest.Disk, history, shown int64) {
	t.Helper()
	j := openSim(t, d.LosePower(rand.New(rand.NewPCG(2, uint64(shown)))))
	defer j.Close()
	if got := j.Tree().Zxid(); got < shown {
		t.Fatalf("%s: zxid %d, and %d was shown", when, got, shown)
	}
	if diff := cmp.Diff(pictureOf(after(history, j.Tree().Zxid())), pictureOf(j.Tree())); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", when, diff)
	}
}

// useSim begins logs, saves snapshots and reopens the journal. It returns true if nothing failed.
// Clients may have seen everything up to the zxid shown.
func useSim(d *disktest.Disk, shown *int64) bool {
	l := standard
	l.log, l.snapshot = 300, 600
	failed := false
	for range 3 {
		j, err := openWith(d, d.Dir, l)
		if err != nil {
			failed = true
			continue
		}
		*shown = max(*shown, j.Tree().Zxid())
		for range 25 {
			r, _ := j.Apply(randomTxn(j.Tree().Zxid() + 1))
			if j.Await(r.Zxid) == nil {
				*shown = r.Zxid
			}
			select {
			case <-j.Due():
				save(j)
			default:
			}
		}
		failed = failed || j.Err() != nil
		j.Close()
	}
	return !failed
}

// after returns the tree at the zxid: the transactions of history up to the first zxid, then those
// of useSim.
func after(history, zxid int64) *tree.Tree {
	t := tree.New()
	for t.Zxid() < zxid {
		if t.Zxid() < history {
			t.Apply(historyTxn(t.Zxid() + 1))
		} else {
			t.Apply(randomTxn(t.Zxid() + 1))
		}
	}
	return t
}

func historyTxn(zxid int64) tree.Txn { return history()[zxid-1] }

// writtenHistory returns a directory with the transactions of history in several logs, with a snapshot in
// the middle.
func writtenHistory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	j := openShort(t, dir, 100, standard.snapshot)
	defer j.Close()
	for i, x := range history() {
		do(t, j, x)
		if i == len(history())/2 {
			save(j)
		}
	}
	return dir
}
