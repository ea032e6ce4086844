package levels

import (
	"fmt"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
)

// Analyse computes the levels, curves and crossovers from the runs.
func Analyse(s *results.Sweep) {
	s.Levels, s.Curves, s.Crossovers = levelsOf(*s), []results.Curve{}, []results.Crossover{}
	if s.Objective != "" {
		return // a search measures different levels for each form
	}
	all := Split(*s)
	for _, levels := range all {
		s.Curves = append(s.Curves, curve(*s, levels))
	}
	for _, naive := range all {
		if calm := referenceFor(all, naive, func(l results.Level) string { return OtherAxes(*s, l) }); naive[0].Family == "naive" && calm != nil {
			s.Crossovers = append(s.Crossovers, crossover(*s, naive, calm))
		}
	}
}

func curve(s results.Sweep, levels []results.Level) results.Curve {
	first := levels[0]
	c := results.Curve{Recipe: first.Recipe, Form: first.Form, URL: first.Backend.URL, Beside: OtherAxes(s, first), Growth: map[string]results.Estimate{}}
	if s.Axes[0] == "clients" {
		grow(s, &c, levels)
		c.USL, c.NoUSL = scale(s, levels)
	}
	c.Limits = limits(s, levels, c)
	return c
}

// grow fits the growth of the costs over the upper half of the levels, at least three. The number of
// waiting clients, N−1, is a power of N only if N is large.
func grow(s results.Sweep, c *results.Curve, levels []results.Level) {
	levels = levels[max(0, min(len(levels)/2, len(levels)-3)):]
	c.GrowthFrom = Value(levels[0], s.Axes[0])
	for name, of := range costs() {
		p, ok := stats.Grow(values(s, levels, func(r results.Run) (float64, bool) { return PerRoundOf(r, of) }))
		if ok {
			c.Growth[name] = results.Estimate(p.Exponent)
		}
	}
}

// values returns the measured values of a figure, level by level.
func values(s results.Sweep, levels []results.Level, of func(results.Run) (float64, bool)) []stats.Level {
	var all []stats.Level
	for _, l := range levels {
		at := stats.Level{N: Value(l, s.Axes[0])}
		for _, r := range RunsOf(s, l) {
			if v, ok := of(r); ok {
				at.Values = append(at.Values, v)
			}
		}
		if len(at.Values) > 0 {
			all = append(all, at)
		}
	}
	return all
}

// scale fits the Universal Scalability Law, or says why it cannot be fitted.
func scale(s results.Sweep, levels []results.Level) (*results.USL, string) {
	switch first := levels[0]; {
	case first.Rate > 0:
		return nil, "in an open loop throughput is what is offered"
	case first.Groups <= 1 && serial(first.Recipe):
		return nil, fmt.Sprintf("one %s is serial; --groups has several side by side", first.Recipe)
	case first.Groups <= 1 && !s.Runs[first.Runs[0]].IsMix(): // clients of a mix do not wait for each other
		return nil, fmt.Sprintf("the clients of one %s wait for each other; --groups has several side by side", first.Recipe)
	}
	done := values(s, levels, func(r results.Run) (float64, bool) { return r.ThroughputPerS, r.ThroughputPerS > 0 })
	law, err := stats.Scale(done)
	if err != nil {
		return nil, err.Error()
	}
	u := &results.USL{Alpha: law.Alpha, Beta: law.Beta, Gamma: law.Gamma, R2: law.R2(done)}
	if peak := law.Peak(done); peak.Shown {
		u.Knee, u.KneeLow, u.KneeHigh = &peak.Value, &peak.Low, &peak.High
	}
	for _, l := range levels {
		n := Value(l, s.Axes[0])
		u.Residuals = append(u.Residuals, results.Residual{N: n, Measured: l.Throughput.Value, Fitted: law.Value(n)})
	}
	return u, ""
}

// serial reports whether an instance of the recipe serves one client at a time.
func serial(recipe string) bool {
	return recipe == "lock" || recipe == "revocable-lock" || recipe == "election"
}
