package catalog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestNothingThatARoundNeedsIsLeftOut compares what runs counted, of clients and of their own, with what their servers
// counted in all. What comes before the first round and after the last is the same for both runs of a form, so that the
// longer run has as many more requests by one count as by the other: the lengths differ by whole cycles, of three kinds of
// updates of a mirror, and of four clients that join and leave a group.
func TestNothingThatARoundNeedsIsLeftOut(t *testing.T) {
	for _, f := range ownForms(t) {
		if f.Recipe == "sessions" { // servers count some of what opens or ends a session, by how it does
			continue
		}
		if _, kept := costmodel.UpkeepOf(f.Recipe, f.Name); testing.Short() && !kept {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				few, fewAtServer := requestsOf(t, f, 3)
				many, manyAtServer := requestsOf(t, f, 3+3*8)
				got, want := manyAtServer.Sub(fewAtServer), many.Sub(few)
				if strings.Contains(f.String(), "recursive") || strings.Contains(f.String(), "persistent") {
					got.Reads = want.Reads // clients may remove their watches before or after the counts are taken
				}
				if got != want {
					t.Errorf("24 rounds more are %+v, and %+v at the server", want, got)
				}
			})
		})
	}
}

// requestsOf runs the form for so many rounds. It returns the requests that the run counted, divided as servers divide
// them, and those that its server counted.
func requestsOf(t *testing.T, f workloads.Form, rounds int64) (counted, atServer metrics.Requests) {
	t.Helper()
	s := inProcess(t, time.Second)
	r := measured(t, s, f, 4, rounds)
	if u, fixed := costmodel.UpkeepOf(f.Recipe, f.Name); fixed {
		checkUpkeep(t, r, u, 4)
	}
	counters, err := s.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := counters.Sum()
	w, u := r.Whole, r.WholeUpkeep
	// Each session that a client opens it also closes, and both are writes. All else that is no write is a read.
	writes, sessions := w.Writes+u.Writes, 2*w.Opens
	reads := w.RPCs - w.Writes - sessions + w.Pings + w.Flushes + u.Reads + u.Syncs
	return metrics.Requests{Reads: reads, Writes: writes + sessions}, metrics.Requests{Reads: c.Reads, Writes: c.Writes}
}

func measured(t *testing.T, s drivers.Service, f workloads.Form, clients int, rounds int64) *metrics.Record {
	t.Helper()
	return runtest.Measure(t, workloads.Plan{
		Service: f.ServiceFor(s), Form: f, Clients: clients, Rounds: rounds, Seed: 1,
		Settings: workloads.Settings{Hold: 10 * time.Millisecond, Think: 10 * time.Millisecond, Outage: 250 * time.Millisecond,
			Mix: workloads.MixSettings{Reads: 0.4, Lists: 0.2, Keys: 5, Watchers: 1}},
	})
}

// checkUpkeep holds what a run requested itself against the model. The nodes of its first round exist before.
func checkUpkeep(t *testing.T, r *metrics.Record, u costmodel.Upkeep, clients int64) {
	t.Helper()
	count := map[string]int64{"0": 0, "1": 1, "2": 2, "N+1": clients + 1}
	creates, lists, deletes, n := count[u.Creates], count[u.Lists], count[u.Deletes], r.WholeRounds
	if want := (metrics.Requests{Reads: n * lists, Writes: (n-1)*creates + n*deletes}); r.WholeUpkeep != want {
		t.Errorf("%d rounds needed %+v, want %+v", n, r.WholeUpkeep, want)
	}
}

// TestUpkeepIsThatOfTheModel holds on every backend, and every form with upkeep has a model.
func TestUpkeepIsThatOfTheModel(t *testing.T) {
	testenv.SkipIfShort(t)
	backendtest.EachOwn(t, func(t *testing.T, s drivers.Service) {
		for _, f := range served(t, s) {
			if f.Recipe == "reconnect" || f.Family == workloads.Load { // it depends on the schedule
				continue
			}
			t.Run(f.String(), func(t *testing.T) {
				u, fixed := costmodel.UpkeepOf(f.Recipe, f.Name)
				if r := measured(t, s, f, 3, 5); fixed {
					checkUpkeep(t, r, u, 3)
				} else if r.WholeUpkeep != (metrics.Requests{}) {
					t.Errorf("%d rounds needed %+v, and the model has none", r.WholeRounds, r.WholeUpkeep)
				}
			})
		}
	})
}
