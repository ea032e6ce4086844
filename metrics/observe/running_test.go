package observe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// TestEveryFormIsRecognisedWhileItRuns runs each form without pauses between its steps, as
// stampede run does: the order in which an observer sees two sessions differs from run to run.
func TestEveryFormIsRecognisedWhileItRuns(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, f := range catalog.Forms() {
		if f.Family == workloads.Load || f.Client == "clientv3" {
			continue
		}
		for _, clients := range []int{2, 8, 32} {
			t.Run(fmt.Sprint(f, "/", clients), func(t *testing.T) {
				rec, r := observeRun(t, f, clients)
				compared := !slices.Contains(notWhileRunning, f.Recipe)
				switch {
				case !compared && f.Recipe == "priority-lock": // between two rounds its line may look like a ring
					if r.Traffic.Notifications < rec.Whole.Notifications {
						t.Errorf("observed %d notifications; the run counted %d", r.Traffic.Notifications, rec.Whole.Notifications)
					}
					return
				case !compared: // one change may notify a session of two watches
					checkForm(t, f, metrics.Counts{}, 0, r)
					return
				case f.Recipe == "member-state", f.Recipe == "reconnect": // they wake nobody
					for _, p := range r.Places {
						if p.Form != nil && (p.Form.Herd || !strings.HasSuffix(p.Form.Name, ", polled")) {
							t.Errorf("a form that wakes nobody is recognised: %s", recognised(r))
						}
					}
					return
				}
				if r.Traffic.FanoutMax < rec.Herd.Largest || r.Traffic.Notifications < rec.Whole.Notifications {
					t.Errorf("observed %d notifications, at most %d; the run counted %d, %d", r.Traffic.Notifications, r.Traffic.FanoutMax, rec.Whole.Notifications, rec.Herd.Largest)
				}
				checkForm(t, f, rec.Whole, rec.Herd.Largest, r)
				checkWasted(t, rec.Whole, r, mostOff)
			})
		}
	}
}

// observeRun runs a form for a short time, and returns what the run counted and what was observed. A
// busy machine may run few rounds in that time. Then the run is extended until clients have waited for
// each other often enough to tell forms apart: two that never meet at a lock show none.
func observeRun(t *testing.T, f workloads.Form, clients int) (*metrics.Record, observation.Report) {
	t.Helper()
	service := f.ServiceFor(backendtest.InProcess(t))
	a := observe.New(observe.DefaultLimits)
	rec, err := workloads.Run(t.Context(), workloads.Plan{
		Service: &watched{Service: service, seen: a}, Form: f, Clients: clients, Seed: 1,
		Duration: 150 * time.Millisecond, LeastRounds: 10, DurationLimit: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return rec, a.Report()
}

// TestTwoRunsHaveTheSamePaths checks that the name that each run gives its own nodes is folded, so
// that two observations can be compared path by path.
func TestTwoRunsHaveTheSamePaths(t *testing.T) {
	forms, err := catalog.Select(catalog.Forms(), []string{"lock"}, []string{"predecessor"})
	if err != nil {
		t.Fatal(err)
	}
	paths := func() (all []string) {
		_, r := observeRun(t, forms[0].Form, 2)
		for _, p := range r.Places {
			all = append(all, p.Path)
		}
		slices.Sort(all)
		return all
	}
	first, second := paths(), paths()
	if len(first) == 0 || !slices.Equal(first, second) {
		t.Errorf("one run has the paths %q, another %q; want the same", first, second)
	}
}
