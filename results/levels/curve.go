package levels

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	return valuesAt(s, levels, func(_ int, r results.Run) (float64, bool) { return of(r) })
}

// valuesAt is values where a value depends on which level, from 0, its run is of.
func valuesAt(s results.Sweep, levels []results.Level, of func(at int, r results.Run) (float64, bool)) []stats.Level {
	var all []stats.Level
	for i, l := range levels {
		at := stats.Level{N: Value(l, s.Axes[0])}
		for _, r := range RunsOf(s, l) {
			if v, ok := of(i, r); ok {
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
	for _, l := range levels {
		u.Doubt = cmp.Or(u.Doubt, Doubt(Speed(), RunsOf(s, l)))
		n := Value(l, s.Axes[0])
		u.Residuals = append(u.Residuals, results.Residual{N: n, Measured: l.Throughput.Value, Fitted: law.Value(n)})
	}
	peak := law.Peak(done)
	if !peak.Shown {
		return u, ""
	}
	low, high := peak.Low, peak.High
	if u.Doubt != "" {
		low, high = peakWithin(s, levels, peak)
	}
	u.Knee, u.KneeLow = &peak.Value, &low
	if !math.IsInf(high, 1) {
		u.KneeHigh = &high
	}
	return u, ""
}

// peakWithin returns between which levels the peak lies if the throughput of each run is anywhere within what its doubts
// leave. The peak lies the furthest to the left if the levels up to some level were faster than measured, and the furthest
// to the right if those from some level on were. High is infinite if no fall beyond the peak is certain.
func peakWithin(s results.Sweep, levels []results.Level, peak stats.Peak) (low, high float64) {
	low, high = peak.Low, peak.High
	place := func(i int) float64 { return Value(levels[i], s.Axes[0]) }
	for i := range levels[1:] {
		for _, rightmost := range []bool{false, true} {
			all := valuesAt(s, levels, func(at int, r results.Run) (float64, bool) {
				is := Speed().Read(r)
				if at > i == rightmost {
					return is.High, is.High > 0
				}
				return is.Low, is.Low > 0
			})
			if slices.ContainsFunc(all, func(l stats.Level) bool {
				return slices.ContainsFunc(l.Values, func(v float64) bool { return math.IsInf(v, 1) })
			}) {
				if rightmost { // the levels above may be as fast as one likes, and so may those below
					high = math.Inf(1)
				} else {
					low = min(low, place(0))
				}
				continue
			}
			law, err := stats.Scale(all)
			if err != nil {
				return place(0), math.Inf(1)
			}
			other := law.Peak(all)
			low = min(low, other.Low)
			if high = max(high, other.High); !other.Shown {
				high = math.Inf(1)
			}
		}
	}
	return low, high
}

// serial reports whether an instance of the recipe serves one client at a time.
func serial(recipe string) bool {
	return recipe == "lock" || recipe == "revocable-lock" || recipe == "election"
}

// Growth says how a form's cost per round grows with the number of clients N, as the exponent of a
// power of N. 0 is flat; 1 is the growth of a herd.
type Growth struct {
	Notifications *float64 // nil if a level has none
	Operations    *float64 // reads and writes
}

// GrowthOf fits the growth of one form's settled costs, given by increasing number of clients. It
// returns nil for fewer than three levels, which are too few for a fit.
func GrowthOf(levels []results.Settled) *Growth {
	if len(levels) < 3 {
		return nil
	}
	return &Growth{Notifications: exponent(levels, NotificationsOf), Operations: exponent(levels, OperationsOf)}
}

func NotificationsOf(s results.Settled) (least int64, exact bool) { return leastCount(s.Notifications) }

func OperationsOf(s results.Settled) (least int64, exact bool) {
	reads, exactly := leastCount(s.Reads)
	writes, exact := leastCount(s.Writes)
	return reads + writes, exact && exactly
}

// leastCount returns the count, or its lower bound if the count is not determined.
func leastCount(e results.Exact) (n int64, exact bool) {
	if e.Most == nil {
		return e.Counted, true
	}
	return *e.Expected, false
}

// exponent fits log(cost of a round) = a + b·log(N) by least squares. It returns nil for a cost that
// is 0 at some level, since such a cost does not grow as a power.
//
// Note: where more clients make more rounds, the cost of a round is the cost that one more round adds,
// not the total cost divided by the number of rounds. N−1 notifications in N rounds are flat, but
// (N−1)/N increases with N, and a fit of it over small N would report a small herd.
func exponent(levels []results.Settled, cost func(results.Settled) (int64, bool)) *float64 {
	var n, sx, sy, sxx, sxy float64
	for i := range levels {
		at, each := perRoundAt(levels, i, cost)
		if at == 0 {
			continue
		}
		if each <= 0 {
			return nil
		}
		x, y := math.Log(at), math.Log(each)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	b := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	return &b
}

// perRoundAt returns the cost of a round at a level, and the number of clients it applies to. If the
// cost is that of an added round, the first level has no earlier one to compare with: perRoundAt
// then returns 0 clients.
func perRoundAt(levels []results.Settled, i int, cost func(results.Settled) (int64, bool)) (clients, each float64) {
	all, _ := cost(levels[i])
	if levels[0].Rounds == levels[1].Rounds {
		return float64(levels[i].Clients), float64(all) / float64(max(levels[i].Rounds, 1))
	}
	if i == 0 {
		return 0, 0
	}
	from, to := levels[i-1], levels[i]
	before, _ := cost(from)
	return float64(from.Clients+to.Clients) / 2, float64(all-before) / float64(to.Rounds-from.Rounds)
}

// referenceFor returns the series that a naive one is compared with: that of the first recipe form, or
// otherwise library form, with the same recipe, backend and level of the second axis.
func referenceFor(all [][]results.Level, naive []results.Level, beside func(results.Level) string) []results.Level {
	for _, family := range []string{"recipe", "library"} {
		for _, levels := range all {
			a, b := levels[0], naive[0]
			if a.Family == family && a.Recipe == b.Recipe && a.Backend.SameService(b.Backend) && beside(a) == beside(b) {
				return levels
			}
		}
	}
	return nil
}

func crossover(s results.Sweep, naive, calm []results.Level) results.Crossover {
	first := naive[0]
	c := results.Crossover{Recipe: first.Recipe, Form: first.Form, Than: calm[0].Form, URL: first.Backend.URL, Beside: OtherAxes(s, first), Ratios: []results.Ratio{}}
	metric, ratios := ratiosOf(s, naive, calm)
	c.Metric = metric
	var least []stats.Point
	for _, r := range ratios {
		c.Doubt = cmp.Or(c.Doubt, r.Doubt)
		least = append(least, stats.Point{N: r.at, Value: r.Least})
	}
	for _, r := range ratios {
		at := results.Ratio{N: r.at, Times: r.Value}
		if c.Doubt != "" {
			at.Least = r.Least
			if !math.IsInf(r.Most, 1) {
				at.Most = r.Most
			}
		}
		c.Ratios = append(c.Ratios, at)
	}
	if found, ok := stats.Cross(least, s.WorseBy); ok {
		c.At, c.Always = &found.At, found.Always
	}
	return c
}

// A ratioAt is a ratio at a level of the first axis.
type ratioAt struct {
	at float64
	Ratio
}

const throughput = "throughput"

// ratiosOf returns how many times worse the naive form is, at each level at which both forms were
// measured. It compares the highest percentile that all these levels have, of the hand-off or, in an
// open loop, of the first phase. If there is no such percentile, it compares the throughput.
func ratiosOf(s results.Sweep, naive, calm []results.Level) (metric string, all []ratioAt) {
	phase := tail(s, naive[0])
	for _, p := range Percentiles() {
		worse := func(naive, calm results.Level) (Ratio, bool) {
			a, has := naive.Latency[phase][p.Name]
			b, had := calm.Latency[phase][p.Name]
			over, under := RunsOf(s, naive), RunsOf(s, calm)
			return RatioWithin(results.Estimate{Value: a.Value / b.Value}, TimeOf(over[0], phase, p.Name), over, under), has && had && b.Value > 0
		}
		if all, ok := pairs(s, naive, calm, worse); ok {
			return phase + "." + p.Name, all
		}
	}
	all, _ = pairs(s, naive, calm, func(naive, calm results.Level) (Ratio, bool) {
		return RatioWithin(results.Estimate{Value: calm.Throughput.Value / naive.Throughput.Value}, Speed(), RunsOf(s, calm), RunsOf(s, naive)), naive.Throughput.Value > 0 && calm.Throughput.Value > 0
	})
	return throughput, all
}

// tail returns the phase that forms are compared by.
func tail(s results.Sweep, l results.Level) string {
	r := s.Runs[l.Runs[0]]
	if r.IsOpen() {
		return results.FirstPhase(r)
	}
	return results.KeyPhase(r.Phases)
}

// pairs compares the levels that both series have. It returns false if one of them lacks a value, or
// there are none.
func pairs(s results.Sweep, naive, calm []results.Level, worse func(naive, calm results.Level) (Ratio, bool)) (all []ratioAt, ok bool) {
	for _, a := range naive {
		for _, b := range calm {
			at := Value(a, s.Axes[0])
			if at != Value(b, s.Axes[0]) || at == 0 { // 0 has no place on a logarithmic scale
				continue
			}
			times, known := worse(a, b)
			if !known {
				return nil, false
			}
			all = append(all, ratioAt{at, times})
		}
	}
	return all, len(all) > 0
}
