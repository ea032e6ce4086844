package main

import (
	"context"
	"math"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// An election raises the epoch, and writes do not.
func TestElectionsAreCounted(t *testing.T) {
	testenv.SkipIfShort(t)
	b := &bench{scale: tiny()}
	defer func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	}()
	s, err := b.startEnsemble(t.Context(), nativeEnsemble)
	if err != nil {
		t.Fatal(err)
	}
	leader, err := awaitLeader(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var epochs [3]int64
	read := func(i int) {
		t.Helper()
		if epochs[i], err = epoch(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	read(0)
	if err := createNode(t.Context(), s, "/written"); err != nil {
		t.Fatal(err)
	}
	read(1)
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := createNode(t.Context(), s, "/after"); err != nil {
		t.Fatal(err)
	}
	if err := leader.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := awaitLeader(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	read(2)
	if epochs[0] < 1 || epochs[1] != epochs[0] || epochs[2] <= epochs[1] {
		t.Errorf("epochs %d before and after a write, %d after an election", epochs[:2], epochs[2])
	}
}

// createNode creates a node on a new session.
func createNode(ctx context.Context, s drivers.Service, path string) error {
	conns, err := dial(ctx, s, 1, drivers.Options{})
	if err != nil {
		return err
	}
	defer closeAll(conns)
	_, err = conns[0].Create(ctx, path, nil, 0)
	return err
}

func TestParseZxid(t *testing.T) {
	got, err := parseZxid("Zookeeper version: 3.8.0\nZxid: 0x30000000a\nMode: leader\n")
	if err != nil || got != 3<<32+10 {
		t.Errorf("got %x, %v", got, err)
	}
	for _, text := range []string{"", "Zxid: 0xnone\n", "This ZooKeeper instance is not currently serving requests\n"} {
		if got, err := parseZxid(text); err == nil {
			t.Errorf("%q: got %x", text, got)
		}
	}
}

// A figure that was not measured has no unit.
func TestAbsentFigures(t *testing.T) {
	for _, got := range []string{whole(math.NaN()), perSecond(math.NaN())} {
		if got != "n/a" {
			t.Errorf("%q, want n/a", got)
		}
	}
}
