package sweeps

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// An Objective is what a level must meet: a figure's bound, mostly on a
// percentile of a phase's times.
type Objective struct{ figures.Bound }

// ParseObjective reads "acquire.response.p99<50ms", as [figures.ParseBound] does.
func ParseObjective(text string, phases []string) (Objective, error) {
	b, err := figures.ParseBound(text, phases)
	return Objective{b}, err
}

// Judge tells whether a run meets the objective, and why it does not. Where work
// was skipped or left unfinished the percentiles are lower bounds, and nothing is
// met.
func (o Objective) Judge(r results.Run) (met bool, why string) {
	measured, known := o.Figure.Of(r)
	switch lost := r.Generator.Skipped + r.Generator.Unfinished; {
	case r.Safety.Violations > 0:
		why = "the form broke its promise"
	case lost > 0:
		why = fmt.Sprintf("%s of %s arrivals were not served", results.Count(lost), results.Count(r.Generator.Offered))
	case !known:
		why = fmt.Sprintf("%s rounds are too few for %s", results.Count(r.Rounds), o.statistic())
	case !o.Op.Holds(measured, o.Limit):
		why = fmt.Sprintf("%s is %s", o.statistic(), o.Figure.Format(measured))
	}
	return why == "", why
}

// statistic is the last word of the figure: "p99".
func (o Objective) statistic() string {
	return o.Figure.Name[strings.LastIndex(o.Figure.Name, ".")+1:]
}

// enough is how many observations must lie beyond a percentile.
const enough = 10

// Rounds is how many rounds a run must have for the figure to be known.
func (o Objective) Rounds() int64 {
	beyond := map[string]int64{"p50": 2, "p90": 10, "p99": 100, "p999": 1000}
	return max(beyond[o.statistic()], 1) * enough
}
