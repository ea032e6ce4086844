package workloads

import (
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// TestBrokenIdentitiesFailEachTest checks that verify panics if an identity is broken. Run calls
// it, so this covers every run of the test suite.
func TestBrokenIdentitiesFailEachTest(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a run with a lost arrival goes through")
		}
	}()
	verify(&metrics.Record{Generator: metrics.Generator{Offered: 2, Completed: 1}})
}
