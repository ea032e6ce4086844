package results

import (
	"fmt"

	"github.com/stampede-bench/stampede/fit"
)

// Analyse computes the levels, curves and crossovers from the runs.
func (s *Sweep) Analyse() {
	s.Levels, s.Curves, s.Crossovers = s.levels(), []Curve{}, []Crossover{}
	if s.Objective != "" {
		return // a search measures different levels for each form
	}
	all := s.series()
	for _, levels := range all {
		s.Curves = append(s.Curves, s.curve(levels))
	}
	for _, naive := range all {
		if calm := calmBeside(all, naive, s.beside); naive[0].Family == "naive" && calm != nil {
			s.Crossovers = append(s.Crossovers, s.crossover(naive, calm))
		}
	}
}

func (s Sweep) curve(levels []Level) Curve {
	first := levels[0]
	c := Curve{Recipe: first.Recipe, Form: first.Form, URL: first.Backend.URL, Beside: s.beside(first), Growth: map[string]Estimate{}}
	if s.Axes[0] == "clients" {
		s.grow(&c, levels)
		c.USL, c.NoUSL = s.scale(levels)
	}
	c.Limits = s.limits(levels, c)
	return c
}

// grow fits the growth of the costs over the upper half of the levels, at least three. The number of
// waiting clients, N−1, is a power of N only if N is large.
func (s Sweep) grow(c *Curve, levels []Level) {
	levels = levels[max(0, min(len(levels)/2, len(levels)-3)):]
	c.GrowthFrom = levels[0].On(s.Axes[0])
	for name, of := range map[string]func(*PerRound) float64{
		perNotification: func(p *PerRound) float64 { return p.Notifications },
		perOperation:    func(p *PerRound) float64 { return p.Reads + p.Writes },
	} {
		p, ok := fit.Grow(s.values(levels, func(r Run) (float64, bool) { return perRoundOf(r, of) }))
		if ok {
			c.Growth[name] = Estimate(p.Exponent)
		}
	}
}

// values returns the measured values of a figure, level by level.
func (s Sweep) values(levels []Level, of func(Run) (float64, bool)) []fit.Level {
	var all []fit.Level
	for _, l := range levels {
		at := fit.Level{N: l.On(s.Axes[0])}
		for _, r := range s.at(l) {
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
func (s Sweep) scale(levels []Level) (*USL, string) {
	switch first := levels[0]; {
	case first.Rate > 0:
		return nil, "in an open loop throughput is what is offered"
	case first.Groups <= 1 && serial(first.Recipe):
		return nil, fmt.Sprintf("one %s is serial; --groups has several side by side", first.Recipe)
	case first.Groups <= 1 && !s.Runs[first.Runs[0]].isMix(): // clients of a mix do not wait for each other
		return nil, fmt.Sprintf("the clients of one %s wait for each other; --groups has several side by side", first.Recipe)
	}
	done := s.values(levels, func(r Run) (float64, bool) { return r.ThroughputPerS, r.ThroughputPerS > 0 })
	law, err := fit.Scale(done)
	if err != nil {
		return nil, err.Error()
	}
	u := &USL{Alpha: law.Alpha, Beta: law.Beta, Gamma: law.Gamma, R2: law.R2(done)}
	if peak := law.Peak(done); peak.Shown {
		u.Knee, u.KneeLow, u.KneeHigh = &peak.Value, &peak.Low, &peak.High
	}
	for _, l := range levels {
		n := l.On(s.Axes[0])
		u.Residuals = append(u.Residuals, Residual{n, l.Throughput.Value, law.At(n)})
	}
	return u, ""
}

// serial reports whether an instance of the recipe serves one client at a time.
func serial(recipe string) bool {
	return recipe == "lock" || recipe == "revocable-lock" || recipe == "election"
}
