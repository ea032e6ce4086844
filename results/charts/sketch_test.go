package charts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
)

// timed returns a run with a median in each interval of a second; 0 is not known.
func timed(medians ...time.Duration) results.Run {
	r := results.Run{Phases: []string{"handoff"}, DurationNS: time.Duration(len(medians)) * time.Second}
	for i, m := range medians {
		r.Intervals = append(r.Intervals, results.Interval{T: time.Duration(i) * time.Second, P50: m})
	}
	return r
}

// The lines of all runs have the same axes, no line crosses a gap, and a run without a value has no line.
func TestSketchLatency(t *testing.T) {
	const ms = time.Millisecond
	got, ok := SketchLatency([]results.Run{timed(10*ms, 20*ms, 0, 40*ms), timed(0, 0), {}}, 5*time.Second)
	want := Sketch{
		Title: "hand-off p50 over time",
		X:     []Mark{{0, "0 s"}, {0.2, "1 s"}, {0.4, "2 s"}, {0.6, "3 s"}, {0.8, "4 s"}, {1, "5 s"}},
		Y:     []Mark{{0, "0"}, {0.25, "10 ms"}, {0.5, "20 ms"}, {0.75, "30 ms"}, {1, "40 ms"}},
		Lines: []Sketched{{Pieces: [][][2]float64{{{0.1, 0.25}, {0.3, 0.5}}, {{0.7, 1}}}, Latest: "40.0 ms"}, {}, {}},
	}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("sketched: %v (-want +got):\n%s", ok, diff)
	}
	if got, ok := SketchLatency([]results.Run{timed(0, 0)}, time.Second); ok {
		t.Errorf("%+v of runs whose latency is not known", got)
	}
}

// A long line has the highest value of each group of points.
func TestALongSketchIsThinned(t *testing.T) {
	medians := make([]time.Duration, 10*mostSketched)
	for i := range medians {
		medians[i] = time.Millisecond
	}
	medians[len(medians)/2] = time.Second
	got, _ := SketchLatency([]results.Run{timed(medians...)}, 0)
	line := got.Lines[0].Pieces[0]
	highest := 0
	for _, p := range line {
		if p[1] == 1 {
			highest++
		}
	}
	if len(line) > mostSketched || len(line) < mostSketched/2 || highest != 1 {
		t.Errorf("%d points, of which %d are the highest", len(line), highest)
	}
}
