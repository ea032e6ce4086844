package charts

import (
	"fmt"
	"math"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// growth draws a sweep's notifications per round against the number of clients.
func growth(s results.Sweep, of subject) *Chart {
	if s.Axes[0] != "clients" || len(s.Axes) > 1 {
		return nil
	}
	measured, model := map[string][]point{}, map[string][]point{}
	for _, l := range s.Levels {
		r := s.Runs[l.Runs[0]]
		if !of.has(r) {
			continue
		}
		if e, known := l.PerRound["notifications"]; known && e.Value > 0 {
			measured[of.key(r)] = append(measured[of.key(r)], estimated(float64(l.Clients), e))
		}
		modelled(model, of.key(r), r)
	}
	return herd(of, measured, model)
}

// throughput draws a sweep's rounds per second along its first axis, with the Universal Scalability Law
// if it was fitted, and the medians' distance from it.
func throughput(s results.Sweep, of subject) *Chart {
	main, off := panel{height: tall}, panel{height: 110, heading: "deviation"}
	var about []string
	for i, series := range of.swept(s) {
		l := line{name: series.Name, look: of.lookOf(s, series, i), marked: true}
		for _, level := range series.Levels {
			l.at = append(l.at, estimated(levels.Value(level, s.Axes[0]), level.Throughput))
		}
		law := scaled(series.Curve)
		l.joined = law == nil
		if law != nil {
			main.lines = append(main.lines, line{look: l.look, at: law, joined: true, thin: true})
			off.lines = append(off.lines, line{look: l.look, at: residuals(series.Curve.USL), marked: true})
			main.rules = append(main.rules, knee(series, l.at)...)
		}
		main.lines = append(main.lines, l.saying(func(p point) string {
			return fmt.Sprintf("%s, %s: %s %s/s%s", series.Name, onAxis(s.Axes[0], p.x), units.Rate(p.y), done(of), p.interval(units.Rate))
		}))
		first, last := l.at[0], l.at[len(l.at)-1]
		about = append(about, fmt.Sprintf("%s: %s a second at %s, %s at %s", l.name, units.Rate(first.y), onAxis(s.Axes[0], first.x), units.Rate(last.y), onAxis(s.Axes[0], last.x)))
	}
	if len(main.lines) == 0 || len(main.lines[0].at) < 2 {
		return nil
	}
	main.x = levelAxis(s.Axes[0], placesOf(s, of))
	main.y = linear(done(of)+"/s", intervalsOf(main.lines), number)
	c := &Chart{Name: slug(of.name, "throughput"), Title: titled("Throughput by "+axisName(s.Axes[0]), of), panels: []panel{main}}
	c.Caption = "Medians with their intervals."
	if len(off.lines) > 0 {
		c.Caption = "Medians with their intervals, and the Universal Scalability Law fitted to them; below, the deviation of the medians from it."
		off.x, off.y = main.x, symmetricAxis("difference in %", off.lines)
		c.panels[0].x.label = ""
		c.panels = append(c.panels, off)
	}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

func estimated(x float64, e results.Estimate) point {
	return point{x: x, y: e.Value, low: e.Low, high: e.High}
}

// scaled returns the curve of a law, nil if there is none.
func scaled(c *results.Curve) (law []point) {
	if c == nil || c.USL == nil || len(c.USL.Residuals) < 2 {
		return nil
	}
	u := stats.USL{Alpha: c.USL.Alpha, Beta: c.USL.Beta, Gamma: c.USL.Gamma}
	first, last := c.USL.Residuals[0].N, c.USL.Residuals[len(c.USL.Residuals)-1].N
	const steps = 60
	for i := range steps + 1 {
		n := first * math.Pow(last/first, float64(i)/steps)
		law = append(law, point{x: n, y: u.Value(n)})
	}
	return law
}

// knee returns a rule at the peak of the throughput, if the peak was measured.
func knee(s levels.Series, at []point) []rule {
	k := s.Curve.USL.Knee
	if k == nil || *k > at[len(at)-1].x || *k < at[0].x {
		return nil
	}
	return []rule{{x: *k, name: fmt.Sprintf("peak at %s", number(math.Round(*k)))}}
}

// residuals returns the medians' distance from the law, in percent.
func residuals(u *results.USL) (all []point) {
	for _, r := range u.Residuals {
		all = append(all, point{x: r.N, y: 100 * (r.Measured/r.Fitted - 1)})
	}
	return all
}
