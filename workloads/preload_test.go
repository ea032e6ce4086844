package workloads_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/preload"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestPreload checks that a preload exists during the run, adds nothing to its counts, and is
// removed afterwards.
func TestPreload(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(s, workloads.MixSettings{Keys: 1})
		p.Preload = preload.Data{Nodes: 1500, Watches: 2000}
		var there int
		p.Progress = func(workloads.Progress) { there = stored(t, s) }
		r := runtest.Measure(t, p)
		if there < 1500 {
			t.Errorf("%d nodes while it ran, want 1,500 and those of the mix", there)
		}
		if r.Whole.Reads+r.Whole.Writes != r.WholeRounds || r.Whole.Notifications != 0 {
			t.Errorf("%+v for %d operations", r.Whole, r.WholeRounds)
		}
	})
}

// TestPreloadThatIsLost checks that a run says how many sessions with watches of its preload have ended.
func TestPreloadThatIsLost(t *testing.T) {
	for _, ends := range []int{0, 1, 2} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			var opened []drivers.Conn
			p := runtest.MixPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn {
				opened = append(opened, c) // the session of the setup, then those of the preload
				return c
			}), workloads.MixSettings{Keys: 1})
			p.Clients, p.Preload, p.Duration = 1, preload.Data{Nodes: 10, Watches: 20}, time.Second
			p.Progress = func(workloads.Progress) {
				for _, c := range opened[1 : 1+ends] {
					if err := s.(drivers.Expirer).Expire(t.Context(), c); err != nil {
						t.Error(err)
					}
				}
			}
			r := ran(t, p)
			i := slices.IndexFunc(r.Warnings, func(w metrics.Warning) bool { return w.Code == metrics.PreloadLost })
			if i < 0 != (ends == 0) || ends > 0 && (r.Warnings[i].Numbers["lost"] != float64(ends) || r.Warnings[i].Numbers["sessions"] != 2) {
				t.Errorf("%d ended: %+v", ends, r.Warnings)
			}
		})
	}
}

// stored returns how many nodes below the default namespace are on the service.
func stored(t *testing.T, s drivers.Service) (nodes int) {
	c, err := s.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var count func(path string)
	count = func(path string) {
		children, err := c.Children(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		nodes += len(children)
		for _, child := range children {
			count(path + "/" + child.Name)
		}
	}
	count(namespace.Default)
	return nodes
}
