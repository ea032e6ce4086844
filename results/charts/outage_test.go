package charts

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// broken returns the runs of a lock with 128 clients, each with a leader that is killed after a second.
func broken() results.File {
	f := resulttest.Lock()
	for i, what := range map[int]string{0: "kill member 1, the leader", 1: "kill member 2, the leader"} {
		r := &f.Runs[len(f.Runs)-2+i]
		at, back := time.Second, time.Second/2
		done := results.Break{AtNS: at, What: what}
		r.Faults = &results.Breakage{Schedule: []string{"at=1s kill leader"}, Done: []results.Break{done}, Recovery: []results.Recovery{
			{Break: done, BackNS: &back, Disconnected: 4, Totals: results.Totals{Notifications: int64(100 * i), Reads: 300}}}}
	}
	return f
}

// The comparison of those that return is the first chart of a run with faults, and the caption names the member that
// each form lost.
func TestFaultsComeFirst(t *testing.T) {
	all := Charts(broken())
	if all[0].Name != "lock-returning" || all[1].Name != "lock-time" {
		t.Fatalf("the charts begin with %s, %s", all[0].Name, all[1].Name)
	}
	if want := "predecessor: 0 notifications and 300 reads; one-node: 100 notifications and 300 reads."; !strings.HasSuffix(all[0].About, want) {
		t.Errorf("got  %s\nwant %s", all[0].About, want)
	}
	if want := "Faults: 1: kill member 1, the leader (predecessor), kill member 2, the leader (one-node)."; all[1].Caption != want {
		t.Errorf("got  %s\nwant %s", all[1].Caption, want)
	}
	if all := Charts(resulttest.Lock()); all[0].Name == "lock-returning" {
		t.Error("a run without faults has clients that return")
	}
}

// TestFaultSpan shows the part of the window with the fault and what it did, and all of it where that is most.
func TestFaultSpan(t *testing.T) {
	back := 2 * time.Second
	for _, c := range []struct {
		at       time.Duration
		from, to float64
	}{{10 * time.Second, 8, 14}, {time.Second, 0, 5}, {0, 0, 4}} {
		done := results.Break{AtNS: c.at, What: "kill member 1"}
		r := results.Run{DurationNS: 20 * time.Second, Faults: &results.Breakage{Done: []results.Break{done}, Recovery: []results.Recovery{{Break: done, BackNS: &back}}}}
		if from, to := faultSpan([]results.Run{r}); from != c.from || to != c.to {
			t.Errorf("at %v: from %v to %v, want %v to %v", c.at, from, to, c.from, c.to)
		}
		r.DurationNS = 4 * time.Second
		if from, to := faultSpan([]results.Run{r}); from != 0 || to != 4 {
			t.Errorf("at %v of 4s: from %v to %v, want all", c.at, from, to)
		}
	}
}
