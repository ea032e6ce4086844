package catalog_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// BenchmarkAgainstLibrary compares the hand-off rates of lock/predecessor and of
// the client library's own lock, with clients that release immediately. It
// reports the median ratio over pairs of runs, whose order alternates.
//
//	go test -run '^$' -bench AgainstLibrary -benchtime 10x ./workloads/catalog
func BenchmarkAgainstLibrary(b *testing.B) {
	for _, c := range []struct{ url, library string }{
		{"native:", "go-zookeeper"}, {"zookeeper:", "go-zookeeper"}, {"etcd:", "concurrency"},
	} {
		for _, clients := range []int{2, 32, 128} {
			b.Run(fmt.Sprint(c.url, clients), func(b *testing.B) {
				againstLibrary(b, backendtest.Own(b, c.url), c.library, clients)
			})
		}
	}
}

func againstLibrary(b *testing.B, s drivers.Service, library string, clients int) {
	var ratios, ours, theirs []float64
	for i := 0; b.Loop(); i++ {
		order := []string{"predecessor", library}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		rate := map[string]float64{}
		for _, form := range order {
			rate[form] = handoffRate(b, s, form, clients)
		}
		ours, theirs = append(ours, rate["predecessor"]), append(theirs, rate[library])
		ratios = append(ratios, rate["predecessor"]/rate[library])
	}
	b.ReportMetric(median(ratios), "times")
	b.ReportMetric(median(ours), "ours/s")
	b.ReportMetric(median(theirs), "theirs/s")
	b.ReportMetric(0, "ns/op") // a pair of runs has a fixed duration
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func handoffRate(b *testing.B, s drivers.Service, form string, clients int) float64 {
	b.Helper()
	chosen, err := catalog.Select(catalog.Forms(), nil, []string{form})
	if err != nil {
		b.Fatal(err)
	}
	r, err := workloads.Run(b.Context(), workloads.Plan{Service: chosen[0].Form.ServiceFor(s), Form: chosen[0].Form, Clients: clients,
		Warmup: 200 * time.Millisecond, Duration: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	return float64(r.Rounds) / r.Duration.Seconds()
}
