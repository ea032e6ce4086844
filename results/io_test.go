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
	if err := want.WriteJSON(&b); err != nil {
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
		"newer":     {`{"schema": 4, "runs": []}`, "of schema 4: this stampede reads up to 3"},
		// A newer schema may have changed a type: the error must still name the schema.
		"newer and different": {`{"schema": 4, "runs": {"a": 1}}`, "of schema 4: this stampede reads up to 3"},
		"wrong type":          {`{"schema": 1, "runs": [{"clients": "many"}]}`, "not a result file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := results.Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, not one line with %q", err, c.want)
			}
		})
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

// A result that has the lean client's former name, wire, compares with new ones.
func TestReadRenamesTheLeanClient(t *testing.T) {
	r := resulttest.Native()
	r.Client, r.URL = "lean", "native:?reads=sync&client=lean"
	want := resulttest.FileOf(resulttest.Herding(r)...)
	want.Command = []string{"stampede", "run", "lock", "--backend", "native:?client=lean"}
	var b bytes.Buffer
	if err := results.WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	former := strings.NewReplacer(`"client": "lean"`, `"client": "wire"`, "client=lean", "client=wire").Replace(b.String())
	if strings.Contains(former, "lean\"") {
		t.Fatal("the former file has the new name")
	}
	for name, text := range map[string]string{"former": former, "current": b.String()} {
		got, err := results.Read(strings.NewReader(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// Each kind of result is read as its own type; count reports of older versions, which declare no
// kind, are read as counts.
func TestReadAny(t *testing.T) {
	for kind, v := range map[string]results.Result{
		results.KindRun: resulttest.FileOf(resulttest.Herding(resulttest.Native())...), results.KindSweep: resulttest.SweepOf(resulttest.HerdRuns()[:4]...), results.KindCount: results.NewCount(results.Tool{}),
		results.KindComparison:  results.Comparison{Schema: results.Schema, Kind: results.KindComparison},
		results.KindObservation: results.NewObservation(results.Tool{}),
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
	if got, err := results.ReadAny(strings.NewReader(`{"schema": 1, "settled": []}`)); err != nil || results.KindOf(got) != results.KindCount {
		t.Errorf("an old count is read as a %s, %v", results.KindOf(got), err)
	}
	const unknown = `a result of kind "film", which this stampede does not know; use a newer one`
	if _, err := results.ReadAny(strings.NewReader(`{"schema": 1, "kind": "film"}`)); err == nil || err.Error() != unknown {
		t.Errorf("error %v, want %s", err, unknown)
	}
}

// TestReadRefusesOtherKinds checks that a file without runs of its own is not read as a run without
// any runs, and that a sweep, which has runs, is read.
func TestReadRefusesOtherKinds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"observation":        {`{"schema": 3, "kind": "observation"}`, "the file of an observation: want that of a run"},
		"comparison":         {`{"schema": 3, "kind": "comparison"}`, "the file of a comparison: want that of a run"},
		"count":              {`{"schema": 3, "kind": "count"}`, "the file of a count: want that of a run"},
		"count without kind": {`{"schema": 1, "settled": []}`, "the file of a count: want that of a run"},
		"sweep":              {`{"schema": 3, "kind": "sweep", "runs": []}`, ""},
		"run without runs":   {`{"schema": 3, "runs": []}`, ""},
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
