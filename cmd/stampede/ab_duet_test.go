package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/duet"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// TestAbDuetMeasuresInTheSameSeconds checks that the windows of a pair coincide, that the sides have
// disjoint processors, which they exchange in the middle, and that counts are as exact as by turns.
func TestAbDuetMeasuresInTheSameSeconds(t *testing.T) {
	testenv.SkipIfShort(t)
	needsTwoProcessors(t)
	const window = 600 * time.Millisecond
	// The bound holds for most pairs on a machine that runs other tests; on an idle one they are within a
	// few ms. Windows that do not wait for each other open 600 ms apart or more.
	const bound = 300 * time.Millisecond
	c, _ := ab(t, "lock/predecessor", "lock/one-node warmup=600ms", "--duet", "--metric", "notifications_per_round",
		"--pairs", "6", "--clients", "4", "--hold", "0", "--warmup", "0", "--duration", window.String(), "--seed", "3")
	if c.Duet == nil || len(c.Duet.Pairs) != 6 || len(c.NewFirst) != 6 || len(c.Base.Runs) != 6 || len(c.New.Runs) != 6 {
		t.Fatalf("%+v, %d orders, %d and %d runs", c.Duet, len(c.NewFirst), len(c.Base.Runs), len(c.New.Runs))
	}
	halves := c.Duet.Processors
	if len(halves[0]) == 0 || len(halves[0]) != len(halves[1]) || slices.ContainsFunc(halves[0], func(p int) bool { return slices.Contains(halves[1], p) }) {
		t.Errorf("processors %v", halves)
	}
	var apart, longer, late []time.Duration
	for i, p := range c.Duet.Pairs {
		base, other := c.Base.Runs[i], c.New.Runs[i]
		apart, late = append(apart, p.ApartNS), append(late, p.SwappedNS-window/2)
		longer = append(longer, (base.DurationNS - other.DurationNS).Abs())
		if p.SwappedNS < (window-p.ApartNS)/2 {
			t.Errorf("pair %d: processors exchanged after %v of %v", i+1, p.SwappedNS, window)
		}
		if base.Order != i+1 || other.Order != i+1 || base.Seed != other.Seed {
			t.Errorf("pair %d: orders %d and %d, seeds %d and %d", i+1, base.Order, other.Order, base.Seed, other.Seed)
		}
		if base.Backend.Started != "own process" || other.Backend.Started != "own process" {
			t.Errorf("pair %d: servers %q and %q", i+1, base.Backend.Started, other.Backend.Started)
		}
		for _, r := range []results.Run{base, other} {
			if e := r.Cost.Expected; r.Rounds == 0 || e == nil || slices.ContainsFunc(e.Identities, func(i results.Identity) bool { return !i.Holds }) {
				t.Errorf("pair %d: %d rounds of %s, %+v", i+1, r.Rounds, r.Form, e)
			}
		}
	}
	for what, of := range map[string][]time.Duration{"windows opened apart by": apart, "windows differed by": longer, "processors were exchanged late by": late} {
		if slices.Sort(of); of[len(of)/2] > bound {
			t.Errorf("%s %v, want at most %v in half of the pairs", what, of, bound)
		}
	}
	if change := c.Changes[0]; change.Verdict != results.Regression || change.Base > 1.1 {
		t.Errorf("%+v", change)
	}
	if !slices.Contains(c.NewFirst, true) || !slices.Contains(c.NewFirst, false) {
		t.Errorf("the candidate began on the same half in all pairs: %v", c.NewFirst)
	}
}

func needsTwoProcessors(t *testing.T) {
	t.Helper()
	if _, err := duet.OfThisMachine(); err != nil {
		t.Skip(err)
	}
}

// TestAbDuetInterrupted checks that an interrupted duet decides nothing and leaves nothing behind, both
// while it measures and while one side waits for the other.
func TestAbDuetInterrupted(t *testing.T) {
	testenv.SkipIfShort(t)
	needsTwoProcessors(t)
	for name, candidate := range map[string]string{"measuring": "lock", "waiting": "lock warmup=1h"} {
		t.Run(name, func(t *testing.T) {
			one, watchesOne := given(t)
			two, watchesTwo := given(t)
			file := filepath.Join(t.TempDir(), "ab.json")
			var stderr bytes.Buffer
			run := exec.CommandContext(t.Context(), "stampede", "ab", "lock zookeeper://"+one, candidate+" zookeeper://"+two, "--duet",
				"--clients", "4", "--warmup", "0", "--duration", "1h", "-o", "json="+file)
			run.Stderr, run.Dir = &stderr, filepath.Dir(file)
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			awaitHolder(t, watchesOne)
			awaitHolder(t, watchesTwo)
			if err := run.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("%v, want exit code 130; stderr: %s", err, &stderr)
			}
			wantUndecided(t, file)
			if _, there, err := watchesOne.Exists(t.Context(), namespace.Default, nil); err != nil || there {
				t.Errorf("%s is there on the base's service: %v, %v", namespace.Default, there, err)
			}
			if _, there, err := watchesTwo.Exists(t.Context(), namespace.Default, nil); err != nil || there {
				t.Errorf("%s is there on the candidate's service: %v, %v", namespace.Default, there, err)
			}
			if left := processesIn(t, run.Dir); len(left) > 0 {
				t.Errorf("processes left behind: %v", left)
			}
		})
	}
}

// processesIn returns the processes whose working directory this is.
func processesIn(t *testing.T, dir string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range all {
		if to, err := os.Readlink(link); err == nil && to == dir {
			found = append(found, filepath.Dir(link))
		}
	}
	return found
}

// TestDuetLeavesOutTheOtherSide checks that the processor time of the other side is not taken for that
// of foreign programs, that foreign programs still are, and that other doubts stay.
func TestDuetLeavesOutTheOtherSide(t *testing.T) {
	side := func(own, started, others float64) results.Run {
		doubts := []results.Warning{{Code: metrics.Others, Numbers: map[string]float64{"others_cores": others, "machine_cores": 4}}, {Code: metrics.Starved}}
		return results.Run{Generator: results.Generator{CPUCores: own, Machine: &results.Machine{Cores: 4, StartedCores: started, OtherCores: others}},
			Warnings: append([]results.Warning{{Code: metrics.Shared}}, doubts...), Doubts: slices.Clone(doubts)}
	}
	codes := func(all []results.Warning) (words []string) {
		for _, w := range all {
			words = append(words, w.Code)
		}
		return words
	}
	alone, beside := []string{metrics.Starved}, []string{metrics.Others, metrics.Starved}
	for _, c := range []struct {
		foreign float64
		want    []string
	}{{0, alone}, {0.5, alone}, {0.7, beside}} {
		runs := [2]results.Run{side(0.75, 1, 1.5+c.foreign), side(0.5, 1, 1.75+c.foreign)}
		excludeOtherSide(&runs)
		for i, r := range runs {
			if got := r.Generator.Machine.OtherCores; got < c.foreign-1e-9 || got > c.foreign+1e-9 {
				t.Errorf("side %d: other programs used %v, want %v", i, got, c.foreign)
			}
			if !slices.Equal(codes(r.Doubts), c.want) || !slices.Equal(codes(r.Warnings), c.want) {
				t.Errorf("side %d, foreign %v: doubts %v, warnings %v, want %v", i, c.foreign, codes(r.Doubts), codes(r.Warnings), c.want)
			}
			if c.foreign == 0.7 && (r.Doubts[0].Numbers["others_cores"] != r.Generator.Machine.OtherCores || r.Doubts[0].Text == "") {
				t.Errorf("side %d: %+v", i, r.Doubts[0])
			}
		}
	}
}
