package charts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
)

// TestObservationShowsTheLargestFanouts has more paths than the chart shows, and one where nothing changed.
func TestObservationShowsTheLargestFanouts(t *testing.T) {
	var o results.Observation
	if charts := Charts(o); len(charts) != 0 {
		t.Errorf("%d charts of an observation without changes, want none", len(charts))
	}
	o.Observed.Places = []observation.Place{{Path: "/calm", FanoutP50: 1, FanoutMax: 1}, {Path: "/silent"},
		{Path: "/herd", FanoutP50: 15, FanoutMax: 31, Form: &observation.Form{Herd: true, Instead: "predecessor", Wakes: 1}}}
	for i := range mostPlaces {
		o.Observed.Places = append(o.Observed.Places, observation.Place{Path: fmt.Sprintf("/more%d", i), FanoutP50: 2, FanoutMax: 3})
	}
	c := Charts(o)[0]
	const first = "/herd: median 15, most 31, predecessor would wake 1; /more0: median 2, most 3;"
	if !strings.Contains(c.About, ". "+first) || strings.Contains(c.About, "/calm") || strings.Contains(c.About, "/silent") {
		t.Errorf("the chart is about %q, want it to begin with %q and to have %d paths", c.About, first, mostPlaces)
	}
	notes := c.panels[0].notes
	if top := notes[len(notes)-1]; len(notes) != mostPlaces || top.left != "/herd" || top.ink != naive {
		t.Errorf("%d rows, %+v at the top, want %d and the herd", len(notes), top, mostPlaces)
	}
	if x := c.panels[0].x; x.low != 0 || x.high < 31 {
		t.Errorf("the axis is from %v to %v, want from 0 to at least 31", x.low, x.high)
	}
}

// TestLargestChangesOverTime has the changes of two paths, in the order of their size.
func TestLargestChangesOverTime(t *testing.T) {
	began := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	o := results.Observation{}
	o.Observed.Places = []observation.Place{{Path: "/job", FanoutMax: 11, Form: &observation.Form{Herd: true}}, {Path: "/config", FanoutMax: 3}}
	o.Observed.Largest = []observation.Change{
		{At: began.Add(2 * time.Second), Path: "/job", Woke: 11, Op: "delete", Process: &client.Process{ID: 7, Name: "worker"}},
		{At: began, Path: "/config", Woke: 3},
		{At: began.Add(time.Second), Path: "/job", Woke: 9, Op: "delete", Writer: "10.0.0.7:4711"},
	}
	all := Charts(o)
	if len(all) != 2 || all[1].Name != "largest-changes" {
		t.Fatalf("%d charts, want two, the second of the largest changes", len(all))
	}
	if want := "/config, 3 sessions; /job, 9 sessions, delete by 10.0.0.7:4711; /job, 11 sessions, delete by worker (7)."; !strings.HasSuffix(all[1].About, want) {
		t.Errorf("got  %s\nwant %s", all[1].About, want)
	}
	if lines := all[1].panels[0].lines; len(lines) != 2 || lines[0].look.ink != recipe || lines[1].look.ink != naive || lines[1].at[1].x != 2 {
		t.Errorf("got %+v, want /config and /job, two seconds later in the colour of a herd", lines)
	}
	o.Observed.Largest = o.Observed.Largest[:2]
	if all := Charts(o); len(all) != 1 {
		t.Error("a chart of two changes")
	}
}
