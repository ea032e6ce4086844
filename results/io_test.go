package results_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// TestWriteRead checks that a result is the same after it is written and read.
func TestWriteRead(t *testing.T) {
	want := resulttest.FileOf(resulttest.Herding(resulttest.Native())...)
	var b bytes.Buffer
	if err := results.WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := results.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read something else than was written (-want +got):\n%s", diff)
	}
}

// TestReadRefuses checks that each invalid file gets one clear line.
func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "not a result file"},
		"truncated": {`{"schema": 1, "runs": [`, "not a result file"},
		"no JSON":   {"hand-off p99\n210 µs\n", "not a result file"},
		"no schema": {`{"runs": []}`, "no schema"},
		"newer":     {`{"schema": 5, "kind": "run", "runs": []}`, "of schema 5: this stampede reads schema 4"},
		// A newer schema may have changed a type: the error must still name the schema.
		"newer and different": {`{"schema": 5, "runs": {"a": 1}}`, "of schema 5: this stampede reads schema 4"},
		"wrong type":          {`{"schema": 4, "kind": "run", "runs": [{"clients": "many"}]}`, "not a result file: runs.clients must not be a string"},
		"no runs":             {`{"schema": 4, "kind": "run", "runs": []}`, "not the file of a run: it has no runs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := results.Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, not one line with %q", err, c.want)
			}
		})
	}
}

// TestReadKeepsADuetOfAnEarlierVersion checks that a comparison whose runs were at the same time is still read with all of its
// figures, and says that it was one: a command that no version has any more is not offered to repeat it.
func TestReadKeepsADuetOfAnEarlierVersion(t *testing.T) {
	want := resulttest.Comparison()
	var b bytes.Buffer
	if err := results.WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(b.String(), `"paired": true,`, `"paired": true, "duet": {"processors": [[0], [1]], "pairs": [{"apart_ns": 1000, "swapped_ns": 5000}]},`, 1)
	got, err := results.ReadAny(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := got.(results.Comparison)
	if len(c.Warnings) != len(want.Warnings)+1 || c.Warnings[len(want.Warnings)].Code != results.RanTogether || c.Command != nil {
		t.Errorf("warnings %+v, command %q", c.Warnings, c.Command)
	}
	c.Warnings, c.Command = want.Warnings, want.Command
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("read something else than was written (-want +got):\n%s", diff)
	}
}

// TestHDRIsReadable checks that other tools can read a histogram.
func TestHDRIsReadable(t *testing.T) {
	run := resulttest.Herding(resulttest.Native())[3]
	d := run.Latency["handoff"].Response
	h, err := hdrhistogram.Decode([]byte(d.HDR))
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != run.Rounds || h.ValueAtQuantile(99) != *d.P99 {
		t.Errorf("decoded %d values with p99 %d, not %d and %d", h.TotalCount(), h.ValueAtQuantile(99), run.Rounds, *d.P99)
	}
}

// TestTimelineIsAMean checks that the bins are means over the triggers, not sums.
func TestTimelineIsAMean(t *testing.T) {
	r := resulttest.Herding(resulttest.Native())[3].Herd.Timeline
	if r.Triggers != 2 || r.FromNS != -10*r.BinNS || len(r.Reads) != 100 || len(r.Writes) != 100 || r.Notifications[10] != 99 {
		t.Errorf("%+v, want 99 notifications at zero", r)
	}
	if l := results.FromRecord(results.Setting{}, &metrics.Record{}).Herd.Timeline; l != nil {
		t.Errorf("%+v without triggers, want none", l)
	}
}

// TestFanoutKeepsItsSign checks that times before the acknowledgement are negative in the file too.
func TestFanoutKeepsItsSign(t *testing.T) {
	run := resulttest.FannedOut("one-shot", 5, 0, nil, 4*time.Millisecond)
	a := run.Fanout.FromAck
	if a.First.Max > -1_990_000 || *a.First.P99 > -1_990_000 || a.Last.Min > -499_000 || *a.Last.P50 < 498_000 || a.Last.Max < 1_490_000 {
		t.Errorf("first %+v, last %+v; want −2 ms, and −0.5 to 1.5 ms", *a.First, *a.Last)
	}
	if a.Each != nil || run.Fanout.Watchers != 5 || run.Fanout.Writes != 2000 {
		t.Errorf("%+v", *run.Fanout)
	}
}

// Each kind of result is read as its own type. Files of other schemas and kinds are refused.
func TestReadAny(t *testing.T) {
	for kind, v := range map[string]results.Result{
		results.KindRun: resulttest.FileOf(resulttest.Herding(resulttest.Native())...), results.KindSweep: resulttest.SweepOf(resulttest.HerdRuns()[:4]...), results.KindCount: results.CountReport{Head: results.NewHead(results.KindCount, results.Tool{}, nil, nil, 0), Settled: []results.Settled{}},
		results.KindComparison:  results.Comparison{Head: results.Head{Schema: results.Schema, Kind: results.KindComparison}},
		results.KindObservation: results.Observation{Head: results.NewHead(results.KindObservation, results.Tool{}, nil, []string{"observe"}, 0)},
	} {
		var b bytes.Buffer
		if err := results.WriteJSON(&b, v); err != nil {
			t.Fatal(err)
		}
		got, err := results.ReadAny(&b)
		if err != nil || results.KindOf(got) != kind {
			t.Fatalf("a %s is read as a %s, %v", kind, results.KindOf(got), err)
		}
		if diff := cmp.Diff(v, got); diff != "" {
			t.Errorf("of a %s something is lost (-want +got):\n%s", kind, diff)
		}
	}
	for text, want := range map[string]string{
		`{"schema": 4, "kind": "film"}`:        `a result of kind "film": want one of run, sweep, count, comparison, observation`,
		`{"schema": 4, "kind": "calibration"}`: `a result of kind "calibration": want one of run, sweep, count, comparison, observation`,
		`{"schema": 3, "runs": []}`:            `a result file of schema 3: this stampede reads schema 4`,
		`{"schema": 4, "kind": "sweep", "axes": ["clients"], "levels": [{"runs": [0]}], "runs": []}`: "not the file of a sweep: it has no axis, or a level has no runs",
		`{"schema": 5, "kind": "run"}`: `a result file of schema 5: this stampede reads schema 4`,
		`{"kind": "run"}`:              `not a result file: it has no schema`,
	} {
		if _, err := results.ReadAny(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// TestReadRefusesOtherKinds checks that a file without runs of its own is not read as a run without
// any runs, and that a sweep, which has runs, is read.
func TestReadRefusesOtherKinds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"observation":     {`{"schema": 4, "kind": "observation"}`, "a result of kind observation: want run or sweep"},
		"comparison":      {`{"schema": 4, "kind": "comparison"}`, "a result of kind comparison: want run or sweep"},
		"count":           {`{"schema": 4, "kind": "count"}`, "a result of kind count: want run or sweep"},
		"sweep":           {`{"schema": 4, "kind": "sweep", "axes": ["clients"], "runs": []}`, ""},
		"interrupted run": {`{"schema": 4, "kind": "run", "interrupted": true, "runs": []}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if _, err := results.Read(strings.NewReader(c.text)); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("error %q, want %q", got, c.want)
			}
		})
	}
}

// The file has how long the clients were asked to take to arrive, and how long they took.
func TestRampIsInTheFile(t *testing.T) {
	r := results.FromRecord(results.Setting{Ramp: 2 * time.Second}, &metrics.Record{Ramp: 3 * time.Second})
	if r.RampNS != 2*time.Second || r.RampTookNS != 3*time.Second {
		t.Errorf("asked for %v, took %v; want 2s and 3s", r.RampNS, r.RampTookNS)
	}
}
