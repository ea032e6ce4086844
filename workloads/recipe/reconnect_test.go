package recipe_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// TestReconnectsCountsEveryAttempt compares the attempts with what the policies must make of an outage of 249.5 ms. A
// refusal takes 1 ms. With a wait of 100 ms the refused attempts begin after 100 and 201 ms, and the third succeeds after
// 302 ms: all clients try in the same tenths. At once the clients try every millisecond, and the first attempt after the
// end succeeds.
func TestReconnectsCountsEveryAttempt(t *testing.T) {
	const clients, rounds, outage = 4, 3, 249500 * time.Microsecond
	for name, c := range map[string]struct {
		form workloads.Constructor
		want metrics.Reconnects // of each outage
	}{
		"fixed": {recipe.Reconnects(func(*rand.Rand) *naive.FixedReconnector { return naive.NewFixedReconnector(100 * time.Millisecond) }),
			metrics.Reconnects{Attempts: 3 * clients, Second: 3 * clients, Tenth: clients}},
		"at once": {recipe.Reconnects(naive.NewReconnector),
			metrics.Reconnects{Attempts: 251 * clients, Second: 251 * clients, Tenth: 100 * clients}},
	} {
		bubble.Test(t, func(t *testing.T) {
			service, err := backends.InProcess()
			if err != nil {
				t.Fatal(err)
			}
			defer service.Close()
			r, err := workloads.Run(t.Context(), workloads.Plan{Service: service, Clients: clients, Rounds: rounds, Seed: 1,
				Form:     workloads.Form{Recipe: "reconnect", Name: name, Family: workloads.Naive, New: c.form},
				Settings: workloads.Settings{Outage: outage}})
			if err != nil {
				t.Fatal(err)
			}
			want := metrics.Reconnects{Outage: outage, Outages: rounds, Returns: rounds * clients,
				Attempts: rounds * c.want.Attempts, Second: rounds * c.want.Second, Tenth: rounds * c.want.Tenth}
			if *r.Reconnects != want || r.Safety.Violations > 0 {
				t.Errorf("%s: %+v, %+v; want %+v and no violation", name, *r.Reconnects, r.Safety, want)
			}
		})
	}
}
