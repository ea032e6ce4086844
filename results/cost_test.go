package results_test

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
)

func TestHolding(t *testing.T) {
	of := func(holds ...bool) results.Run {
		e := &results.Expected{}
		for _, h := range holds {
			e.Identities = append(e.Identities, results.Identity{Holds: h})
		}
		return results.Run{Cost: results.Cost{Expected: e}}
	}
	hold, all := results.Holding([]results.Run{of(true, true), of(true, false), of(), {}})
	if hold != 1 || all != 2 {
		t.Errorf("hold in %d of %d, want 1 of 2", hold, all)
	}
}
