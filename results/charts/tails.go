package charts

import (
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// tails draws the highest percentile that the levels have, along a sweep's first axis. For a recipe it
// is that of the key phase, and all levels must have it. For a mix it is that of each phase, without
// the levels that have too few operations for it.
func tails(s results.Sweep, of subject) *Chart {
	phases := []string{of.keyPhase()}
	if of.runs[0].Mix != nil {
		phases = of.runs[0].Phases
	}
	for _, percentile := range []string{"p99", "p90", "p50"} {
		p := panel{height: tall}
		known := true
		for i, series := range of.swept(s) {
			if len(phases) > 1 {
				p.lines = append(p.lines, tailsOfAll(s, series, phases, percentile, len(p.lines))...)
				continue
			}
			l := line{name: series.Name, look: of.lookOf(s, series, i), at: tail(s.Axes[0], series, phases[0], percentile), marked: true, joined: true}
			known = known && len(l.at) > 1 && len(l.at) == len(tail(s.Axes[0], series, phases[0], "p50"))
			p.lines = append(p.lines, l)
		}
		if known && len(p.lines) > 0 {
			return tailsOf(s, of, p, phases, percentile)
		}
	}
	return nil
}

// tailsOfAll returns the lines of each phase of a series, each in its own colour. The chart already has
// the given number of other lines.
func tailsOfAll(s results.Sweep, series levels.Series, phases []string, percentile string, others int) (all []line) {
	for i, phase := range phases {
		l := line{name: document.Label(phase), look: nth(others+len(all), colours()[i%len(colours())]), at: tail(s.Axes[0], series, phase, percentile), marked: true, joined: true}
		if series.Beside != "" {
			l.name += ", " + series.Beside
		}
		if len(l.at) > 1 {
			all = append(all, l)
		}
	}
	return all
}

// tail returns a percentile along the axis, where it is known.
func tail(axis string, series levels.Series, phase, percentile string) (at []point) {
	for _, level := range series.Levels {
		if e, known := level.Latency[phase][percentile]; known && e.Value > 0 {
			at = append(at, estimated(levels.Value(level, axis), e))
		}
	}
	return at
}

func tailsOf(s results.Sweep, of subject, p panel, phases []string, percentile string) *Chart {
	format := func(v float64) string { return units.Duration(time.Duration(v)) }
	for i, l := range p.lines {
		p.lines[i] = l.saying(func(p point) string {
			return fmt.Sprintf("%s, %s: %s %s%s", l.name, onAxis(s.Axes[0], p.x), percentile, format(p.y), p.interval(format))
		})
	}
	what := "latency"
	if len(phases) == 1 {
		what = document.Label(phases[0])
	}
	p.x = levelAxis(s.Axes[0], placesOf(s, of))
	p.y = topped(what+" "+percentile, intervalsOf(p.lines), clock)
	var about []string
	for _, l := range p.lines {
		last := l.at[len(l.at)-1]
		about = append(about, fmt.Sprintf("%s: %s at %s", l.name, units.Duration(time.Duration(last.y)), onAxis(s.Axes[0], last.x)))
	}
	c := &Chart{
		Name:    slug(of.name, "latency", "by", s.Axes[0]),
		Title:   titled(fmt.Sprintf("%s %s by %s", upper(what), percentile, axisName(s.Axes[0])), of),
		Caption: "Lower is faster. Medians with their intervals.",
		panels:  []panel{p},
	}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}
