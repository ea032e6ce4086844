package catalog_test

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// TestFormsCostWhatTheModelSays checks on every backend that every form costs exactly
// what its model predicts, to the last notification. Where the server keeps counts of
// its own, they must match the model too.
func TestFormsCostWhatTheModelSays(t *testing.T) {
	backendtest.EachOwn(t, func(t *testing.T, service drivers.Service) {
		clients := []int{5}
		if service.Info().Started == "in process" {
			clients = []int{1, 2, 3, 5, 8}
		}
		for _, f := range served(t, service) {
			if f.Family == workloads.Load { // its cost is whatever the load asks for
				continue
			}
			for _, n := range clients {
				settle(t, service, f, n)
			}
		}
	})
}

// TestFormsCostTheSameOnAnEnsemble checks the same on three native servers, with sessions on all of them.
func TestFormsCostTheSameOnAnEnsemble(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:?servers=3")
	for _, f := range served(t, service) {
		if f.Family != workloads.Load {
			settle(t, service, f, 5)
		}
	}
}

// TestPersistentFormsRunWhereTheTableSays checks that the forms that need persistent
// watches run through exactly those clients that have them according to the table.
func TestPersistentFormsRunWhereTheTableSays(t *testing.T) {
	for _, b := range backends.List() {
		for _, url := range slices.Compact([]string{b.Scheme + ":", b.Persistent()}) {
			t.Run(url, func(t *testing.T) {
				need := func(forms []workloads.Form) (names []string) {
					for _, f := range forms {
						if f.Needs == workloads.PersistentWatches {
							names = append(names, f.String())
						}
					}
					return names
				}
				var want []string
				if url == b.Persistent() {
					want = need(catalog.Forms())
				}
				if ran := need(served(t, backendtest.Shared(t, url))); !slices.Equal(ran, want) {
					t.Errorf("%q run, and the table says %q", ran, want)
				}
			})
		}
	}
}

// served returns the forms that the service's client can run. It closes its session,
// because the server would count the heartbeats of an open one.
func served(t *testing.T, service drivers.Service) (can []workloads.Form) {
	t.Helper()
	conn, err := service.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, f := range catalog.Forms() {
		if f.ServiceFor(service) != nil && f.Needs.MetBy(conn) {
			can = append(can, f)
		}
	}
	return can
}

func settle(t *testing.T, service drivers.Service, f workloads.Form, n int) {
	t.Helper()
	model, ok := costmodel.ModelOf(f.Recipe, f.Name)
	if !ok {
		t.Errorf("%v has no model", f)
		return
	}
	settings := workloads.Settings{Polls: 2, Queue: workloads.QueueSettings{Items: 4}}
	s, err := settled.Run(t.Context(), f.ServiceFor(service), f, n, settings)
	if err != nil {
		t.Fatalf("%v with %d clients: %v", f, n, err)
	}
	want := model.Settled(settings.Params(n))
	most := want.Upper()
	check := func(what string, got int64, want, most costmodel.Term) {
		if got < want.Value || got > most.Value {
			t.Errorf("%v with %d clients: %s %d ≠ %d = %s, at most %d = %s", f, n, what, got, want.Value, want.Formula, most.Value, most.Formula)
		}
	}
	if s.Rounds == 0 {
		t.Error("no round was counted")
	}
	if rounds, known := costmodel.Rounds(f.Recipe, settings.Params(n)); known && s.Rounds != rounds {
		t.Errorf("%v with %d clients: %d rounds, want %d", f, n, s.Rounds, rounds)
	}
	check("notifications", s.Counts.Notifications, want.Notifications, most.Notifications)
	check("reads", s.Counts.Reads, want.Reads, most.Reads)
	check("writes", s.Counts.Writes, want.Writes, most.Writes)
	check("failed writes", s.Counts.FailedWrites, want.FailedWrites, most.FailedWrites)
	check("largest fan-out", s.Largest, want.LargestFanout, most.LargestFanout)
	if s.Safety.Violations != 0 || s.Safety.Checked < int64(n) {
		t.Errorf("%v with %d clients: %d violations in %d checks, want none in at least one each", f, n, s.Safety.Violations, s.Safety.Checked)
	}
	if server := s.Server; server != nil {
		check("notifications by the server's count", server.Notifications, want.Notifications, most.Notifications)
		check("reads by the server's count", server.Reads, want.Reads, most.Reads)
		check("writes by the server's count", server.Writes, want.Writes, most.Writes)
		if server.LargestFanout > s.Largest {
			t.Errorf("%v with %d clients: largest fan-out %d by the server's count, %d by ours", f, n, server.LargestFanout, s.Largest)
		}
	}
}
