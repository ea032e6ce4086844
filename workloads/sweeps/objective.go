package sweeps

import (
	"fmt"
	"math"
	"strings"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/units"
)

// An Objective is what a level must meet: a bound on a figure, usually on a percentile of a phase's
// times.
type Objective struct{ figure.Bound }

// ParseObjective parses "acquire.response.p99<50ms" as [figure.ParseBound] does. It refuses a bound that no
// run can meet, and one on the side from which a figure gets better: a search for the highest level takes
// for granted that a higher level is worse.
func ParseObjective(text string, phases []string) (Objective, error) {
	b, err := figure.ParseBound(text, phases)
	if err != nil {
		return Objective{}, err
	}
	upper, lower := b.Op == figure.Below || b.Op == figure.AtMost, b.Op == figure.Above || b.Op == figure.AtLeast
	switch {
	case b.Op == figure.Below && b.Limit <= 0 || b.Op == figure.AtMost && b.Limit < 0:
		err = fmt.Errorf("%q: no run can meet it: want a limit above 0", text)
	case b.Figure.Better == figure.Less && !upper && b.Limit > 0:
		err = fmt.Errorf("%q: less is better: want < or <=", text)
	case b.Figure.Better == figure.More && !lower:
		err = fmt.Errorf("%q: more is better: want > or >=", text)
	}
	return Objective{b}, err
}

// Judge reports whether a run meets the objective. A run is undecided if it has too few observations, or if
// the true value of a doubtful one could decide otherwise: times of a load generator that was short of CPU
// are at most too long, so they can meet the objective and cannot miss it unless they miss it by more than
// that explains. Arrivals that were not served count as infinitely late in percentiles; a run that has lost any
// misses an objective of another figure.
func (o Objective) Judge(r results.Run) Trial {
	measured := o.Figure.Read(r)
	holds, doubt := o.Op.Judge(measured, figure.Exactly(o.Limit))
	lost, decides := r.Generator.Lost(), measured.Infinite()
	if lost > 0 && !o.Figure.CountsLost(r) {
		decides, doubt = figure.Above.Judge(figure.Lost(r), figure.Exactly(0)) // the generator can have lost them
	}
	switch {
	case r.Safety.Violations > 0:
		return Trial{Outcome: Missed, Why: "a safety violation invalidates the run"}
	case decides && doubt == "":
		return Trial{Outcome: Missed, Why: fmt.Sprintf("%s of %s arrivals were not served", units.Count(lost), units.Count(r.Generator.Offered))}
	case !measured.Known() && !decides:
		return Trial{Why: fmt.Sprintf("%s observations are too few for %s, which needs %s", units.Count(o.Has(r)), o.Figure.Name, units.Count(o.Needs()))}
	case doubt != "":
		return Trial{Why: doubt}
	case !holds:
		return Trial{Outcome: Missed, Slack: o.slack(measured.Value), Why: o.missed(measured.Value)}
	}
	return Trial{Outcome: Met, Slack: o.slack(measured.Value)}
}

// missed says by what value a run missed the objective.
func (o Objective) missed(measured float64) string {
	value, _ := units.Apart(measured, o.Limit, string(o.Figure.Unit))
	return o.statistic() + " is " + value
}

// leastShare is the smallest value of a figure that slack distinguishes, as a share of the limit.
const leastShare = 1e-6

// slack returns the distance to the limit. For times and rates, whose scatter is proportional to
// their value, it is the distance of the logarithms.
func (o Objective) slack(measured float64) float64 {
	distance := o.Limit - measured
	if o.Figure.Timed() && o.Limit > 0 {
		distance = -math.Log(max(measured/o.Limit, leastShare))
	}
	if o.Op == figure.Above || o.Op == figure.AtLeast {
		return -distance
	}
	return distance
}

// statistic returns the last word of the figure: "p99".
func (o Objective) statistic() string {
	return o.Figure.Name[strings.LastIndex(o.Figure.Name, ".")+1:]
}

// Needs returns how many observations a run must have for the figure to be known.
func (o Objective) Needs() int64 {
	beyond := map[string]int64{"p50": 2, "p90": 10, "p99": 100, "p999": 1000}
	return max(beyond[o.statistic()], 1) * metrics.Beyond
}

// Has returns how many observations of the figure a run has: those of its phase, since not every
// round has one, or otherwise its rounds.
func (o Objective) Has(r results.Run) int64 {
	phase, _, _ := strings.Cut(o.Figure.Name, ".")
	if l, ok := r.Latency[phase]; ok {
		return l.Count
	}
	return r.Rounds
}

// Objectives are the objectives that a level must meet together.
type Objectives []Objective

// ParseObjectives parses each objective as ParseObjective does.
func ParseObjectives(texts, phases []string) (all Objectives, err error) {
	for _, text := range texts {
		o, err := ParseObjective(text, phases)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// String returns the objectives, separated by commas.
func (all Objectives) String() string {
	words := make([]string, len(all))
	for i, o := range all {
		words[i] = o.String()
	}
	return strings.Join(words, ", ")
}

// Judge reports whether a run meets all objectives. It misses them if it misses one, and is undecided if
// one is undecided and none is missed. The slack is that of the objective which comes closest to its limit.
func (all Objectives) Judge(r results.Run) (t Trial) {
	for i, o := range all {
		one := o.Judge(r)
		if len(all) > 1 && one.Why != "" {
			one.Why = o.String() + ": " + one.Why
		}
		slack := min(one.Slack, t.Slack)
		if i == 0 {
			slack = one.Slack
		}
		if i == 0 || one.Outcome == Missed && t.Outcome != Missed || one.Outcome == Undecided && t.Outcome == Met {
			t = one
		}
		t.Slack = slack
	}
	return t
}

// Scarcest returns how many observations a run has of the figure that lacks most of those that it needs, and
// how many it needs.
func (all Objectives) Scarcest(r results.Run) (has, needs int64) {
	for _, o := range all {
		h, n := o.Has(r), o.Needs()
		if needs == 0 || h*needs < has*n || h*needs == has*n && n > needs {
			has, needs = h, n
		}
	}
	return has, needs
}
