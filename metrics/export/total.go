package export

import (
	"slices"

	"github.com/stampede-bench/stampede/metrics"
)

// A total is the sum of several runs, with the metrics of the tables.
type total struct {
	counters   [][]float64 // by counter and part
	histograms []map[string]*exponential
}

func newTotal() *total {
	t := &total{}
	for _, c := range counters() {
		t.counters = append(t.counters, make([]float64, len(c.parts)))
	}
	for range histograms() {
		t.histograms = append(t.histograms, make(map[string]*exponential))
	}
	return t
}

func (t *total) clone() *total {
	c := &total{}
	for _, parts := range t.counters {
		c.counters = append(c.counters, slices.Clone(parts))
	}
	for _, of := range t.histograms {
		copied := make(map[string]*exponential, len(of))
		for key, e := range of {
			copied[key] = e.clone()
		}
		c.histograms = append(c.histograms, copied)
	}
	return c
}

func (t *total) add(r metrics.Record) {
	for i, c := range counters() {
		for j, p := range c.parts {
			t.counters[i][j] += p.of(r)
		}
	}
	for i, h := range histograms() {
		for key, recorded := range h.of(r) {
			if recorded == nil {
				continue
			}
			if t.histograms[i][key] == nil {
				t.histograms[i][key] = newExponential()
			}
			t.histograms[i][key].add(recorded, h.unit)
		}
	}
}
