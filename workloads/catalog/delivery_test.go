package catalog_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// TestCorrectDeliveryIsNotReported runs all forms on servers that deliver correctly, without faults, and with lost
// replies, after each of which the client reconnects. No notification is reported. ROUNDS is the least number of
// rounds on all backends together; without it, each form does one on a server in this process.
//
//	make delivery ROUNDS=10000
func TestCorrectDeliveryIsNotReported(t *testing.T) {
	testenv.SkipIfShort(t)
	rounds, err := strconv.ParseInt(os.Getenv("ROUNDS"), 10, 64)
	services := []string{"native:?client=lean", "native:?servers=3", "zookeeper:?client=lean", "zookeeper:", "etcd:", "etcd:?servers=3"}
	if err != nil {
		services = []string{"in process"}
	}
	var sum metrics.Record
	for _, url := range services {
		t.Run(url, func(t *testing.T) {
			var s drivers.Service
			if url == "in process" {
				s = backendtest.InProcess(t)
			} else {
				s = backendtest.Own(t, url)
			}
			var here metrics.Record
			forms := served(t, s)
			for i, f := range forms {
				p := workloads.Plan{
					Service: f.ServiceFor(s), Form: f, Clients: 4, Seed: uint64(i), Rounds: 1 + rounds/int64(len(services)*len(forms)),
					Settings: workloads.Settings{Outage: 250 * time.Millisecond, Mix: workloads.MixSettings{
						Reads: 0.4, Lists: 0.2, Creates: 0.2, Conditional: true, Keys: 5, Watchers: 1}},
				}
				delivers(t, p, &here)
				if f.Client == "" { // those of a client library may give up after a lost reply
					p.Service = &unsteady{Service: p.Service, rand: rand.New(rand.NewPCG(p.Seed, 0))}
					delivers(t, p, &here)
				}
			}
			t.Logf("%d rounds of %d forms, %d notifications, %d reconnects",
				here.WholeRounds, len(forms), here.Safety.Delivery.Notifications, here.Sessions.Disconnections)
			if here.Safety.Delivery.Notifications == 0 || here.Sessions.Disconnections == 0 {
				t.Error("want notifications and reconnects")
			}
			add(&sum, here)
		})
	}
	t.Logf("%d rounds, %d notifications, %d reconnects: %d reported",
		sum.WholeRounds, sum.Safety.Delivery.Notifications, sum.Sessions.Disconnections, sum.Safety.Delivery.Violations)
	if sum.WholeRounds < rounds {
		t.Errorf("%d rounds, want %d", sum.WholeRounds, rounds)
	}
}

// delivers makes a run, adds it to the sum, and checks that no notification is reported.
func delivers(t *testing.T, p workloads.Plan, sum *metrics.Record) {
	t.Helper()
	r, err := workloads.Run(t.Context(), p)
	if err != nil {
		t.Errorf("%v: %v", p.Form, err)
		return
	}
	if d := r.Safety.Delivery; d.Violations > 0 {
		t.Errorf("%v: %+v", p.Form, d)
	}
	r.WholeRounds = min(r.WholeRounds, p.Rounds) // a load ends later
	add(sum, *r)
}

// add adds what the test counts.
func add(sum *metrics.Record, r metrics.Record) {
	sum.WholeRounds += r.WholeRounds
	sum.Sessions.Disconnections += r.Sessions.Disconnections
	sum.Safety.Delivery.Notifications += r.Safety.Delivery.Notifications
	sum.Safety.Delivery.Violations += r.Safety.Delivery.Violations
}
