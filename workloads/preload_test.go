package workloads_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestPreload checks that a preload exists during the run, adds nothing to its counts, and is
// removed afterwards.
func TestPreload(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(s, workloads.MixSettings{Keys: 1})
		p.Preload = workloads.Preload{Nodes: 1500, Watches: 2000}
		var there int
		p.Progress = func(workloads.Progress) { there = stored(t, s) }
		r, err := workloads.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if there < 1500 {
			t.Errorf("%d nodes while it ran, want 1,500 and those of the mix", there)
		}
		if r.Whole.Reads+r.Whole.Writes != r.WholeRounds || r.Whole.Notifications != 0 {
			t.Errorf("%+v for %d operations", r.Whole, r.WholeRounds)
		}
	})
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
