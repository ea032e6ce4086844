package charts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
)

// TestObservationShowsTheLargestFanouts has more paths than the chart shows, and one where nothing changed.
func TestObservationShowsTheLargestFanouts(t *testing.T) {
	var o results.Observation
	if charts := Charts(o); len(charts) != 0 {
		t.Errorf("%d charts of an observation without changes, want none", len(charts))
	}
	o.Observed.Places = []observe.Place{{Path: "/calm", FanoutP50: 1, FanoutMax: 1}, {Path: "/silent"},
		{Path: "/herd", FanoutP50: 15, FanoutMax: 31, Form: &observe.Form{Herd: true, Instead: "predecessor", Wakes: 1}}}
	for i := range mostPlaces {
		o.Observed.Places = append(o.Observed.Places, observe.Place{Path: fmt.Sprintf("/more%d", i), FanoutP50: 2, FanoutMax: 3})
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
