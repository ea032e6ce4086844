package results

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
)

// TestWriteRead checks that a result is the same after it is written and read.
func TestWriteRead(t *testing.T) {
	want := file(herding(native())...)
	var b bytes.Buffer
	if err := want.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
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
		"newer":     {`{"schema": 3, "runs": []}`, "of schema 3: this stampede reads up to 2"},
		// A newer schema may have changed a type: the error must still name the schema.
		"newer and different": {`{"schema": 3, "runs": {"a": 1}}`, "of schema 3: this stampede reads up to 2"},
		"wrong type":          {`{"schema": 1, "runs": [{"clients": "many"}]}`, "not a result file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, not one line with %q", err, c.want)
			}
		})
	}
}

// TestHDRIsReadable checks that other tools can read a histogram.
func TestHDRIsReadable(t *testing.T) {
	run := herding(native())[3]
	d := run.Latency["handoff"].Response
	h, err := hdrhistogram.Decode([]byte(d.HDR))
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != run.Rounds || h.ValueAtQuantile(99) != *d.P99 {
		t.Errorf("decoded %d values with p99 %d, not %d and %d", h.TotalCount(), h.ValueAtQuantile(99), run.Rounds, *d.P99)
	}
}

// TestPercentilesNeedTen checks that a percentile is known if ten observations lie beyond it, and not
// with fewer.
func TestPercentilesNeedTen(t *testing.T) {
	for _, c := range []struct {
		n                   int64
		p50, p90, p99, p999 bool
	}{
		{19, false, false, false, false}, {20, true, false, false, false},
		{99, true, false, false, false}, {100, true, true, false, false},
		{999, true, true, false, false}, {1000, true, true, true, false},
		{9999, true, true, true, false}, {10000, true, true, true, true},
	} {
		d := distribution(spread(c.n, time.Millisecond))
		got := []bool{d.P50 != nil, d.P90 != nil, d.P99 != nil, d.P999 != nil}
		if diff := cmp.Diff([]bool{c.p50, c.p90, c.p99, c.p999}, got); diff != "" {
			t.Errorf("%d observations (-want +got):\n%s", c.n, diff)
		}
	}
}

// A glance has the same text and percentiles as the whole run, without the parts that take long to
// write.
func TestAGlanceIsTheSameInWords(t *testing.T) {
	record := &metrics.Record{Duration: time.Second, Rounds: 3000, Counts: metrics.Counts{Notifications: 3000, Useful: 3000},
		Phases: []metrics.Phase{{Name: "handoff", Service: spread(3000, time.Millisecond), Response: spread(3000, time.Millisecond)}}}
	setting := Setting{Recipe: "lock", Form: "predecessor", Family: "recipe", Clients: 8}
	whole, glance := FromRecord(setting, record), Glance(setting, record)
	if got, want := (File{Runs: []Run{glance}}).Findings(), (File{Runs: []Run{whole}}).Findings(); !cmp.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got, want := glance.Latency["handoff"].Response, whole.Latency["handoff"].Response
	if *got.P99 != *want.P99 || got.P999 != nil || got.HDR != "" || want.HDR == "" {
		t.Errorf("%+v, want the percentiles of %+v", got, want)
	}
}

// TestTimelineIsAMean checks that the bins are means over the triggers, not sums.
func TestTimelineIsAMean(t *testing.T) {
	r := herding(native())[3].Herd.Timeline
	if r.Triggers != 2 || r.FromNS != -10*r.BinNS || len(r.Reads) != 100 || len(r.Writes) != 100 || r.Notifications[10] != 99 {
		t.Errorf("%+v, want 99 notifications at zero", r)
	}
	if l := FromRecord(Setting{}, &metrics.Record{}).Herd.Timeline; l != nil {
		t.Errorf("%+v without triggers, want none", l)
	}
}

// TestFanoutKeepsItsSign checks that times before the acknowledgement are negative in the file too.
func TestFanoutKeepsItsSign(t *testing.T) {
	run := told("one-shot", 5, 0, nil, 4*time.Millisecond)
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
	r := native()
	r.Client, r.URL = "lean", "native:?reads=sync&client=lean"
	want := file(herding(r)...)
	want.Command = []string{"stampede", "run", "lock", "--backend", "native:?client=lean"}
	var b bytes.Buffer
	if err := WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	former := strings.NewReplacer(`"client": "lean"`, `"client": "wire"`, "client=lean", "client=wire").Replace(b.String())
	if strings.Contains(former, "lean\"") {
		t.Fatal("the former file has the new name")
	}
	for name, text := range map[string]string{"former": former, "current": b.String()} {
		got, err := Read(strings.NewReader(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// Each kind of result is read as its own type; count reports of older versions, which declare no
// kind, are read as counts.
func TestReadAny(t *testing.T) {
	for kind, v := range map[string]View{
		KindRun: file(herding(native())...), KindSweep: sweepOf(herded()[:4]...), KindCount: NewCount(Tool{}),
		KindComparison: Comparison{Schema: Schema, Kind: KindComparison},
	} {
		var b bytes.Buffer
		if err := WriteJSON(&b, v); err != nil {
			t.Fatal(err)
		}
		got, err := ReadAny(&b)
		if err != nil || KindOf(got) != kind {
			t.Fatalf("a %s is read as a %s, %v", kind, KindOf(got), err)
		}
		if diff := cmp.Diff(v, got); diff != "" {
			t.Errorf("of a %s something is lost (-want +got):\n%s", kind, diff)
		}
	}
	if got, err := ReadAny(strings.NewReader(`{"schema": 1, "settled": []}`)); err != nil || KindOf(got) != KindCount {
		t.Errorf("an old count is read as a %s, %v", KindOf(got), err)
	}
	const unknown = `a result of kind "film", which this stampede does not know; use a newer one`
	if _, err := ReadAny(strings.NewReader(`{"schema": 1, "kind": "film"}`)); err == nil || err.Error() != unknown {
		t.Errorf("error %v, want %s", err, unknown)
	}
}

// The page of an empty result of any kind says that there is nothing.
func TestPage(t *testing.T) {
	for _, v := range []View{file(), sweepOf(), CountReport{}, Comparison{}} {
		if p := v.Page(); len(p.Finding) == 0 || p.Heading == "" {
			t.Errorf("an empty %s says nothing: %+v", KindOf(v), p)
		}
	}
}

// The file has how long the clients were asked to take to arrive, and how long they took.
func TestRampIsInTheFile(t *testing.T) {
	r := FromRecord(Setting{Ramp: 2 * time.Second}, &metrics.Record{Ramp: 3 * time.Second})
	if r.RampNS != 2*time.Second || r.RampTookNS != 3*time.Second {
		t.Errorf("asked for %v, took %v; want 2s and 3s", r.RampNS, r.RampTookNS)
	}
}
