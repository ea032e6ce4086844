package catalog_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// BenchmarkAgainstLibrary says how often lock/predecessor hands over for each
// time that the client library's own lock does, with 32 clients that hold for no
// time: the median over pairs of runs, in alternating order.
//
//	go test -run '^$' -bench AgainstLibrary -benchtime 10x ./workloads/catalog
func BenchmarkAgainstLibrary(b *testing.B) {
	for _, url := range []string{"native:", "zookeeper:"} {
		b.Run(url, func(b *testing.B) {
			service := backendtest.Shared(b, url)
			var ratios []float64
			for i := 0; b.Loop(); i++ {
				order := []string{"predecessor", "go-zookeeper"}
				if i%2 == 1 {
					slices.Reverse(order)
				}
				rate := map[string]float64{}
				for _, form := range order {
					rate[form] = handoffRate(b, service, form)
				}
				ratios = append(ratios, rate["predecessor"]/rate["go-zookeeper"])
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "times-the-library's-rate")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func handoffRate(b *testing.B, s drivers.Service, form string) float64 {
	b.Helper()
	chosen, err := catalog.Select(catalog.Forms(), nil, []string{form})
	if err != nil {
		b.Fatal(err)
	}
	r, err := workloads.Run(b.Context(), workloads.Plan{Service: s, Form: chosen[0].Form, Clients: 32,
		Warmup: 200 * time.Millisecond, Duration: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	return float64(r.Rounds) / r.Duration.Seconds()
}
