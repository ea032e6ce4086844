package sweeps

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/results"
)

// An Objective is what a level must meet: a percentile of a phase's times below
// a bound.
type Objective struct {
	phase, times, percentile string
	bound                    time.Duration
}

const response, service = "response", "service"

// percentiles are those that an objective may be about.
func percentiles() []string { return []string{"p50", "p90", "p99", "p999", "max"} }

// ParseObjective reads "acquire.response.p99<50ms", of one of the phases. Without
// a word for the times, "acquire.p99<50ms", it is about response times. The error
// is one line, with the nearest name for one that is not known.
func ParseObjective(text string, phases []string) (Objective, error) {
	metric, bound, found := strings.Cut(text, "<")
	words := strings.Split(strings.TrimSpace(metric), ".")
	if len(words) == 2 {
		words = slices.Insert(words, 1, response)
	}
	d, err := time.ParseDuration(strings.TrimSpace(bound))
	if !found || len(words) != 3 || err != nil || d <= 0 {
		return Objective{}, fmt.Errorf("objective %q: want PHASE.response.p99<DURATION such as %s.response.p99<50ms", text, phases[0])
	}
	for i, have := range [][]string{phases, {response, service}, percentiles()} {
		if !slices.Contains(have, words[i]) {
			return Objective{}, nearest.Unknown([]string{"phase", "time", "percentile"}[i], words[i], have)
		}
	}
	return Objective{words[0], words[1], words[2], d}, nil
}

// String is what ParseObjective reads.
func (o Objective) String() string {
	return fmt.Sprintf("%s.%s.%s<%v", o.phase, o.times, o.percentile, o.bound)
}

// Judge tells whether a run meets the objective, what it measured, which is 0 if
// it could not be, and why it does not meet it. Where work was skipped or left
// unfinished the percentiles are lower bounds, and nothing is met.
func (o Objective) Judge(r results.Run) (met bool, measured time.Duration, why string) {
	measured, known := o.measure(r)
	switch lost := r.Generator.Skipped + r.Generator.Unfinished; {
	case r.Safety.Violations > 0:
		why = "the form broke its promise"
	case lost > 0:
		why = fmt.Sprintf("%s of %s arrivals were not served", results.Count(lost), results.Count(r.Generator.Offered))
	case !known:
		why = fmt.Sprintf("%s rounds are too few for %s", results.Count(r.Rounds), o.percentile)
	case measured >= o.bound:
		why = fmt.Sprintf("%s is %s", o.percentile, results.Duration(measured))
	}
	return why == "", measured, why
}

func (o Objective) measure(r results.Run) (time.Duration, bool) {
	d := r.Latency[o.phase].Response
	if o.times == service {
		d = r.Latency[o.phase].Service
	}
	if d == nil {
		return 0, false
	}
	at := map[string]*int64{"p50": d.P50, "p90": d.P90, "p99": d.P99, "p999": d.P999, "max": &d.Max}[o.percentile]
	if at == nil {
		return 0, false
	}
	return time.Duration(*at), true
}

// enough is how many observations must lie beyond a percentile.
const enough = 10

// Rounds is how many rounds a run must have for the percentile to be known.
func (o Objective) Rounds() int64 {
	return map[string]int64{"p50": 2, "p90": 10, "p99": 100, "p999": 1000, "max": 1}[o.percentile] * enough
}
