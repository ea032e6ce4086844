package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// A fake is the service of sweeps that run nothing.
type fake struct{ drivers.Service }

func (fake) Info() drivers.Info { return drivers.Info{Name: "native", URL: "native:"} }

// synthetic returns the measurements of a fake run: the recipe can do 2000 a second, the naive form
// 300, and beyond that the times are too long. The result depends on the cell alone.
func synthetic(form workloads.Form, l sweeps.Level) *results.Run {
	could := map[workloads.Family]float64{workloads.Recipe: 2000, workloads.Naive: 300}[form.Family]
	run := &results.Run{Recipe: form.Recipe, Form: form.Name, Family: string(form.Family), Backend: results.Backend(fake{}.Info()),
		Clients: l.Clients, Groups: l.Groups, HoldNS: l.Hold, DurationNS: time.Second, Rounds: 5000,
		ThroughputPerS: could / float64(1+l.Clients), Phases: []string{"acquire", "handoff", "release"},
		Latency: map[string]results.Latency{}, Errors: map[string]int64{}, Warnings: []results.Warning{}, Intervals: []results.Interval{}}
	p99 := int64(10 * time.Millisecond)
	if l.Rate > 0 {
		run.Open = &results.Open{Rate: fmt.Sprint(l.Rate), Arrival: "constant"}
		if l.Rate > could {
			p99 = int64(time.Second)
		}
	}
	if form.Recipe == "mix" {
		run.Mix, run.ReadRatio = &results.Mix{Keys: 1000, KeysBy: "uniform", SizeBytes: 1000}, &results.ReadRatio{Asked: l.Reads}
		if l.Size > 0 {
			run.Mix.SizeBytes = l.Size
		}
		run.ThroughputPerS = 1000 * (1 + 2*l.Reads)
	}
	run.Latency["acquire"] = results.Latency{Count: 5000, Response: &results.Distribution{P99: &p99}}
	return run
}

// newFake prepares a sweep from a command line. Its runs come from synthetic, and it is interrupted
// after the given number of runs.
func newFake(t *testing.T, runs int, line string) *sweep {
	t.Helper()
	a := &app{forms: catalog.Forms(), out: new(bytes.Buffer), err: new(bytes.Buffer)}
	var f sweepFlags
	cmd := &cobra.Command{}
	f.registerAll(a, cmd)
	if err := cmd.ParseFlags(append(strings.Fields(line), "--no-save")); err != nil {
		t.Fatal(err)
	}
	f.given = spec.Changed(cmd.Flags())
	s, err := a.newSweep(cmd.Flags().Args(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range s.forms {
		s.subjects = append(s.subjects, subject{form: form.Form, service: fake{}})
	}
	s.measure = func(_ context.Context, c sweeps.Cell) (*results.Run, error) {
		if runs--; runs < 0 {
			return nil, workloads.ErrInterrupted
		}
		return synthetic(s.subjects[c.Subject].form, c.Level), nil
	}
	return s
}

// sweepTo runs the sweep. It returns the table and, for an interrupted sweep, its file.
func sweepTo(t *testing.T, s *sweep) (table string, file results.Sweep) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sweep.json")
	var out bytes.Buffer
	outs, err := outputs.Flags{Formats: []string{"table", "json=" + path}}.Open(results.KindSweep, &out)
	if err != nil {
		t.Fatal(err)
	}
	defer outs.Discard()
	if err := s.finish(outs, s.all(t.Context())); err != nil {
		t.Fatal(err)
	}
	if file, err = readSaved(path); err != nil {
		t.Fatal(err)
	}
	file.State = path
	_, table, _ = strings.Cut(out.String(), "\n") // without the heading, which has the time that it took
	return strings.ReplaceAll(table, path, "PATH"), file
}

// TestSweepContinue checks that a sweep that is interrupted anywhere and resumed shows the same as an
// uninterrupted one.
func TestSweepContinue(t *testing.T) {
	const never = 1000
	for name, line := range map[string]string{
		"levels": "--clients 2..16 --hold 0,1ms --repeat 2 --seed 5",
		"a mix":  "mix --clients 4 --reads 0..1 --consistency sync --size 100,1k --repeat 2 --seed 5",
		"search": "--clients 8 --rate 100..6400 --slo acquire.p99<50ms --repeat 3 --seed 5",
	} {
		want, whole := sweepTo(t, newFake(t, never, line))
		if whole.Interrupted {
			t.Fatalf("%s: it says that it was interrupted", name)
		}
		for after := 1; after < len(whole.Runs); after += 5 {
			table, file := sweepTo(t, newFake(t, after, line))
			if !file.Interrupted || len(file.Runs) != after || !strings.Contains(table, "--seed 5 ") || !strings.Contains(table, " --resume PATH") {
				t.Fatalf("%s: interrupted %v after %d runs, %d in the file:\n%s", name, file.Interrupted, after, len(file.Runs), table)
			}
			again := strings.Replace(line, "--seed 5", "--resume "+file.State, 1)
			got, resumed := sweepTo(t, newFake(t, never, again))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: interrupted after %d runs (-whole +resumed):\n%s", name, after, diff)
			}
			if diff := cmp.Diff(whole.Runs, resumed.Runs); diff != "" {
				t.Errorf("%s: other runs (-whole +resumed):\n%s", name, diff)
			}
		}
	}
}

// TestSweepRefusesAnothersFile checks that --resume rejects the file of another sweep.
func TestSweepRefusesAnothersFile(t *testing.T) {
	_, file := sweepTo(t, newFake(t, 3, "--clients 2..16 --seed 5"))
	a := &app{forms: catalog.Forms(), err: new(bytes.Buffer)}
	var f sweepFlags
	cmd := &cobra.Command{}
	f.registerAll(a, cmd)
	if err := cmd.ParseFlags([]string{"--clients", "2..32", "--resume", file.State}); err != nil {
		t.Fatal(err)
	}
	f.given = spec.Changed(cmd.Flags())
	if _, err := a.newSweep(nil, f); err == nil || cli.ExitCode(err) != cli.ExitUsage || !strings.Contains(err.Error(), "it belongs to another sweep: stampede sweep lock --clients 2..16") {
		t.Errorf("resumed with other flags: %v", err)
	}
}

// TestSweepRefusesAnotherCell checks that --resume rejects a file in which a run does not match its
// cell, such as a mix with another share of reads.
func TestSweepRefusesAnotherCell(t *testing.T) {
	const line = "mix --clients 4 --reads 0,1 --repeat 1"
	_, file := sweepTo(t, newFake(t, 1, line+" --seed 5"))
	s := newFake(t, 1, line+" --resume "+file.State)
	s.resumed.Runs[0].ReadRatio.Asked = 0.5
	err := s.all(t.Context())
	if err == nil || cli.ExitCode(err) != cli.ExitUsage || !strings.Contains(err.Error(), "run 1 of it is mix/operations with 4 clients, a share of 0.5 reads ") {
		t.Errorf("resumed with another share: %v", err)
	}
}

// TestSweepSearches checks that a search finds the capacity of each form, within the precision of
// the grid.
func TestSweepSearches(t *testing.T) {
	table, file := sweepTo(t, newFake(t, 1000, "--clients 8 --rate 100..6400 --slo acquire.p99<50ms --seed 1"))
	if len(file.Capacities) != 2 {
		t.Fatalf("%d capacities", len(file.Capacities))
	}
	for _, c := range file.Capacities {
		could := map[string]float64{"recipe": 2000, "naive": 300}[c.Family]
		if c.Level > could || c.Next <= could || c.Next > 1.06*c.Level || c.Held.Met < 3 || c.Held.Met != c.Held.Of || c.Confidence != 1 || c.After.Met != 0 || c.Undecided {
			t.Errorf("%+v, and it could do %v", c, could)
		}
	}
	if !strings.Contains(table, "The form predecessor holds") || !strings.Contains(table, "; the naive form") {
		t.Errorf("no sentence:\n%s", table)
	}
}

// TestSweepSavesWhatBreaks checks that a sweep that ends with another error is saved as well, and
// still returns the error. Nodes that remain of the run that it discards are a warning of the result.
func TestSweepSavesWhatBreaks(t *testing.T) {
	s := newFake(t, 1000, "--clients 2..16 --seed 5")
	measure, broken := s.measure, errors.New("broken")
	s.measure = func(ctx context.Context, c sweeps.Cell) (*results.Run, error) {
		run, err := measure(ctx, c)
		if len(s.file.Runs) == 4 {
			for _, code := range []string{metrics.Stalled, metrics.NodesRemain} {
				run.Warnings = append(run.Warnings, results.Warning{Code: code, Text: "of " + code})
			}
			return run, broken
		}
		return run, err
	}
	path := filepath.Join(t.TempDir(), "sweep.json")
	outs, err := outputs.Flags{Formats: []string{"json=" + path}}.Open(results.KindSweep, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.finish(outs, s.all(t.Context())); !errors.Is(err, broken) {
		t.Errorf("broken, and it says %v", err)
	}
	file, err := readSaved(path)
	if err != nil || len(file.Runs) != 4 || !file.Interrupted {
		t.Errorf("%d runs saved, %v", len(file.Runs), err)
	}
	if all := document.New(file).AllWarnings(); len(all) != 1 || all[0] != (document.Warning{Kind: metrics.NodesRemain, Text: "of " + metrics.NodesRemain}) {
		t.Errorf("warnings %+v, want one of nodes that remain", all)
	}
}
