package charts

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// latencies draws the latency of a phase by percentile, for all forms at the largest number of clients.
// The axis expands the percentiles close to 100 %, where herds show.
func latencies(s subject, phase string) *Chart {
	forms, clients := s.crowd()
	c := &Chart{
		Name:    slug(s.name, "latency", phase),
		Title:   titled(fmt.Sprintf("%s latency by percentile, %s clients", upper(levels.PhaseName(phase)), units.Count(int64(clients))), s),
		Caption: fmt.Sprintf("Lower is faster. A line ends where fewer than %d observations lie beyond.", results.Beyond),
	}
	p := panel{height: tall}
	var about []string
	for _, runs := range forms {
		name := s.key(runs[0])
		if l := (line{name: name, look: s.looks[name], at: curve(merged(runs, phase)), joined: true}); len(l.at) > 1 {
			p.lines = append(p.lines, l, l.atPercentiles())
			last := l.at[len(l.at)-1]
			about = append(about, fmt.Sprintf("%s: %s at 50 %%, %s at %s", l.name, units.Duration(time.Duration(valueAt(l.at, 2))),
				units.Duration(time.Duration(last.y)), percentile(1-1/last.x)))
		}
	}
	if len(p.lines) == 0 {
		return nil
	}
	p.x = percentiles(p.lines)
	p.y = topped(levels.PhaseName(phase)+" latency", valuesOf(p.lines, func(p point) float64 { return p.y }), clock)
	if n := len(forms[0]); n > 1 {
		c.Caption += fmt.Sprintf(" Each is of %d runs, put together.", n)
	}
	c.panels = []panel{p}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

// merged merges the histograms of the latency in all runs; nil if there is none.
func merged(runs []results.Run, phase string) *hdrhistogram.Histogram {
	var all *hdrhistogram.Histogram
	for _, r := range runs {
		d := r.Times(phase)
		if d == nil {
			continue
		}
		h, err := hdrhistogram.Decode([]byte(d.HDR))
		switch {
		case err != nil:
			return nil
		case all == nil:
			all = h
		default:
			all.Merge(h)
		}
	}
	return all
}

// curve returns a histogram by percentile: x is 1/(1−p), so that each factor of ten adds a nine to the
// percentile, and y is in nanoseconds.
func curve(h *hdrhistogram.Histogram) (all []point) {
	if h == nil || h.TotalCount() <= results.Beyond {
		return nil
	}
	most := float64(h.TotalCount()) / results.Beyond
	const steps = 120
	for i := range steps + 1 {
		x := math.Pow(most, float64(i)/steps)
		if y := float64(h.ValueAtQuantile(100 * (1 - 1/x))); y > 0 {
			all = append(all, point{x: x, y: y})
		}
	}
	return all
}

// atPercentiles returns an invisible line with the values at the usual percentiles.
func (l line) atPercentiles() line {
	end := l.at[len(l.at)-1]
	values := line{look: l.look}
	for _, x := range []float64{2, 4, 10, 20, 100, 1e3, 1e4, 1e5} {
		if x < end.x {
			values.at = append(values.at, point{x: x, y: valueAt(l.at, x)})
		}
	}
	values.at = append(values.at, end)
	return values.saying(func(p point) string {
		return fmt.Sprintf("%s, %s: %s", l.name, percentile(1-1/p.x), units.Duration(time.Duration(p.y)))
	})
}

// valueAt returns the value at the first point from x on.
func valueAt(all []point, x float64) float64 {
	for _, p := range all {
		if p.x >= x*0.999 {
			return p.y
		}
	}
	return all[len(all)-1].y
}

// percentiles returns the axis of 1/(1−p).
func percentiles(lines []line) axis {
	a := axis{label: "percentile", log: true, low: 1, high: 2}
	for _, l := range lines {
		a.high = max(a.high, l.at[len(l.at)-1].x)
	}
	marks := []float64{1, 2, 10, 100, 1e3, 1e4, 1e5, 1e6}
	if a.high < 300 { // there is room for more labels
		marks = append(marks, 4, 20, 50)
	}
	for _, x := range marks {
		if x <= a.high {
			a.ticks = append(a.ticks, tick{value: x, label: percentile(1 - 1/x)})
		}
	}
	return a
}

// percentile formats a share with as many decimals as it needs close to 100 %: "99.9 %".
func percentile(p float64) string {
	decimals := 0
	if p > 0 && p < 1 {
		decimals = max(0, int(math.Ceil(-math.Log10(1-p)-1e-9))-2)
	}
	return fmt.Sprintf("%.*f %%", decimals, 100*p)
}

// slug joins the parts to a file name.
func slug(parts ...string) string {
	words := strings.FieldsFunc(strings.Join(parts, "-"), func(c rune) bool {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	return strings.Join(words, "-")
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
