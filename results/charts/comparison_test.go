package charts

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// farApart returns a comparison whose figures differ by orders of magnitude, of subjects with long
// names, and with one figure that is not known.
func farApart() results.Comparison {
	c := resulttest.Comparison()
	c.Base.Label = "lock/predecessor on zookeeper://zk1.example.org:2181,zk2.example.org:2181,zk3.example.org:2181/bench?client=go-zookeeper"
	subject := "lock/predecessor on zookeeper://zk1.example.org:2181,zk2.example.org:2181, 128 clients, 16 groups"
	for i, ratio := range []float64{300, 0.002, 1.01} {
		ch := &c.Changes[i]
		ch.Subject, ch.Ratios = subject, []float64{ratio / 1.5, ratio, ratio * 1.5, 0}
		ch.Effect = &results.Estimate{Value: ratio - 1, Low: ratio/1.2 - 1, High: ratio*1.2 - 1}
	}
	c.Changes[3] = results.Change{Subject: subject, Figure: "release.response.p99", Unit: "ns", Gated: true, Minimum: 0.05, Verdict: results.Invalid, Why: "n/a: too few observations"}
	return c
}

// dataWidth returns the width of the chart's plot area.
func dataWidth(c Chart) vg.Length {
	p := c.panels[0]
	area := p.plot(new([]tip)).DataCanvas(draw.New(vgsvg.New(width, c.height())))
	return area.Max.X - area.Min.X - max(p.margin, margin(p.lines)) - border
}

// The width of the plot area does not depend on the figures, their names and their changes.
func TestComparisonHasFixedPlotArea(t *testing.T) {
	near, far := dataWidth(Charts(resulttest.Comparison())[0]), dataWidth(Charts(farApart())[0])
	if near < 380 || far < 380 {
		t.Errorf("the data are %v and %v wide, of a chart of %v", near, far, width)
	}
}

// Ratios that are orders of magnitude apart are drawn apart, and the labels of the axis do not overlap.
func TestComparisonAxisIsLogarithmic(t *testing.T) {
	for name, c := range map[string]results.Comparison{"near": resulttest.Comparison(), "far": farApart()} {
		chart := Charts(c)[0]
		x := chart.panels[0].x
		if !x.log || x.low <= 0 {
			t.Fatalf("%s: the axis is from %v, logarithmic %v", name, x.low, x.log)
		}
		if len(x.ticks) < 2 {
			t.Errorf("%s: %d ticks", name, len(x.ticks))
		}
		place := func(v float64) vg.Length {
			return dataWidth(chart) * vg.Length(math.Log(v/x.low)/math.Log(x.high/x.low))
		}
		style := typeface(small, muted, false)
		for i := 1; i < len(x.ticks); i++ {
			a, b := x.ticks[i-1], x.ticks[i]
			if room := place(b.Value) - place(a.Value) - (style.Width(a.Label)+style.Width(b.Label))/2; room < 4 {
				t.Errorf("%s: %v between the labels %q and %q", name, room, a.Label, b.Label)
			}
		}
		for _, l := range chart.panels[0].lines {
			for _, p := range l.at {
				if p.x < x.low || p.x > x.high {
					t.Errorf("%s: a mark at %v is outside of [%v, %v]", name, p.x, x.low, x.high)
				}
			}
		}
	}
}

// No text is wider than the chart or overlaps another on its line, and the title of the axis is
// complete.
func TestComparisonTextsDoNotOverlap(t *testing.T) {
	text := regexp.MustCompile(`<text x="([^"]+)" y="([^"]+)"[^>]*textLength="([^"]+)"[^>]*>([^<]*)<`)
	for name, c := range map[string]results.Comparison{"near": resulttest.Comparison(), "far": farApart()} {
		type span struct {
			left, right float64
			words       string
		}
		lines := map[string][]span{}
		for _, m := range text.FindAllStringSubmatch(Charts(c)[0].Inline(), -1) {
			left, _ := strconv.ParseFloat(m[1], 64)
			long, _ := strconv.ParseFloat(m[3], 64)
			lines[m[2]] = append(lines[m[2]], span{left, left + long, m[4]})
			if left < 0 || left+long > float64(width) {
				t.Errorf("%s: %q is from %v to %v of %v", name, m[4], left, left+long, width)
			}
		}
		for _, l := range lines {
			slices.SortFunc(l, func(a, b span) int { return int(a.left - b.left) })
			for i := 1; i < len(l); i++ {
				if l[i].left < l[i-1].right {
					t.Errorf("%s: %q runs into %q", name, l[i-1].words, l[i].words)
				}
			}
		}
		if len(lines) < 6 {
			t.Errorf("%s: texts on %d lines only", name, len(lines))
		}
	}
}

// A figure that is not known has a row that says so.
func TestComparisonShowsUnknownFigures(t *testing.T) {
	c := Charts(farApart())[0]
	if svg := c.Inline(); !strings.Contains(svg, ">n/a invalid<") || !strings.Contains(c.About, "release.response.p99 n/a invalid") {
		t.Errorf("the row of the unknown figure is missing: %s", c.About)
	}
}

// Ratios have readable labels, from a fraction of a percent to many orders of magnitude.
func TestRatioAxis(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{{1, 1}, {0.999, 1.001}, {0.95, 1.3}, {0.5, 2}, {0.3, 1.2}, {1, 5}, {0.1, 10}, {1e-3, 1e3}, {1e-6, 1e6}, {1, 40}} {
		a := ratioAxis([]float64{c.low, c.high})
		if len(a.ticks) < 2 || len(a.ticks) > 9 {
			t.Errorf("%v to %v: %d ticks", c.low, c.high, len(a.ticks))
		}
		for i, tick := range a.ticks {
			if tick.Value < a.low || tick.Value > a.high || i > 0 && tick.Value <= a.ticks[i-1].Value || strings.Contains(tick.Label, "e") || len(tick.Label) > 24 {
				t.Errorf("%v to %v: tick %v %q", c.low, c.high, tick.Value, tick.Label)
			}
		}
	}
}
