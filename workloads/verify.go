package workloads

import (
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// verify checks the identities of a run's results in tests and panics if one is broken. So each
// test that produces a result checks them, also a test that runs the command. For users a broken
// identity is a doubt.
func verify(r *metrics.Record) {
	if !testing.Testing() {
		return
	}
	if err := r.Identities(); err != nil {
		panic("identity broken: " + err.Error())
	}
}
