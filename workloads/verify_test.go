package workloads

import (
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// Every run of the test suite goes through Run, which panics where an identity is broken.
func TestBrokenIdentitiesFailEachTest(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a run with a lost arrival goes through")
		}
	}()
	verify(&metrics.Record{Generator: metrics.Generator{Offered: 2, Completed: 1}})
}
