package workloads

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// Each thing that makes figures worth nothing is noted, by its kind, and what is
// only to be known is a warning and no doubt.
func TestDoubts(t *testing.T) {
	cores := float64(metrics.Cores())
	for _, c := range []struct {
		kind string // "" for none
		make func(*runner, *metrics.Record)
	}{
		{"", func(*runner, *metrics.Record) {}},
		{metrics.Abandoned, func(r *runner, _ *metrics.Record) { r.cut = true }},
		{metrics.ClientBound, func(_ *runner, m *metrics.Record) { m.Generator.CPUCores = 0.9 * cores }},
		{"", func(_ *runner, m *metrics.Record) { m.Generator.CPUCores = 0.8 * cores }},
		{metrics.Stolen, func(_ *runner, m *metrics.Record) { m.Generator.StolenCores = 0.06 * cores }},
		{"", func(_ *runner, m *metrics.Record) { m.Generator.StolenCores, m.Duration = 0.4, 50*time.Millisecond }}, // two ticks
		{"", func(_ *runner, m *metrics.Record) { m.Generator.StolenCores = 0.04 * cores }},
		{metrics.Starved, func(_ *runner, m *metrics.Record) { m.Generator.Lag.RecordValue(int64(30 * time.Millisecond)) }},
		{metrics.Skipped, func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Generator.Skipped = 100, 99, 1
		}},
		{metrics.Unfinished, func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Generator.Unfinished = 100, 99, 1
		}},
		{metrics.Failed, func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Generator.Failed = 100, 99, 1
		}},
		{metrics.Unaccounted, func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Rounds = 100, 99, 100
		}},
		{metrics.Unaccounted, func(_ *runner, m *metrics.Record) { m.Background.Generator.Offered = 1 }},
		{metrics.Bystanders, func(_ *runner, m *metrics.Record) {
			m.Background.Generator.Offered, m.Background.Generator.Failed = 1, 1
		}},
		{metrics.Behind, func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Rounds = 1000, 1000, 900
		}},
		{"", func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Rounds = 1000, 1000, 960
		}},
		{metrics.Bystanders, func(_ *runner, m *metrics.Record) {
			m.Background.Generator.Offered, m.Background.Generator.Skipped = 1, 1
		}},
		{metrics.Bystanders, func(_ *runner, m *metrics.Record) {
			m.Background.Generator.Offered, m.Background.Generator.Unfinished = 1, 1
		}},
	} {
		r := &runner{plan: Plan{Clients: 4}}
		m := &metrics.Record{Duration: time.Second, Background: &metrics.Record{}}
		m.Generator.Lag = hdrhistogram.New(1, int64(time.Hour), 3)
		c.make(r, m)
		r.warn(m)
		var kinds []string
		for _, d := range m.Doubts {
			kinds = append(kinds, d.Code)
		}
		var want []string
		if c.kind != "" {
			want = []string{c.kind}
		}
		if diff := cmp.Diff(want, kinds); diff != "" || len(m.Warnings) != len(want) {
			t.Errorf("%q: doubts %q, warnings %q", c.kind, kinds, m.Warnings)
		}
	}
}

func TestLostSessionsOfTheBackgroundAreNoDoubt(t *testing.T) {
	m := &metrics.Record{Background: &metrics.Record{Errors: map[string]int64{drivers.ErrSessionLost.Error(): 2}}}
	m.Generator.Lag = hdrhistogram.New(1, int64(time.Hour), 3)
	(&runner{}).warn(m)
	if len(m.Warnings) != 1 || len(m.Doubts) != 0 {
		t.Errorf("warnings %q, doubts %v", m.Warnings, m.Doubts)
	}
}
