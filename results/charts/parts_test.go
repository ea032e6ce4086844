package charts

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	runs := resulttest.Lock().Runs
	looks := looksOf(runs, inksOf(runs))
	a, b := looks["predecessor"], looks["one-node"]
	if a.ink != recipe || b.ink != naive {
		t.Errorf("inks %s and %s, want those of their families", a.ink, b.ink)
	}
	if a.shape == b.shape || len(a.dash) == len(b.dash) {
		t.Error("without colour they look the same")
	}
}

// Families keep their colours however many forms there are. A second naive form has the spare colour, further ones
// share their family's, and all differ without colour.
func TestLooksOfManyForms(t *testing.T) {
	var runs []results.Run
	for _, f := range []struct{ form, family string }{
		{"predecessor", "recipe"}, {"go-zookeeper", "library"}, {"one-node", "naive"}, {"children-watch", "naive"}, {"poll", "naive"},
	} {
		runs = append(runs, results.Run{Recipe: "lock", Form: f.form, Family: f.family})
	}
	looks := looksOf(runs, inksOf(runs))
	got := map[string]ink{}
	for form, look := range looks {
		got[form] = look.ink
	}
	want := map[string]ink{"predecessor": recipe, "go-zookeeper": library, "one-node": naive, "children-watch": load, "poll": naive}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for a, one := range looks {
		for b, other := range looks {
			if a != b && (one.shape == other.shape || slices.Equal(one.dash, other.dash)) {
				t.Errorf("without colour %s looks like %s", a, b)
			}
		}
	}
}

// A form has the same colour on every service and in every recipe, and the forms of one recipe have
// different ones.
func TestAFormHasOneColour(t *testing.T) {
	var runs []results.Run
	for _, r := range []struct{ recipe, form, family, url string }{
		{"queue", "fair", "recipe", "native:"}, {"lock", "predecessor", "recipe", "native:"}, {"lock", "fair", "recipe", "native:"},
		{"lock", "one-node", "naive", "native:"}, {"lock", "predecessor", "recipe", "etcd:"}, {"lock", "one-node", "naive", "etcd:"},
	} {
		runs = append(runs, results.Run{Recipe: r.recipe, Form: r.form, Family: r.family, Backend: results.Backend{URL: r.url}})
	}
	got := map[string]ink{}
	for _, s := range subjects(runs) {
		for name, look := range s.looks {
			got[s.name+" "+name] = look.ink
		}
	}
	want := map[string]ink{
		"queue fair": recipe, "lock fair on native": recipe, "lock predecessor on native": load, "lock predecessor on etcd": load,
		"lock one-node on native": naive, "lock one-node on etcd": naive,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Each line of the cost model has its name, unless one that ends at the same place has it.
func TestTheModelIsNamedOnce(t *testing.T) {
	f := resulttest.Lock()
	for _, r := range f.Runs[:len(f.Runs):len(f.Runs)] {
		r.Backend.URL = "etcd:"
		f.Runs = append(f.Runs, r)
	}
	var named []float64
	for _, l := range Charts(f)[0].panels[0].lines {
		if l.name == costModel {
			named = append(named, l.at[len(l.at)-1].y)
		}
	}
	if want := []float64{1, 127}; !slices.Equal(named, want) {
		t.Errorf("the cost model is named at %v, want %v", named, want)
	}
}

// The charts of one recipe belong together.
func TestChartsOfSeveralRecipes(t *testing.T) {
	f := resulttest.Lock()
	if c := Charts(f)[0]; c.Subject != "" {
		t.Errorf("the charts of the only recipe are of %q", c.Subject)
	}
	each := len(Charts(f))
	for _, r := range f.Runs[:len(f.Runs):len(f.Runs)] {
		r.Recipe = "election"
		f.Runs = append(f.Runs, r)
	}
	var got []string
	for _, c := range Charts(f) {
		got = append(got, c.Subject)
		if c.Wide != strings.HasSuffix(c.Name, "-timeline") {
			t.Errorf("%s: wide %v", c.Name, c.Wide)
		}
	}
	if want := append(slices.Repeat([]string{"lock"}, each), slices.Repeat([]string{"election"}, each)...); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
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
		{map[int]float64{4: 16, 8: 8, 16: 4}, "", 0}, // too short a range
		{map[int]float64{4: 16, 8: 8, 32: 2}, " ∝ N^−1.00", 2},
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
		for _, t := range a.ticks {
			all = append(all, t.label)
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
		"zero":        {logarithmic("", []float64{0, 1000}, number), []string{"0", "200", "400", "600", "800", "1\u202f000"}},
		"zero at top": {topped("", []float64{0, 4}, number), []string{"0", "1", "2", "3", "4"}},
		"level zero":  {levelAxis("session-timeout", []float64{0, 2e9}), []string{"0", "500 ms", "1 s", "1.5 s", "2 s"}},
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

// A label is left out where it would touch the one before.
func TestLabelsFit(t *testing.T) {
	words := func(a axis) (all []string) {
		for _, tick := range a.ticks {
			all = append(all, tick.label)
		}
		return all
	}
	for _, c := range []struct {
		axis   axis
		length float64
		want   []string
	}{
		{percentiles([]line{{at: []point{{x: 1200}}}}), 300, []string{"0 %", "50 %", "90 %", "99 %", "99.9 %"}},
		{percentiles([]line{{at: []point{{x: 1200}}}}), 150, []string{"0 %", "", "90 %", "99 %", "99.9 %"}},
		{linear("", []float64{0, 1000}, number), 90, []string{"0", "200", "", "600", "", "1\u202f000"}},
	} {
		if diff := cmp.Diff(c.want, words(c.axis.fitted(c.length))); diff != "" {
			t.Errorf("on %v (-want +got):\n%s", c.length, diff)
		}
	}
}

func TestNamesKeepApart(t *testing.T) {
	places := []place{{y: 50}, {y: 51}, {y: 10}, {y: 49}}
	for i := range places {
		places[i].end.y = places[i].y
	}
	if !spread(places, 0, 60) {
		t.Error("no name moved far")
	}
	var last float64
	for i, p := range places {
		if i > 0 && p.y-last < apart || p.y < 0 || p.y > 60 {
			t.Errorf("name %d at %v, after one at %v", i, p.y, last)
		}
		last = p.y
	}
	if spread([]place{{y: 10, end: spot{y: 10}}, {y: 40, end: spot{y: 40}}}, 0, 60) {
		t.Error("names moved that had room")
	}
}

// Only the parts of a path inside the area are drawn, and a path that stays inside is one piece.
func TestPathsEndAtTheArea(t *testing.T) {
	a := area{left: 0, top: 0, right: 10, bottom: 10}
	for name, c := range map[string]struct {
		path []spot
		want [][]spot
	}{
		"inside":              {[]spot{{1, 1}, {5, 9}, {9, 1}}, [][]spot{{{1, 1}, {5, 9}, {9, 1}}}},
		"on the edge":         {[]spot{{0, 0}, {10, 0}}, [][]spot{{{0, 0}, {10, 0}}}},
		"out and in":          {[]spot{{5, 5}, {5, -5}, {7, -5}, {7, 5}}, [][]spot{{{5, 5}, {5, 0}}, {{7, 0}, {7, 5}}}},
		"through":             {[]spot{{-5, 5}, {15, 5}}, [][]spot{{{0, 5}, {10, 5}}}},
		"outside":             {[]spot{{-5, -5}, {15, -5}, {15, 15}}, nil},
		"past a corner":       {[]spot{{-6, 5}, {5, -6}}, nil},
		"a point":             {[]spot{{5, 5}}, nil},
		"stands at one point": {[]spot{{5, 5}, {5, 5}}, [][]spot{{{5, 5}, {5, 5}}}},
	} {
		if diff := cmp.Diff(c.want, a.pieces(c.path), cmp.AllowUnexported(spot{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
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
	c := counted("queue", rows, nil, woken())
	want := []point{{x: 2, y: 3}, {x: 4, y: 3}}
	for i, l := range c.panels[0].lines {
		if diff := cmp.Diff(want, l.at, cmp.AllowUnexported(point{}), cmpopts.IgnoreFields(point{}, "text")); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", i, diff)
		}
	}
	if counted("queue", rows, nil, asked()) != nil {
		t.Error("a chart of reads and writes, of which there are none")
	}
}

// An interval twice as long as the others does not hide them, and a short rest at the end is left out.
func TestOneLongIntervalHidesNoOther(t *testing.T) {
	r := results.Run{DurationNS: 520 * time.Millisecond}
	for _, at := range []time.Duration{0, 200, 300, 400, 500} {
		r.Intervals = append(r.Intervals, results.Interval{T: at * time.Millisecond, Rounds: 10})
	}
	want := []point{{x: 0.1, y: 50}, {x: 0.25, y: 100}, {x: 0.35, y: 100}, {x: 0.45, y: 100}}
	if diff := cmp.Diff(want, rounds(r), cmp.AllowUnexported(point{}), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("rounds a second (-want +got):\n%s", diff)
	}
}

// The latency line has a gap where no rounds ended.
func TestLinesAreBrokenWhereNothingEnded(t *testing.T) {
	r := results.Run{DurationNS: 5 * time.Second}
	for i, p99 := range []time.Duration{3, 4, 0, 0, 5} {
		r.Intervals = append(r.Intervals, results.Interval{T: time.Duration(i) * time.Second, P50: p99, P90: p99, P99: p99})
	}
	got := pieces(line{name: "recipe"}, waits(r, func(v results.Interval) time.Duration { return v.P99 }, 0, 100))
	if len(got) != 2 || len(got[0].at) != 2 || len(got[1].at) != 1 {
		t.Fatalf("%+v, want a line of two points and one of one", got)
	}
	if got[0].name != "" || got[0].marked || got[1].name != "recipe" || !got[1].marked {
		t.Errorf("%+v, want a name at the last, and a mark where there is one point", got)
	}
}

// The levels of a sweep over a narrow range fill the axis, as those over a wide one do.
func TestLevelsFillTheirAxis(t *testing.T) {
	for _, levels := range [][]float64{{14, 16, 20}, {2, 8, 512}} {
		a := exactly("", levels, number)
		if first, last := a.share(levels[0]), a.share(levels[2]); first < 0 || first > 0.07 || last < 0.93 || last > 1 {
			t.Errorf("%v lie from %.2f to %.2f of the axis", levels, first, last)
		}
	}
	if a := exactly("", []float64{8, 8}, number); a.share(8) < 0.4 || a.share(8) > 0.6 {
		t.Errorf("a single level lies at %.2f of the axis", a.share(8))
	}
}
