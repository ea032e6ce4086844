package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A remark is a statement about the load generator, which may be a doubt.
type remark struct {
	Doubt bool   `json:"doubt"`
	Text  string `json:"text"`
}

// health describes the load generator: the doubts about each run, and its figures in the run in
// progress or in the last run. It says that the generator keeps up only if no run has a doubt.
func health(panels []*panel) (all []remark) {
	begun := slices.DeleteFunc(slices.Clone(panels), func(of *panel) bool { return of.state() == next })
	if len(begun) == 0 {
		return nil
	}
	latest := begun[len(begun)-1]
	for _, of := range begun {
		if of.source != nil {
			latest = of
		}
		for _, w := range doubts(of.measured) {
			text := results.WarningOf(w).Text
			if len(begun) > 1 {
				text = of.run.Form + ": " + text
			}
			all = append(all, remark{true, text})
		}
	}
	if len(all) == 0 {
		all = append(all, remark{false, "The load generator keeps up: the figures are the service's own."})
	}
	return append(all, remark{false, generator(latest.measured.Generator)})
}

// doubts returns what speaks against the run's figures: its doubts, and its warnings about
// processors.
func doubts(r metrics.Record) []metrics.Warning {
	all := slices.Clone(r.Doubts)
	for _, w := range r.Warnings {
		doubt := slices.ContainsFunc(r.Doubts, func(d metrics.Warning) bool { return d.Code == w.Code })
		if strings.HasPrefix(w.Code, "cpu") && !doubt {
			all = append(all, w)
		}
	}
	return all
}

// generator returns the figures of the load generator in words.
func generator(g metrics.Generator) string {
	text := fmt.Sprintf("It uses %s of %.3g cores", units.Rate(g.CPUCores), metrics.Cores())
	if g.Lag != nil && g.Lag.TotalCount() > 0 {
		text += fmt.Sprintf("; 1 %% of its timers fire %s late or later", units.Duration(time.Duration(g.Lag.ValueAtQuantile(99))))
	}
	text += fmt.Sprintf("; garbage collection has stopped it for %s in total", units.Duration(g.GCPause))
	if g.Offered > 0 {
		text += fmt.Sprintf("; of %s arrivals, %s were late and %s skipped", units.Count(g.Offered), units.Count(g.Late), units.Count(g.Skipped))
	}
	return text + "."
}
