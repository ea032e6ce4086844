package charts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

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

// dataWidth returns the width of the chart's data on a phone.
func dataWidth(c Chart) float64 {
	left, right := drawing{c, phone}.columns()
	return right - left
}

// The width of the plot area does not depend on the figures, their names and their changes.
func TestComparisonHasFixedPlotArea(t *testing.T) {
	near, far := dataWidth(Charts(resulttest.Comparison())[0]), dataWidth(Charts(farApart())[0])
	if near < phone-40 || far < phone-40 {
		t.Errorf("the data are %v and %v wide, of a chart of %v", near, far, phone)
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
		place := func(v float64) float64 {
			return dataWidth(chart) * x.share(v)
		}
		style := lettering{size: small}
		for i := 1; i < len(x.ticks); i++ {
			a, b := x.ticks[i-1], x.ticks[i]
			if room := place(b.value) - place(a.value) - (style.width(a.label)+style.width(b.label))/2; room < 4 {
				t.Errorf("%s: %v between the labels %q and %q", name, room, a.label, b.label)
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
		for _, m := range text.FindAllStringSubmatch(drawing{Charts(c)[0], phone}.element("narrow", ""), -1) {
			left, _ := strconv.ParseFloat(m[1], 64)
			long, _ := strconv.ParseFloat(m[3], 64)
			lines[m[2]] = append(lines[m[2]], span{left, left + long, m[4]})
			if left < 0 || left+long > phone {
				t.Errorf("%s: %q is from %v to %v of %v", name, m[4], left, left+long, phone)
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
		for i, m := range a.ticks {
			if m.value < a.low || m.value > a.high || i > 0 && m.value <= a.ticks[i-1].value || strings.Contains(m.label, "e") || len(m.label) > 24 {
				t.Errorf("%v to %v: tick %v %q", c.low, c.high, m.value, m.label)
			}
		}
	}
}
