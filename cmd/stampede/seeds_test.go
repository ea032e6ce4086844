package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
)

// seedsOf runs a command and returns the seeds of its runs, and its file.
func seedsOf(t *testing.T, line ...string) (seeds []uint64, file results.File) {
	t.Helper()
	if line[0] != "stampede" {
		t.Fatalf("%q is not a command of stampede", line)
	}
	c := exec.CommandContext(t.Context(), "stampede", append(line[1:], "-o", "json", "--quiet")...)
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr, c.Dir = &out, &problems, t.TempDir()
	if err := c.Run(); err != nil {
		t.Fatalf("%q: %v: %s", line, err, &problems)
	}
	file, err := results.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Runs {
		seeds = append(seeds, r.Seed)
	}
	return seeds, file
}

// TestEveryRunHasItsOwnSeed checks that every run has its own seed, so that no two have the same
// arrivals. The seed follows from the command's, so that the printed command has the same seeds
// again.
func TestEveryRunHasItsOwnSeed(t *testing.T) {
	const short = " --hold 0 --warmup 0s --rounds 20"
	for line, runs := range map[string]int{
		"stampede sweep lock --form predecessor --clients 2,4 --rate 500 --arrival poisson --repeat 3" + short: 6,
		"stampede run lock --form predecessor,one-node --clients 2,4" + short:                                  4,
	} {
		seeds, file := seedsOf(t, strings.Fields(line)...)
		different := slices.Compact(slices.Sorted(slices.Values(seeds)))
		if len(seeds) != runs || len(different) != runs || different[0] == 0 {
			t.Errorf("%s: seeds %d: want %d different ones", line, seeds, runs)
		}
		again, _ := seedsOf(t, file.Command...)
		if diff := cmp.Diff(seeds, again); diff != "" {
			t.Errorf("%q: other seeds (-first +again):\n%s", file.Command, diff)
		}
	}
}

// TestRunsOfASweepFollowFromItsSeed checks that a sweep without --seed draws one before it plans
// its runs, and that a resumed sweep takes the seed of the first.
func TestRunsOfASweepFollowFromItsSeed(t *testing.T) {
	drawn := newFake(t, 3, "--clients 2..16")
	_, file := sweepTo(t, drawn)
	resumed := newFake(t, 1000, "--clients 2..16 --resume "+file.State)
	for _, s := range []*sweep{drawn, resumed} {
		for level, j := range s.at {
			if file.Seed == 0 || j.Flags.Seed != file.Seed {
				t.Errorf("%+v: seed %d, want that of the sweep, %d", level, j.Flags.Seed, file.Seed)
			}
		}
	}
}
