package metric_test

import (
	"testing"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
)

// A doubt concerns the metrics that it makes meaningless, and no others.
func TestDoubt(t *testing.T) {
	for _, c := range []struct {
		metric, code string
		want         bool
	}{
		{"acquire.p99", metrics.Starved, true},
		{"rounds_per_s", metrics.Others, true},
		{"notifications_per_round", metrics.Starved, false},
		{"fanout.max", metrics.Skipped, false},
		{"notifications_per_round", metrics.Abandoned, true},
		{"fanout.max", metrics.Abandoned, false},
		{"acquire.p99", metrics.Skipped, true},
		{"rounds", metrics.AgentLost, true},
		{"identities.broken", metrics.AgentLost, true},
		{"safety.violations", metrics.AgentLost, false},
		{"background.read.p99", metrics.Skipped, false},
		{"background.read.p99", metrics.Bystanders, true},
		{"background.errors", metrics.Bystanders, false},
		{"acquire.p99", metrics.Bystanders, false},
		{"generator.lag.p99", metrics.Starved, false},
		{"machine.busy", metrics.Others, false},
		{"rate.achieved", metrics.Skipped, false},
	} {
		m, err := metric.Parse(c.metric, []string{"acquire"})
		if err != nil {
			t.Fatal(err)
		}
		d, doubtful := m.Doubt(results.Run{Doubts: []results.Warning{{Code: c.code, Text: "why"}}})
		if doubtful != c.want || doubtful && d.Text != "why" {
			t.Errorf("%s with the doubt %s: %v, %+v, want %v", c.metric, c.code, doubtful, d, c.want)
		}
	}
}
