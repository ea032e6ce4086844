package charts

import (
	"image/color"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/plot/vg"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// Every ink is readable on the paper: the contrast is at least 4.5.
func TestContrast(t *testing.T) {
	var on tint
	for _, i := range tints() {
		switch i.ink {
		case paper:
			on = i
		case grid, band:
		default:
			for scheme, pair := range map[string][2]color.NRGBA{"light": {i.light, on.light}, "dark": {i.dark, on.dark}} {
				if c := contrast(pair[0], pair[1]); c < 4.5 {
					t.Errorf("%s in %s: contrast %.2f, want 4.5", i.ink, scheme, c)
				}
			}
		}
	}
	if c := contrast(rgb(0xffffff), rgb(0xcccccc)); c >= 4.5 {
		t.Errorf("grey on white: contrast %.2f, want less than 4.5", c)
	}
}

func contrast(a, b color.NRGBA) float64 {
	bright, dark := luminance(a), luminance(b)
	if bright < dark {
		bright, dark = dark, bright
	}
	return (bright + 0.05) / (dark + 0.05)
}

func luminance(c color.NRGBA) float64 {
	part := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

func TestLooksDiffer(t *testing.T) {
	looks := looksOf(resulttest.Lock().Runs)
	a, b := looks["predecessor"], looks["one-node"]
	if a.ink != recipe || b.ink != naive {
		t.Errorf("inks %s and %s, want those of their families", a.ink, b.ink)
	}
	if a.shape == b.shape || len(a.dash) == len(b.dash) {
		t.Error("without colour they look the same")
	}
}

// Three naive forms have three colours beside the recipe's. A library form shares a colour then, and
// differs from all others without colour.
func TestLooksOfManyForms(t *testing.T) {
	var runs []results.Run
	for _, f := range []struct{ form, family string }{
		{"predecessor", "recipe"}, {"go-zookeeper", "library"}, {"one-node", "naive"}, {"children-watch", "naive"}, {"poll", "naive"},
	} {
		runs = append(runs, results.Run{Recipe: "lock", Form: f.form, Family: f.family})
	}
	looks := looksOf(runs)
	inks := map[ink]bool{}
	for _, form := range []string{"predecessor", "one-node", "children-watch", "poll"} {
		inks[looks[form].ink] = true
	}
	if len(inks) != 4 || looks["predecessor"].ink != recipe || looks["one-node"].ink != naive || looks["go-zookeeper"].ink != recipe {
		t.Errorf("%v", looks)
	}
	for a, one := range looks {
		for b, other := range looks {
			if a != b && (one.shape == other.shape || slices.Equal(one.dash, other.dash)) {
				t.Errorf("without colour %s looks like %s", a, b)
			}
		}
	}
	if alone := looksOf(runs[:2]); alone["go-zookeeper"].ink != library {
		t.Errorf("%v, want the library's own colour", alone)
	}
}

// Repeated runs have one point, their median, with the range of the values.
func TestMediansOfRepeatedRuns(t *testing.T) {
	var s subject
	for _, v := range []float64{30, 10, 20, 40} {
		s.runs = append(s.runs, results.Run{Recipe: "lock", Form: "form", Clients: 8, ThroughputPerS: v})
	}
	rounds := func(r results.Run) (float64, bool) { return r.ThroughputPerS, true }
	want := []point{{x: 8, y: 25, low: 10, high: 40}}
	if diff := cmp.Diff(want, s.medians("form", rounds), cmp.AllowUnexported(point{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if throughputByClients(s) != nil {
		t.Error("one level has a chart against clients")
	}
}

// A curve ends where fewer than ten observations lie beyond.
func TestCurveEnds(t *testing.T) {
	all := curve(resulttest.Times(4000, time.Millisecond))
	if end := all[len(all)-1].x; math.Abs(end-400) > 1e-6 { // 99.75 %, beyond which there are ten observations
		t.Errorf("it ends at 1/(1−p) = %v, want 400", end)
	}
	if v := valueAt(all, 2); math.Abs(v/1e6-1) > 0.05 {
		t.Errorf("the median is %v ns, want a millisecond", v)
	}
	if all := curve(resulttest.Times(10, time.Millisecond)); all != nil {
		t.Errorf("%d points of ten observations, want none", len(all))
	}
}

func TestMergedIsOfAllRuns(t *testing.T) {
	r := resulttest.Predecessor(8)
	if n := merged([]results.Run{r, r, r}, "handoff").TotalCount(); n != 12000 {
		t.Errorf("%d observations, want those of three runs of 4000", n)
	}
	r.Latency["handoff"] = results.Latency{Service: &results.Distribution{HDR: "nothing of the kind"}}
	if merged([]results.Run{r}, "handoff") != nil {
		t.Error("a histogram that cannot be read is shown")
	}
}

func TestPower(t *testing.T) {
	of := func(values map[int]float64) (string, int) {
		var s subject
		for n, v := range values {
			s.runs = append(s.runs, results.Run{Recipe: "lock", Form: "form", Clients: n, Cost: results.Cost{PerRound: &results.PerRound{Notifications: v}}})
		}
		grows, law := s.power("form")
		return grows, len(law)
	}
	for _, c := range []struct {
		values map[int]float64
		want   string
		points int
	}{
		{map[int]float64{2: 1, 4: 3, 8: 8, 16: 16, 32: 32}, " ∝ N^1.00", 2}, // fitted to the upper half
		{map[int]float64{4: 1, 8: 1, 16: 1}, ", flat", 2},
		{map[int]float64{4: 16, 8: 8, 16: 4}, " ∝ N^−1.00", 2},
		{map[int]float64{4: 1, 8: 30, 16: 2}, "", 0},        // no power
		{map[int]float64{4: 1, 8: 2}, "", 0},                // too few
		{map[int]float64{2: 1.01, 4: 2.98, 8: 6.76}, "", 0}, // not known: the interval includes 0
		{map[int]float64{4: 0, 8: 2, 16: 4}, "", 0},
	} {
		if grows, points := of(c.values); grows != c.want || points != c.points {
			t.Errorf("%v: %q and %d points, want %q and %d", c.values, grows, points, c.want, c.points)
		}
	}
}

func TestTicks(t *testing.T) {
	words := func(a axis) (all []string) {
		for _, tick := range a.ticks {
			all = append(all, tick.Label)
		}
		return all
	}
	for name, c := range map[string]struct {
		axis axis
		want []string
	}{
		"times":       {logarithmic("", []float64{60e3, 4e7}, clock), []string{"100 µs", "1 ms", "10 ms"}},
		"near times":  {logarithmic("", []float64{1e6, 3e6}, clock), []string{"1 ms", "1.5 ms", "2 ms", "3 ms"}},
		"top":         {topped("", []float64{1, 46}, number), []string{"1", "3", "10", "30", "50"}},
		"top near":    {topped("", []float64{60e3, 1.02e7}, clock), []string{"100 µs", "1 ms", "10 ms", "20 ms"}},
		"levels":      {exactly("", []float64{2, 8, 8, 32}, number), []string{"2", "8", "32"}},
		"from zero":   {linear("", []float64{870, 300}, number), []string{"0", "200", "400", "600", "800", "1\u202f000"}},
		"around zero": {linear("", []float64{-12, 9}, number), []string{"−15", "−10", "−5", "0", "5", "10"}},
		"percentiles": {percentiles([]line{{at: []point{{x: 1200}}}}), []string{"0 %", "50 %", "90 %", "99 %", "99.9 %"}},
		"reads":       {levelAxis("reads", []float64{0, 0.5, 1}), []string{"0 %", "50 %", "100 %"}},
	} {
		if diff := cmp.Diff(c.want, words(c.axis)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNamesKeepApart(t *testing.T) {
	places := []place{{y: 50}, {y: 51}, {y: 10}, {y: 49}}
	for i := range places {
		places[i].end.Y = places[i].y
	}
	if !spread(places, 0, 60) {
		t.Error("no name moved far")
	}
	var last vg.Length
	for i, p := range places {
		if i > 0 && p.y-last < apart || p.y < 0 || p.y > 60 {
			t.Errorf("name %d at %v, after one at %v", i, p.y, last)
		}
		last = p.y
	}
	if spread([]place{{y: 10, end: vg.Point{Y: 10}}, {y: 40, end: vg.Point{Y: 40}}}, 0, 60) {
		t.Error("names moved that had room")
	}
}

// A count that is not determined even at rest is drawn at its lower bound. Files that do not record the
// number of rounds are not drawn.
func TestUndeterminedCountsAreTheirLeast(t *testing.T) {
	least, most := int64(6), int64(9)
	rows := []results.Settled{
		{Recipe: "queue", Form: "relist", Clients: 2, Rounds: 2, Notifications: results.Exact{Counted: 8, Expected: &least, Most: &most}},
		{Recipe: "queue", Form: "relist", Clients: 4, Rounds: 2, Notifications: results.Exact{Counted: 7, Expected: &least, Most: &most}},
		{Recipe: "queue", Form: "relist", Clients: 8, Notifications: results.Exact{Counted: 7}}, // the number of rounds is not recorded
	}
	c := counted("queue", rows, woken())
	want := []point{{x: 2, y: 3}, {x: 4, y: 3}}
	for i, l := range c.panels[0].lines {
		if diff := cmp.Diff(want, l.at, cmp.AllowUnexported(point{}), cmpopts.IgnoreFields(point{}, "text")); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", i, diff)
		}
	}
	if counted("queue", rows, asked()) != nil {
		t.Error("a chart of reads and writes, of which there are none")
	}
}

// The latency line has a gap where no rounds ended.
func TestLinesAreBrokenWhereNothingEnded(t *testing.T) {
	r := results.Run{DurationNS: 5 * time.Second}
	for i, p99 := range []time.Duration{3, 4, 0, 0, 5} {
		r.Intervals = append(r.Intervals, results.Interval{T: time.Duration(i) * time.Second, P50: p99, P90: p99, P99: p99})
	}
	got := pieces(line{name: "recipe"}, waits(r, func(v results.Interval) time.Duration { return v.P99 }))
	if len(got) != 2 || len(got[0].at) != 2 || len(got[1].at) != 1 {
		t.Fatalf("%+v, want a line of two points and one of one", got)
	}
	if got[0].name != "" || got[0].marked || got[1].name != "recipe" || !got[1].marked {
		t.Errorf("%+v, want a name at the last, and a mark where there is one point", got)
	}
}
