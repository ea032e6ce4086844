package workloads

import (
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// verify checks the identities of a run in tests, where a broken one is a panic: so each
// test that makes a result checks them, also through the command. To users it is a doubt.
func verify(r *metrics.Record) {
	if !testing.Testing() {
		return
	}
	if err := r.Identities(); err != nil {
		panic("identity broken: " + err.Error())
	}
}
