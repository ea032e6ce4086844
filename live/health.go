package live

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// A remark is a statement about the generator, which may be a doubt.
type remark struct {
	Doubt bool   `json:"doubt"`
	Text  string `json:"text"`
}

// health describes the generator in the run in progress, or in the last run.
func health(panels []*panel) (all []remark) {
	var of *panel
	for _, p := range panels {
		if p.state() != next && (of == nil || of.source == nil) {
			of = p
		}
	}
	if of == nil {
		return nil
	}
	for _, d := range of.measured.Doubts {
		all = append(all, remark{true, d.Text})
	}
	g := of.measured.Generator
	if len(all) == 0 {
		all = append(all, remark{false, "The generator keeps up, so it is the service that is measured."})
	}
	text := fmt.Sprintf("It uses %s of %d cores", results.Rate(g.CPUCores), metrics.Cores())
	if g.Lag != nil && g.Lag.TotalCount() > 0 {
		text += fmt.Sprintf("; one timer in a hundred is %s late or more", results.Duration(time.Duration(g.Lag.ValueAtQuantile(99))))
	}
	text += fmt.Sprintf("; the collector stopped it for %s in all", results.Duration(g.GCPause))
	if g.Offered > 0 {
		text += fmt.Sprintf("; of %s arrivals %s were late and %s skipped", results.Count(g.Offered), results.Count(g.Late), results.Count(g.Skipped))
	}
	return append(all, remark{false, text + "."})
}
