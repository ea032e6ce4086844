package charts

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
)

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
	if len(all) != 1 || all[0].Name != "largest-changes" {
		t.Fatalf("%d charts, want one of the largest changes", len(all))
	}
	if want := "/config, 3 sessions; /job, 9 sessions, delete by 10.0.0.7:4711; /job, 11 sessions, delete by worker (7)."; !strings.HasSuffix(all[0].About, want) {
		t.Errorf("got  %s\nwant %s", all[0].About, want)
	}
	if lines := all[0].panels[0].lines; len(lines) != 2 || lines[0].look.ink != recipe || lines[1].look.ink != naive || lines[1].at[1].x != 2 {
		t.Errorf("got %+v, want /config and /job, two seconds later in the colour of a herd", lines)
	}
	o.Observed.Largest = o.Observed.Largest[:2]
	if all := Charts(o); len(all) != 0 {
		t.Error("a chart of two changes")
	}
}
