package workloads

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// What makes it doubtful that it was the service that was measured.
const (
	// saturated is the share of the machine's processors that the generator uses.
	saturated = 0.85
	// starved is by how much one in a hundred of its timers is late.
	starved = 20 * time.Millisecond
)

func (r *runner) warnings(m *metrics.Record) []string {
	var w []string
	warn := func(is bool, format string, args ...any) {
		if is {
			w = append(w, fmt.Sprintf(format, args...))
		}
	}
	g, cores := m.Generator, metrics.Cores()
	warn(r.cut, "rounds did not end within %v and were abandoned: counts are not of whole rounds", endTime)
	warn(g.CPUCores > saturated*float64(cores),
		"client-bound: the generator used %.1f of %d cores; the service may be faster than this", g.CPUCores, cores)
	if lag := time.Duration(g.Lag.ValueAtQuantile(99)); lag > starved {
		warn(true, "generator starved: one timer in a hundred was %v late or more; times are too long by as much", lag.Round(time.Millisecond))
	}
	bounds := func(of string, g metrics.Generator) {
		warn(g.Skipped > 0, "%d of %d %sarrivals found nobody free before the end: the response times are at least these", g.Skipped, g.Offered, of)
		warn(g.Unfinished > 0, "%d of %d %sarrivals were not finished: the response times are at least these", g.Unfinished, g.Offered, of)
	}
	bounds("", g)
	if b := m.Background; b != nil {
		bounds("background ", b.Generator)
		lost := b.Errors[drivers.ErrSessionLost.Error()]
		warn(lost > 0, "sessions that the background lost: %d", lost)
	}
	return w
}
