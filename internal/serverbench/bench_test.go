package main

import (
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) {
	reexec.Dispatch(childRoles())
	os.Exit(m.Run())
}

// tiny includes every part, at the smallest size.
func tiny() scale {
	return scale{
		connections: 2, inFlight: 2, rounds: 1, window: 30 * time.Millisecond, loaded: 30 * time.Millisecond,
		watchers: 8, changes: 1,
		sessions: 8, releases: 3, quiet: time.Millisecond,
		parents: 2, children: 10,
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

// An election raises the epoch, and writes do not.
func TestElectionsAreCounted(t *testing.T) {
	testenv.SkipIfShort(t)
	sc := tiny()
	sc.ensembles = true
	b := &bench{scale: sc}
	defer func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	}()
	s, err := b.start(t.Context(), b.urls()[0])
	if err != nil {
		t.Fatal(err)
	}
	leader, err := awaitLeader(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	// epochOfWrite writes on a new session: another one may be on the killed member.
	epochOfWrite := func() int64 {
		t.Helper()
		conns, err := dial(t.Context(), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer closeAll(conns)
		e, err := epoch(t.Context(), conns[0])
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first, second := epochOfWrite(), epochOfWrite()
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	third := epochOfWrite()
	if first < 1 || second != first || third <= second {
		t.Errorf("epochs %d and %d of two writes, %d after an election", first, second, third)
	}
}
