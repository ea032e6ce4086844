package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/draw"
	"github.com/stampede-bench/stampede/workloads/preload"
)

// TestMixEverywhere checks on every backend that a mix runs the requested operations: it makes no
// more writes than requested, and no session sees older data than it has seen before.
func TestMixEverywhere(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, service drivers.Service) {
		r, err := workloads.Run(t.Context(), workloads.Plan{
			Service: service, Form: listed("mix/operations"), Clients: 4, Rounds: 400, Seed: 1,
			Settings: workloads.Settings{Mix: workloads.MixSettings{
				Reads: 0.4, Lists: 0.2, ListSize: 2, Creates: 0.2, Txns: 0.3, TxnOps: 3, Conditional: true, Keys: 5, KeysBy: draw.Zipfian,
				NameLength: 20, Size: 100, SizeBy: draw.Zipfian, Watchers: 2}},
			Preload: preload.Data{Nodes: 50, Watches: 60},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked < r.Rounds/2 {
			t.Errorf("%+v for %d operations", r.Safety, r.Rounds)
		}
		if r.Counts.Notifications == 0 || len(r.Phases) != 6 || r.Mix.Transactions == 0 {
			t.Errorf("%d notifications, %d phases, %d transactions; want some, and six phases", r.Counts.Notifications, len(r.Phases), r.Mix.Transactions)
		}
		if failed := r.Whole.FailedWrites; failed < r.Mix.Retries+r.Mix.Refused || r.Whole.Writes-failed > r.WholeRounds || r.Whole.Cuts > 0 {
			t.Errorf("%+v for %d operations, %d sets made again", r.Whole, r.WholeRounds, r.Mix.Retries)
		}
	})
}
