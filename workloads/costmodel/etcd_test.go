package costmodel

import (
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// TestEtcdLibrary checks the models of the forms that ship with etcd's client. These forms
// are not simulated; another test counts them on etcd. This test has the costs of eight
// clients, three of them writers, as numbers. It also checks that the identities hold for
// these numbers, and that each identity fails for more operations of some kind.
func TestEtcdLibrary(t *testing.T) {
	for form, c := range map[string]struct {
		rounds int64
		want   [5]int64
	}{
		"lock/concurrency":            {8, [5]int64{7, 21, 16, 0, 1}},
		"election/concurrency":        {8, [5]int64{7, 15, 16, 0, 1}},
		"shared-lock/etcd-recipes":    {8, [5]int64{7, 15, 16, 0, 5}},
		"barrier/etcd-recipes":        {1, [5]int64{8, 8, 1, 0, 8}},
		"double-barrier/etcd-recipes": {1, [5]int64{14, 31, 18, 0, 7}},
		"queue/etcd-recipes":          {7, [5]int64{28, 28, 35, 21, 7}},
		"priority-queue/etcd-recipes": {7, [5]int64{28, 35, 35, 21, 7}},
	} {
		model := modelOf(t, form)
		got := values(model.Settled(Params{Clients: 8, Writers: 3}))
		if got != c.want {
			t.Errorf("%s: got %v, want %v", form, got, c.want)
		}
		counts := metrics.Counts{Notifications: got[0], Reads: got[1], Lists: got[1], Writes: got[2], FailedWrites: got[3]}
		checkIdentities(t, form, model, counts, c.rounds)
		wantFailing(t, form, counts, c.rounds, 0, roomMore)
	}
}

// roomMore are changes large enough to break inequalities too.
var roomMore = []func(*metrics.Counts){
	func(c *metrics.Counts) { c.Notifications += 100 },
	func(c *metrics.Counts) { c.Reads++ },
	func(c *metrics.Counts) { c.Writes++ },
	func(c *metrics.Counts) { c.FailedWrites += 100 },
}
