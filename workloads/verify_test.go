package workloads

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// A run whose record breaks an identity fails. So every test that produces a result checks the
// identities of the run.
func TestBrokenIdentityFailsTheRun(t *testing.T) {
	for want, g := range map[string]metrics.Generator{
		"arrivals do not add up": {Offered: 2, Completed: 1},
		"":                       {Offered: 2, Completed: 2},
	} {
		m, err := new(runner).outcome(t.Context(), &metrics.Record{Generator: g})
		if (m == nil) != (want != "") || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v; want %q", g, m, err, want)
		}
	}
}
