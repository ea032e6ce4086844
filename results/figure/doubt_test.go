package figure_test

import (
	"math"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// sides says on which sides of the value the true one can be.
func sides(r figure.Reading) (b figure.Bias) {
	if r.Low < r.Value {
		b |= figure.Lower
	}
	if r.High > r.Value {
		b |= figure.Higher
	}
	return b
}

// doubted returns a run that has everything, with doubts.
func doubted(doubts ...results.Warning) results.Run {
	r := full()
	r.Doubts = doubts
	return r
}

// The columns of the table of doubts: the kinds of figures, each with the figures that it has. The first that fits counts.
var columns = []struct {
	name string
	fits *regexp.Regexp
}{
	{"violations", regexp.MustCompile(`^safety\.violations$`)},
	{"of the generator", regexp.MustCompile(`^(generator|machine)\.|^rate\.offered$`)},
	{"load, least", regexp.MustCompile(`^background\..*\.min$`)},
	{"load, response", regexp.MustCompile(`^background\..*\.response\.`)},
	{"load, service", regexp.MustCompile(`^background\..*\.service\.`)},
	{"load, rate", regexp.MustCompile(`^background\.rounds_per_s$`)},
	{"load, extra", regexp.MustCompile(`^background\.(late|skipped|unfinished)$`)},
	{"load, count", regexp.MustCompile(`^background\.(reads|errors)$`)},
	{"least", regexp.MustCompile(`^acquire\..*\.min$`)},
	{"response", regexp.MustCompile(`^acquire\.response\.`)},
	{"service", regexp.MustCompile(`^acquire\.service\.`)},
	{"wait", regexp.MustCompile(`^fairness\.longest_wait$`)},
	{"between", regexp.MustCompile(`^(drain|from_ack)\.`)},
	{"rate", regexp.MustCompile(`^(rounds|operations|notifications)_per_s$|^rounds$|^rate\.achieved$|^mix\.transactions_per_s$|^rounds_per_s\.min$`)},
	{"extra", regexp.MustCompile(`^sessions\.|^missed$`)},
	{"other", regexp.MustCompile(`^server\.(cpu|written|fsyncs)_per_round$|^server\.(memory|fsync_mean)$|^rounds_per_s\.max$|^attempts\.per_s$`)},
	{"whole", regexp.MustCompile(`^(server|whole)\..*_per_round$`)},
	{"identities", regexp.MustCompile(`^identities`)},
	{"each round", regexp.MustCompile(`_per_round$`)},
	{"count", regexp.MustCompile(`^(mix|fanout|fairness|safety|attempts|watches|return)\.|^(read_write_ratio|wasted|errors|behind|heartbeats_per_s)$`)},
}

func columnOf(name string) string {
	for _, c := range columns {
		if c.fits.MatchString(name) {
			return c.name
		}
	}
	return ""
}

const lower, higher, either = figure.Lower, figure.Higher, figure.Either

// The table of doubts: on which sides the true value can lie, by the kind of figure. What is not listed is not in doubt.
// Infinite is a percentile of response times that is infinite, of the load that the doubt is about.
var doubts = []struct {
	doubt    string
	warning  results.Warning
	sides    map[string]figure.Bias
	infinite figure.Bias
}{
	{"without a size: generator short of processors", results.Warning{Code: metrics.Starved}, tooLong, lower},
	{"without a size: generator kept the machine busy", results.Warning{Code: metrics.ClientBound}, tooLong, lower},
	{"without a size: stolen", results.Warning{Code: metrics.Stolen}, tooLong, lower},
	{"all of the window: other programs", results.Warning{Code: metrics.Others, Numbers: metrics.Numbers{metrics.LostShare: 1}}, tooLong, lower},
	{"a tenth of the window: other programs", results.Warning{Code: metrics.Others, Numbers: metrics.Numbers{metrics.LostShare: 0.1}}, tooLong, 0},
	{"skipped", results.Warning{Code: metrics.Skipped}, map[string]figure.Bias{"response": higher, "wait": higher}, 0},
	{"failed", results.Warning{Code: metrics.Failed}, map[string]figure.Bias{"response": higher, "service": higher, "wait": higher}, 0},
	{"unfinished", results.Warning{Code: metrics.Unfinished}, map[string]figure.Bias{"response": higher, "service": higher, "wait": higher}, 0},
	{"turns unfinished", results.Warning{Code: metrics.Unfinished, Numbers: metrics.Numbers{"overdue": 3}},
		map[string]figure.Bias{"response": higher, "service": higher, "wait": higher}, 0},
	{"background, skipped", results.Warning{Code: metrics.Bystanders, Names: metrics.Names{metrics.Cause: metrics.Skipped}},
		map[string]figure.Bias{"load, response": higher}, 0},
	{"background, unfinished", results.Warning{Code: metrics.Bystanders, Names: metrics.Names{metrics.Cause: metrics.Unfinished}},
		map[string]figure.Bias{"load, response": higher, "load, service": higher}, 0},
	{"cut off", results.Warning{Code: metrics.Abandoned},
		map[string]figure.Bias{"response": higher, "service": higher, "wait": higher, "between": higher, "other": either, "whole": either, "each round": either}, 0},
	{"interrupted", results.Warning{Code: metrics.Interrupted, Numbers: metrics.Numbers{"measured_share": 0.2}}, timed, lower},
	{"interrupted before the window", results.Warning{Code: metrics.Interrupted}, everything("whole", "identities"), lower},
	{"a form's error", results.Warning{Code: metrics.FormFailed}, timed, lower},
	{"an agent lost", results.Warning{Code: metrics.AgentLost}, everything("violations"), lower},
	{"service lost", results.Warning{Code: metrics.ServiceLost}, timed, 0},
	{"Little's law", results.Warning{Code: metrics.LittlesLaw}, timed, 0}, // in files of older versions
	{"rate not reached", results.Warning{Code: metrics.Behind}, timed, 0},
	{"a code of a later version", results.Warning{Code: "late"}, timed, 0},
}

// tooLong are the sides of times that have delays in them, and of rates that are too low because of them.
var tooLong = map[string]figure.Bias{"load, least": lower, "load, response": lower, "load, service": lower, "load, rate": higher, "load, extra": lower,
	"least": lower, "response": lower, "service": lower, "wait": lower, "between": either, "rate": higher, "extra": lower, "other": either}

// timed are the sides of all that depends on time.
var timed = func() map[string]figure.Bias {
	all := map[string]figure.Bias{}
	for column := range tooLong {
		all[column] = either
	}
	return all
}()

func everything(but ...string) map[string]figure.Bias {
	all := map[string]figure.Bias{}
	for _, c := range columns {
		if !slices.Contains(but, c.name) {
			all[c.name] = either
		}
	}
	return all
}

// A doubt concerns the figures that it makes meaningless, and no others, and says on which side the true value can be. What
// was done was done: work that was not makes no count and no rate doubtful. An infinite percentile is finite only where
// the lost arrivals may not be lost because of the service.
func TestDoubts(t *testing.T) {
	all := figure.All([]string{"acquire"})
	for _, c := range doubts {
		c.warning.Text = "why"
		for _, f := range all {
			column := columnOf(f.Name)
			if column == "" {
				t.Fatalf("%s is in no column of the table", f.Name)
			}
			r, want := doubted(c.warning), c.sides[column]
			// What is 0 in a full run has no room below.
			r.Cost.Heartbeats, r.Herd.Leftover, r.Fanout.Behind = 9, 9, 9
			r.Sessions = results.Sessions{Lost: 9, GivenUp: 9, Disconnected: 9, Disconnections: 9}
			is := f.Read(r)
			if bias := sides(is); bias != want || (bias != 0) != (is.Doubtful() == "why") {
				t.Errorf("%s: %s (%s): %v, %+v, want %v", c.doubt, f.Name, column, bias, is, want)
			}
		}
		r := doubted(c.warning)
		r.ReadRatio = nil
		r.Generator.Skipped, r.Generator.Failed, r.Generator.Unfinished, r.Generator.Completed = 1600, 0, 0, 400
		lost := results.Latency{Count: 400, Response: &results.Distribution{Lost: 1600}}
		r.Latency["acquire"] = lost
		r.Background = &results.Background{RatePerS: 1000, Offered: 2000, Skipped: 1600, Completed: 400, ReadRatio: results.ReadRatio{Asked: 1}, Latency: map[string]results.Latency{"read": lost}}
		for _, name := range []string{"acquire.p50", "acquire.p99", "background.read.p99"} {
			is := figure.Known([]string{"acquire"}, name)[0].Read(r)
			holds, doubt := figure.Below.Judge(is, figure.Exactly(1e9))
			if !is.Infinite() || sides(is) != c.infinite && !(c.warning.Code == metrics.Abandoned && name[0] == 'b') || holds || (doubt != "") != (c.infinite == lower) {
				t.Errorf("%s: infinite %s: %+v, want %v; below 1 s %v, %q", c.doubt, name, is, c.infinite, holds, doubt)
			}
		}
	}
}

// A machine that is short of CPU can only lose more sessions, and no count is below 0. Doubts about the times
// of arrivals say nothing about sessions.
func TestDoubtsOfSessions(t *testing.T) {
	for _, name := range []string{"sessions.lost", "sessions.given_up", "sessions.disconnected", "sessions.disconnections",
		"background.late", "background.skipped", "background.unfinished"} {
		f := figure.Known(nil, name)[0]
		for _, c := range []struct {
			code         string
			value        int64
			bias         figure.Bias
			voids, below bool // == 0, and < 5
		}{
			{metrics.ClientBound, 0, 0, false, false}, {metrics.Stolen, 0, 0, false, false},
			{metrics.ClientBound, 3, figure.Lower, true, false},
			{metrics.Skipped, 0, 0, false, false}, {metrics.Skipped, 3, 0, false, false},
			{metrics.AgentLost, 0, figure.Higher, true, true}, // no count is below 0
			{metrics.Interrupted, 0, figure.Higher, true, true},
		} {
			v := c.value
			r := results.Run{Doubts: []results.Warning{{Code: c.code, Text: "why"}},
				Sessions:   results.Sessions{Lost: v, GivenUp: v, Disconnected: v, Disconnections: v},
				Background: &results.Background{RatePerS: 9, Late: v, Skipped: v, Unfinished: v}}
			is := f.Read(r)
			_, equals := figure.Equals.Judge(is, figure.Exactly(0))
			_, below := figure.Below.Judge(is, figure.Exactly(5))
			if sides(is) != c.bias || (equals != "") != c.voids || (below != "") != c.below {
				t.Errorf("%d %s with the doubt %s: %+v, void %q and %q", c.value, name, c.code, is, equals, below)
			}
		}
	}
}

// A run that was interrupted before its window opened has measured nothing, not even counts. In a part of its
// window counts are what they are.
func TestDoubtOfAnInterruptedRun(t *testing.T) {
	for share, want := range map[float64]figure.Bias{0: figure.Either, 0.2: 0} {
		measured := map[string]float64{"measured_share": share}
		r := doubted(results.Warning{Code: metrics.Interrupted, Numbers: measured, Text: "why"})
		for _, name := range []string{"errors", "notifications_per_round", "generator.skipped", "safety.violations"} {
			if bias := sides(figure.Known(nil, name)[0].Read(r)); bias != want {
				t.Errorf("%s, interrupted at %v: %v, want %v", name, share, bias, want)
			}
		}
		if bias := sides(figure.Known(nil, "rounds_per_s")[0].Read(r)); bias != figure.Either {
			t.Errorf("rounds_per_s, interrupted at %v: %v", share, bias)
		}
	}
}

// Several doubts add up, and arrivals that the background lost make its times too short, and no others.
func TestSeveralDoubts(t *testing.T) {
	lost := results.Warning{Code: metrics.Bystanders, Text: "lost", Names: metrics.Names{metrics.Cause: metrics.Skipped}}
	starved := results.Warning{Code: metrics.Starved, Text: "starved"}
	for _, c := range []struct {
		figure string
		doubts []results.Warning
		want   figure.Bias
	}{
		{"background.read.p99", []results.Warning{lost}, figure.Higher},
		{"background.read.p99", []results.Warning{starved, lost}, figure.Either},
		{"acquire.p99", []results.Warning{lost, starved}, figure.Lower},
	} {
		is := figure.Known([]string{"acquire"}, c.figure)[0].Read(doubted(c.doubts...))
		_, below := figure.Below.Judge(is, figure.Exactly(1))
		_, above := figure.Below.Judge(is, figure.Exactly(math.MaxFloat64))
		if sides(is) != c.want || (below == "starved") != (c.want&figure.Lower != 0) || (above == "lost") != (c.want&figure.Higher != 0) {
			t.Errorf("%s: %+v, want %v; %q, %q", c.figure, is, c.want, below, above)
		}
	}
}

// A doubt about a generator or its machine that says how far it goes moves a figure that far, and no further. One that
// does not can move it anywhere.
func TestDoubtsHaveASize(t *testing.T) {
	const ms = float64(time.Millisecond)
	inf := math.Inf(1)
	sized := results.Warning{Code: metrics.Others, Text: "others", Numbers: metrics.Numbers{metrics.LostShare: 0.1, metrics.LongestLate: ms / 20}}
	for _, c := range []struct {
		figure    string
		low, high float64
	}{
		{"acquire.service.p50", 0.9 - 0.05/3, 1},       // of 3 ms
		{"drain.p50", 0.9 - 0.05/3, 1.1 + 0.05/3},      // either event can be noticed late
		{"rounds_per_s", 1, 1 / (1 - 0.1 - 0.05/2000)}, // in a window of 2 s
		{"rounds_per_s.min", 1, inf},                   // all of the time can be lost in one second
		{"sessions.lost", 0, 1},
		{"server.cpu_per_round", 0, inf},
		{"notifications_per_round", 1, 1},
	} {
		f := figure.Known([]string{"acquire"}, c.figure)[0]
		r := doubted(sized)
		r.Generator = results.Generator{Machine: r.Generator.Machine}
		r.Sessions.Lost = 7
		r.Latency["acquire"] = results.Latency{Count: 1000, Service: distribution(int64(ms))}
		r.Herd.Drain = distribution(int64(ms))
		is := f.Read(r)
		near := func(got, want float64) bool { return got == want || math.Abs(got-want) < 1e-9*math.Abs(want) }
		if !near(is.Low, c.low*is.Value) || !near(is.High, c.high*is.Value) {
			t.Errorf("%s: %+v, want %g and %g of the value", c.figure, is, c.low, c.high)
		}
		r.Doubts = append(r.Doubts, results.Warning{Code: metrics.ClientBound, Text: "client-bound"})
		if is := f.Read(r); c.figure == "acquire.service.p50" && is.Low != 0 || c.figure == "rounds_per_s" && is.High != inf {
			t.Errorf("%s beside a doubt without a size: %+v", c.figure, is)
		}
	}
}

// An arrival inherits the delays of those before it, where arrivals wait for each other: those of the whole run.
func TestDelaysAddUpInAQueue(t *testing.T) {
	f := figure.Known([]string{"acquire"}, "acquire.p50")[0]
	r := doubted(results.Warning{Code: metrics.Stolen, Text: "why", Numbers: metrics.Numbers{metrics.LostShare: 0.1, metrics.LongestLate: 0}})
	second := int64(time.Second)
	r.Latency["acquire"] = results.Latency{Count: 1000, Response: &results.Distribution{P50: &second}}
	r.DurationNS, r.WarmupNS = 4*time.Second, time.Second
	for late, want := range map[int64]time.Duration{0: 900 * time.Millisecond, 10: 500 * time.Millisecond} {
		r.Generator = results.Generator{Offered: 1000, Completed: 1000, Late: late}
		if is := f.Read(r); is.Low != float64(want) {
			t.Errorf("%d were late: %+v, want at least %v", late, is, want)
		}
	}
}

// A percentile is infinite if it is the time of an arrival that was not served. It is so for certain unless the delays
// that a doubt is worth can have lost that many. A phase without times is not known, unless nothing was served.
func TestInfinite(t *testing.T) {
	ms := int64(time.Millisecond)
	of := func(served, lost int64) results.Run {
		d := &results.Distribution{Min: ms, Mean: float64(ms), Max: ms, Lost: lost, P50: &ms}
		return results.Run{Rounds: served, DurationNS: time.Second, Phases: []string{"read"}, Generator: results.Generator{Offered: served + lost, Completed: served, Skipped: lost},
			Latency: map[string]results.Latency{"read": {Count: served, Response: d}}, Doubts: []results.Warning{{Code: metrics.Skipped, Text: "skipped"}}}
	}
	small := results.Warning{Code: metrics.Others, Text: "small", Numbers: metrics.Numbers{metrics.LostShare: 0.01, metrics.LongestLate: 0}}
	large := results.Warning{Code: metrics.Others, Text: "large", Numbers: metrics.Numbers{metrics.LostShare: 0.4, metrics.LongestLate: 0}}
	none := of(0, 400)
	none.Latency = map[string]results.Latency{}
	never := of(328, 72)
	never.Latency = map[string]results.Latency{}
	few := of(32, 7)
	for name, c := range map[string]struct {
		run             results.Run
		doubts          []results.Warning
		known, infinite bool
		doubt           string
	}{
		"lost":            {of(328, 72), nil, true, true, ""},
		"lost, doubted":   {of(328, 72), []results.Warning{small}, true, true, ""},
		"lost by delays":  {of(328, 72), []results.Warning{large}, true, true, "arrivals that were not served may be lost to the generator's own delays: large"},
		"few lost":        {of(380, 20), nil, false, false, ""}, // a file that has not written what is known
		"nothing served":  {none, nil, true, true, ""},
		"phase not there": {never, nil, false, false, ""},
		"too few":         {few, nil, false, false, ""},
	} {
		c.run.Doubts = append(c.run.Doubts, c.doubts...)
		is := figure.Known([]string{"read"}, "read.p90")[0].Read(c.run)
		if is.Known() != c.known || is.Infinite() != c.infinite || is.Doubtful() != c.doubt {
			t.Errorf("%s: %+v", name, is)
		}
		if is.Known() {
			if holds, doubt := figure.Below.Judge(is, figure.Exactly(1e9)); holds || doubt != c.doubt {
				t.Errorf("%s: below 1 s %v, %q", name, holds, doubt)
			}
		}
	}
	// Without the delays 207 of 598 would have been lost for certain, and the others would still count among the 1200.
	half := of(602, 598)
	half.Doubts = append(half.Doubts, results.Warning{Code: metrics.Stolen, Text: "stolen", Numbers: metrics.Numbers{metrics.LostShare: 0.39, metrics.LongestLate: 0}})
	half.Latency["read"].Response.P50 = nil
	if is := figure.Known([]string{"read"}, "read.p99")[0].Read(half); !is.Infinite() || is.Doubtful() != "" {
		t.Errorf("half lost: %+v", is)
	}
	// One in ten of a mix is a write: most of the lost arrivals were none, and some of them were reads for certain.
	mixed := of(328, 72)
	mixed.ReadRatio = &results.ReadRatio{Asked: 0.9}
	mixed.Latency = map[string]results.Latency{"read": {Count: 295, Response: &results.Distribution{Lost: 72}}, "write": {Count: 33, Response: &results.Distribution{Lost: 72}}}
	for name, want := range map[string]string{"read.p90": "", "write.p50": "skipped"} {
		is := figure.Known([]string{"read", "write"}, name)[0].Read(mixed)
		if holds, doubt := figure.Below.Judge(is, figure.Exactly(1e9)); !is.Infinite() || holds || doubt != want {
			t.Errorf("%s of a mix: %+v; below 1 s %v, %q", name, is, holds, doubt)
		}
	}
	if is := figure.Lost(of(328, 72)); is != figure.Exactly(72) {
		t.Errorf("lost: %+v", is)
	}
	r := of(328, 72)
	r.Doubts = append(r.Doubts, small, large)
	if is := figure.Lost(r); is.Value != 72 || is.Low != 0 || is.High != 72 {
		t.Errorf("lost by delays: %+v", is)
	}
}

// A doubt voids a verdict only if the verdict could be another one with the true values.
func TestOpJudge(t *testing.T) {
	inf := math.Inf(1)
	exact := figure.Exactly
	around := func(v float64, b figure.Bias) figure.Reading { return figure.Doubted(v, b, "why") }
	for _, c := range []struct {
		op              figure.Op
		measured, limit figure.Reading
		holds, void     bool
	}{
		{figure.Below, exact(4), exact(5), true, false}, {figure.Below, exact(5), exact(5), false, false},
		{figure.Below, around(4, figure.Lower), exact(5), true, false}, {figure.Below, around(4, figure.Higher), exact(5), true, true},
		{figure.AtMost, around(6, figure.Lower), exact(5), false, true}, {figure.AtMost, around(6, figure.Higher), exact(5), false, false},
		{figure.Above, around(6, figure.Lower), exact(5), true, true}, {figure.Above, around(6, figure.Higher), exact(5), true, false},
		{figure.AtLeast, around(4, figure.Lower), exact(5), false, false}, {figure.AtLeast, around(4, figure.Higher), exact(5), false, true},
		{figure.Below, exact(4), around(5, figure.Lower), true, true}, {figure.Below, exact(4), around(5, figure.Higher), true, false},
		{figure.Above, exact(6), around(5, figure.Higher), true, true}, {figure.Above, exact(4), around(5, figure.Lower), false, true},
		{figure.Equals, exact(5), exact(5), true, false}, {figure.Equals, around(5, figure.Lower), exact(5), true, true},
		{figure.Equals, around(6, figure.Higher), exact(5), false, false}, {figure.Equals, around(6, figure.Lower), exact(5), false, true},
		{figure.Equals, around(4, figure.Lower), exact(5), false, false}, {figure.Equals, around(4, figure.Either), exact(5), false, true},
		{figure.Equals, exact(4), around(5, figure.Lower), false, true}, {figure.Equals, exact(4), around(5, figure.Higher), false, false},
		{figure.Below, exact(inf), exact(5), false, false}, {figure.Above, exact(inf), exact(5), true, false},
		{figure.Below, around(inf, figure.Lower), exact(5), false, true}, {figure.AtMost, exact(inf), exact(inf), true, false},
		// within a margin of a quarter
		{figure.Below, figure.Reading{Value: 8, Low: 6, High: 8}, exact(5), false, false},
		{figure.AtLeast, figure.Reading{Value: 4, Low: 4, High: 5}, exact(6), false, false},
	} {
		holds, doubt := c.op.Judge(c.measured, c.limit)
		if holds != c.holds || (doubt == "why") != c.void {
			t.Errorf("%+v %s %+v: %v, %q", c.measured, c.op, c.limit, holds, doubt)
		}
	}
	if is := around(4, figure.Either).Times(2).Named("base"); is.Value != 8 || is.Low != -inf || is.High != inf || is.Doubtful() != "base: why" {
		t.Errorf("twice: %+v", is)
	}
}

// TestMissingTrafficRaisesOnlyCounts looks at the figures of observations by their names: percentiles, ratios and
// rates can lie on either side of what was seen, as can what follows from shares and what is told of part of the
// sessions.
func TestMissingTrafficRaisesOnlyCounts(t *testing.T) {
	eitherWay := regexp.MustCompile(`\.p\d|_per_(change|s)$|^event\.|^(recovery|reconnects|rearmed|retries)\.|^(herds|wasted|watches\.missed|notifications\.unasked)$`)
	var o results.Observation
	o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Late, Bytes: 1}}
	n := 0
	for _, f := range figure.OfObservations() {
		n++
		want := figure.Higher
		if eitherWay.MatchString(f.Name) {
			want = figure.Either
		}
		if why, bias := f.ObservationDoubt(o); bias != want || why == "" {
			t.Errorf("%s: bias %v, want %v (%q)", f.Name, bias, want, why)
		}
	}
	if n < 15 {
		t.Errorf("%d figures of observations, want all", n)
	}
}

// The achieved rate counts arrivals of the window only, not rounds of arrivals before it, and has the doubts of the rate,
// but is at most 1, as each share is.
func TestAchievedRate(t *testing.T) {
	r := results.Run{Rounds: 330, DurationNS: 4 * time.Second, ThroughputPerS: 82.5, Generator: results.Generator{Offered: 400, Completed: 323, Skipped: 77}}
	achieved, rate, reads := figure.Known(nil, "rate.achieved")[0], figure.Known(nil, "rounds_per_s")[0], figure.Known(nil, "mix.reads")[0]
	if is := achieved.Read(r); is.Value != 0.8075 || is.Low != 0.8075 || is.High != 0.8075 {
		t.Errorf("%+v, want 323 of 400", is)
	}
	for share, high := range map[float64]float64{0.05: 0.8075 / 0.95, 0.1: 0.8075 / 0.9, 0.5: 1, 1: 1} {
		r.Doubts = []results.Warning{{Code: metrics.Others, Text: "others", Numbers: metrics.Numbers{metrics.LostShare: share}}}
		is := achieved.Read(r)
		if is.Low != is.Value || math.Abs(is.High-high) > 1e-9 {
			t.Errorf("%v: %+v, want at most %v", share, is, high)
		}
		_, doubt := figure.Above.Judge(is, figure.Exactly(0.9))
		_, of := figure.Above.Judge(rate.Read(r), figure.Exactly(92))
		if doubt != of {
			t.Errorf("%v: the share has the doubt %q, the rate %q", share, doubt, of)
		}
	}
	r.Mix, r.ReadRatio = &results.Mix{}, &results.ReadRatio{Achieved: 0.92}
	if is := reads.Read(r); is.Low != 0.92 || is.High != 0.92 {
		t.Errorf("%+v, want what was counted", is)
	}
}

// Doubts about the processor touch times, rates, and counts of how much was done. Those of other counts, and of shares, that
// such a doubt touches have a side on which the true one can lie.
func TestNoDoubtAboutTheProcessorVoidsACount(t *testing.T) {
	done := map[string]figure.Bias{"rounds": figure.Higher, "rate.achieved": figure.Higher, "missed": figure.Lower, "background.late": figure.Lower,
		"background.skipped": figure.Lower, "background.unfinished": figure.Lower, "sessions.lost": figure.Lower, "sessions.given_up": figure.Lower,
		"sessions.disconnected": figure.Lower, "sessions.disconnections": figure.Lower,
		"server.fsyncs_per_round": figure.Either} // how many writes share one depends on how fast they come
	for _, code := range []string{metrics.Starved, metrics.Stolen, metrics.Others, metrics.ClientBound} {
		r := full()
		r.Doubts = []results.Warning{{Code: code, Text: "why"}}
		for _, f := range figure.All([]string{"acquire"}) {
			is := f.Read(r)
			if count := f.Unit == figure.Number || f.Unit == figure.Share || f.Unit == figure.PerRound; count && is.Value != 0 && sides(is) != done[f.Name] {
				t.Errorf("%s of %s: %+v", code, f.Name, is)
			}
		}
	}
}
