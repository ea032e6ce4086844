package spec

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// readingAs is a service whose reads are of the kind.
type readingAs struct {
	drivers.Service
	reads string
}

func (s readingAs) Info() drivers.Info { return drivers.Info{Reads: s.reads} }

// TestBoundsNeedReadsThatShowAChange checks that a bound which holds only for clients that see each change is no
// identity where a read may come from before the notification, and that an equation is one.
func TestBoundsNeedReadsThatShowAChange(t *testing.T) {
	form := workloads.Form{Recipe: "lock", Name: "predecessor"}
	for reads, want := range map[string]bool{"linearizable": true, "local": true, "serializable": false} {
		var formulas []string
		for _, i := range Expected(form, workloads.Plan{Service: readingAs{reads: reads}, Clients: 2}, &metrics.Record{}).Identities {
			formulas = append(formulas, i.Formula)
		}
		if got := slices.Contains(formulas, "K ≤ max(0, N−1)"); got != want || !slices.Contains(formulas, "reads = lists + K") {
			t.Errorf("%s reads: identities %q; want the bound of K: %v", reads, formulas, want)
		}
	}
}
