package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/resulttest"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// shareOf makes a fake service do 500 rounds a second, measure a phase in only a share of them, and
// report the phase's 99th percentile if a run has enough observations.
func shareOf(s *sweep, share float64, p99 int64) {
	s.measure = func(_ context.Context, c sweeps.Cell) (*results.Run, error) {
		f := s.length.set(s.at[c.Level].Flags)
		run := synthetic(s.subjects[c.Subject].form, c.Level)
		run.DurationNS, run.Rounds = f.Run.Duration, int64(500*f.Run.Duration.Seconds())
		l := results.Latency{Count: int64(share * float64(run.Rounds)), Response: &results.Distribution{}}
		if l.Count >= 1000 {
			l.Response.P99 = &p99
		}
		run.Latency["acquire"] = l
		return run, nil
	}
}

// TestSearchMakesRunsLongEnough checks that runs with too few observations of the phase are
// repeated with a sufficient duration, in both loops, and do not count as "not met".
func TestSearchMakesRunsLongEnough(t *testing.T) {
	for name, line := range map[string]string{
		"closed": "--clients 2..16 --duration 500ms --seed 1",
		"open":   "--clients 8 --rate 500..600 --duration 500ms --seed 1",
	} {
		s := newFake(t, 1000, "--form predecessor --slo acquire.p99<50ms "+line)
		shareOf(s, 0.2, int64(time.Millisecond))
		table, file := sweepTo(t, s)
		if c := file.Capacities[0]; c.Level == 0 || c.Next != 0 || c.Undecided || c.Confidence < 0.95 {
			t.Errorf("%s: %+v, want the highest level:\n%s", name, c, table)
		}
		for i, r := range file.Runs[1:] {
			if i > 1 && r.Latency["acquire"].Count < 1000 {
				t.Errorf("%s: run %d of %v still has %d observations", name, i+1, r.DurationNS, r.Latency["acquire"].Count)
			}
		}
	}
}

// TestUndecidedSearchIsNoCapacity checks that a search whose runs cannot decide says so and exits
// with 97.
func TestUndecidedSearchIsNoCapacity(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*sweep)
		want  string
	}{
		"never observed": {func(s *sweep) { shareOf(s, 0, 0) }, "Undecided whether the form predecessor holds even 2 clients: 0 observations are too few for acquire.response.p99"},
		"unrepresentative": {func(s *sweep) {
			measure := s.measure
			s.measure = func(ctx context.Context, c sweeps.Cell) (*results.Run, error) {
				run, err := measure(ctx, c)
				if err == nil && c.Level.Clients > 4 {
					run.Doubts = []results.Warning{{Code: metrics.LittlesLaw, Text: "turns lost: many"}}
				}
				return run, err
			}
		}, "The form predecessor holds at least 4 clients at acquire.response.p99<50ms; undecided whether it holds 5 clients: turns lost: many."},
	} {
		s := newFake(t, 1000, "--clients 2..16 --form predecessor --slo acquire.p99<50ms --seed 1")
		c.spoil(s)
		var out bytes.Buffer
		outs, err := outputs.Flags{Formats: []string{"table"}}.Open(results.KindSweep, &out)
		if err != nil {
			t.Fatal(err)
		}
		err = s.finish(outs, s.all(t.Context()))
		if err == nil || cli.ExitCode(err) != cli.ExitInvalid || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v, want exit code %d and %q:\n%s", name, err, cli.ExitInvalid, c.want, &out)
		}
	}
}

// TestSearchWantsTwoRuns checks that a search needs two runs at a level: one cannot show how much
// runs scatter.
func TestSearchWantsTwoRuns(t *testing.T) {
	f := sweepFlags{repeat: 1, worseBy: 2, slo: []string{"acquire.p99<50ms"}}
	if err := f.check(); err == nil || cli.ExitCode(err) != cli.ExitUsage || !strings.Contains(err.Error(), "--repeat 1: must be at least 2 with --slo") {
		t.Errorf("%v", err)
	}
}

// A saved sweep whose runs are judged stays a sweep, and an undecided search is invalid whatever the thresholds
// say.
func TestAGateKeepsAnUndecidedSearch(t *testing.T) {
	s, path := resulttest.Undecided(), filepath.Join(t.TempDir(), "sweep.json")
	if err := archive.Write(path, s); err != nil {
		t.Fatal(err)
	}
	f := s.File
	f.Verdict = results.Pass
	judged, err := judgedResult(path, &f)
	if got, is := judged.(results.Sweep); err != nil || !is || got.Verdict != results.Invalid || f.Verdict != results.Invalid {
		t.Errorf("%T, %s: %v", judged, f.Verdict, err)
	}
}
