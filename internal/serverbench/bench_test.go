package main

import (
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) {
	reexec.Dispatch(roles())
	os.Exit(m.Run())
}

// tiny includes every part, at the smallest size.
func tiny() scale {
	return scale{
		connections: 2, outstanding: 2, rounds: 1, window: 30 * time.Millisecond, loaded: 30 * time.Millisecond,
		watchers: 8, changes: 1,
		sessions: 8, releases: 3, quiet: time.Millisecond,
		parents: 2, children: 10, restarts: 1,
	}
}

// Every row has a figure for both sides, a release of a lock notifies one client, and no files
// remain.
func TestEveryRowHasFigures(t *testing.T) {
	testenv.SkipIfShort(t)
	if _, err := zookeeper.FindInstallation(); errors.Is(err, zookeeper.ErrNotInstalled) {
		backendtest.Lacking(t, err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	b, err := open(t.Context(), tiny())
	if err != nil {
		t.Fatal(err)
	}
	r, err := measure(t.Context(), b, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
	rows := 0
	for _, table := range r.tables {
		for _, row := range table.rows {
			rows++
			for _, v := range []float64{row.left, row.right, row.ratio} {
				if !(v > 0) || math.IsInf(v, 0) {
					t.Errorf("%s: %+v, want figures above 0", row.what, row.comparison)
				}
			}
			if strings.HasPrefix(row.what, "notifications") && (row.left != 1 || row.right != 1) {
				t.Errorf("%s: %+v, want 1 on both", row.what, row.comparison)
			}
		}
	}
	if rows != 24 {
		t.Errorf("%d rows, want 24", rows)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// The same holds of the comparison of ensembles, in which elections are counted on one side only.
func TestEnsemblesHaveFigures(t *testing.T) {
	testenv.SkipIfShort(t)
	if _, err := zookeeper.FindInstallation(); errors.Is(err, zookeeper.ErrNotInstalled) {
		backendtest.Lacking(t, err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	sc := tiny()
	sc.ensembles = true
	b, err := open(t.Context(), sc)
	if err != nil {
		t.Fatal(err)
	}
	r, err := measure(t.Context(), b, io.Discard)
	if err := errors.Join(err, b.close()); err != nil {
		t.Fatal(err)
	}
	if len(r.tables) != 1 || len(r.tables[0].rows) != 7 {
		t.Fatalf("%+v, want one table of 7 rows", r.tables)
	}
	for _, row := range r.tables[0].rows[:5] {
		if !(row.left > 0 && row.right > 0) || math.IsInf(row.ratio, 0) {
			t.Errorf("%s: %+v, want figures above 0", row.what, row.comparison)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestWithoutZooKeeper(t *testing.T) {
	t.Setenv("ZOOKEEPER_HOME", t.TempDir())
	err := run(t.Context(), tiny(), io.Discard, io.Discard)
	if !errors.Is(err, zookeeper.ErrNotInstalled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line that says what is not installed", err)
	}
}

func TestTooFewFiles(t *testing.T) {
	err := enoughFiles(math.MaxUint64)
	if err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("got %v, want how to raise the limit", err)
	}
	if err := enoughFiles(1); err != nil {
		t.Error(err)
	}
}

// If a server ends before it serves, the error contains its last lines of output.
func TestServerThatEnds(t *testing.T) {
	b := &bench{dir: t.TempDir()}
	_, err := b.start(t.Context(), kind{"failing", func(*bench, string, string) ([]string, error) {
		return []string{"sh", "-c", "echo out of luck >&2; exit 1"}, nil
	}})
	if err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("got %v, want what it output", err)
	}
}
