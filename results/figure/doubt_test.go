package figure_test

import (
	"regexp"
	"testing"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// A doubt concerns the figures that it makes meaningless, and no others, and says on which side the true
// value can be.
func TestDoubt(t *testing.T) {
	for _, c := range []struct {
		figure, code string
		want         figure.Bias
	}{
		{"acquire.p99", metrics.Starved, figure.Lower},
		{"acquire.service.p50", metrics.Stolen, figure.Lower},
		{"rounds_per_s", metrics.Others, figure.Higher},
		{"fairness.longest_wait", metrics.ClientBound, figure.Lower},
		{"from_ack.first.p50", metrics.Starved, figure.Either}, // the acknowledgement can be late, too
		{"drain.p50", metrics.Starved, figure.Either},          // so can the first notification
		{"server.cpu_per_round", metrics.Stolen, figure.Either},
		{"notifications_per_round", metrics.Starved, 0},
		{"fanout.max", metrics.Skipped, 0},
		{"notifications_per_round", metrics.Abandoned, figure.Either},
		{"acquire.p99", metrics.Abandoned, figure.Either},
		{"fanout.max", metrics.Abandoned, 0},
		{"acquire.p99", metrics.Skipped, figure.Higher},
		{"acquire.p99", metrics.Unfinished, figure.Higher},
		{"acquire.p99", metrics.Failed, figure.Higher},
		{"acquire.p99", metrics.Behind, figure.Either},
		{"acquire.p99", metrics.LittlesLaw, figure.Either},
		{"rounds_per_s", metrics.Skipped, figure.Either},
		{"rounds", metrics.AgentLost, figure.Either},
		{"identities.broken", metrics.AgentLost, figure.Either},
		{"safety.violations", metrics.AgentLost, 0},
		{"background.read.p99", metrics.Skipped, 0},
		{"background.read.p99", metrics.Bystanders, figure.Either},
		{"background.read.p99", metrics.Stolen, figure.Lower},
		{"background.errors", metrics.Bystanders, 0},
		{"acquire.p99", metrics.Bystanders, 0},
		{"generator.lag.p99", metrics.Starved, 0},
		{"machine.busy", metrics.Others, 0},
		{"rate.achieved", metrics.Skipped, 0},
	} {
		m, err := figure.Parse(c.figure, []string{"acquire"})
		if err != nil {
			t.Fatal(err)
		}
		d, bias := m.Doubt(results.Run{Doubts: []results.Warning{{Code: c.code, Text: "why"}}})
		if bias != c.want || (bias != 0) != (d.Text == "why") {
			t.Errorf("%s with the doubt %s: %v, %+v, want %v", c.figure, c.code, bias, d, c.want)
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
			{metrics.AgentLost, 0, figure.Either, true, true},
			{metrics.Interrupted, 0, figure.Either, true, true},
		} {
			v := c.value
			r := results.Run{Doubts: []results.Warning{{Code: c.code}},
				Sessions:   results.Sessions{Lost: v, GivenUp: v, Disconnected: v, Disconnections: v},
				Background: &results.Background{Late: v, Skipped: v, Unfinished: v}}
			_, bias := f.Doubt(r)
			voids, below := figure.Voids(figure.Equals, c.value == 0, bias, 0), figure.Voids(figure.Below, true, bias, 0)
			if bias != c.bias || voids != c.voids || below != c.below {
				t.Errorf("%d %s with the doubt %s: bias %v, void %v and %v", c.value, name, c.code, bias, voids, below)
			}
		}
	}
}

// A run that was interrupted before its window opened has measured nothing, not even counts. In a part of its
// window counts are what they are.
func TestDoubtOfAnInterruptedRun(t *testing.T) {
	for share, want := range map[float64]figure.Bias{0: figure.Either, 0.2: 0} {
		measured := map[string]float64{"measured_share": share}
		r := results.Run{Doubts: []results.Warning{{Code: metrics.Interrupted, Numbers: measured}}}
		for _, name := range []string{"errors", "notifications_per_round", "generator.skipped", "safety.violations"} {
			if _, bias := figure.Known(nil, name)[0].Doubt(r); bias != want {
				t.Errorf("%s, interrupted at %v: %v, want %v", name, share, bias, want)
			}
		}
		if _, bias := figure.Known(nil, "rounds_per_s")[0].Doubt(r); bias != figure.Either {
			t.Errorf("rounds_per_s, interrupted at %v: %v", share, bias)
		}
	}
}

// Several doubts add up, the first that concerns the figure is named, and arrivals that the background
// lost make its times too short.
func TestSeveralDoubts(t *testing.T) {
	lost := results.Warning{Code: metrics.Bystanders, Text: "lost", Names: metrics.Names{metrics.Cause: metrics.Skipped}}
	starved := results.Warning{Code: metrics.Starved, Text: "starved"}
	read := figure.Known(nil, "background.read.p99")[0]
	if d, bias := read.Doubt(results.Run{Doubts: []results.Warning{lost}}); bias != figure.Higher || d.Text != "lost" {
		t.Errorf("%v, %v", d, bias)
	}
	if d, bias := read.Doubt(results.Run{Doubts: []results.Warning{starved, lost}}); bias != figure.Either || d.Text != "starved" {
		t.Errorf("%v, %v", d, bias)
	}
	handoff := figure.Known([]string{"handoff"}, "handoff.p99")[0]
	if d, bias := handoff.Doubt(results.Run{Doubts: []results.Warning{lost, starved}}); bias != figure.Lower || d.Text != "starved" {
		t.Errorf("%v, %v", d, bias)
	}
}

// A doubt voids a verdict only if the verdict could be another one with the true values.
func TestVoids(t *testing.T) {
	const no, yes = false, true
	for _, c := range []struct {
		op                             figure.Op
		holds                          bool
		lower, higher, either, limited bool // void if the measured value can be lower, higher, either; or the limit lower
	}{
		{figure.Below, true, no, yes, yes, yes}, {figure.Below, false, yes, no, yes, no},
		{figure.AtMost, true, no, yes, yes, yes}, {figure.AtMost, false, yes, no, yes, no},
		{figure.Above, true, yes, no, yes, no}, {figure.Above, false, no, yes, yes, yes},
		{figure.AtLeast, true, yes, no, yes, no}, {figure.AtLeast, false, no, yes, yes, yes},
		{figure.Equals, true, yes, yes, yes, yes}, {figure.Equals, false, yes, yes, yes, yes},
	} {
		got := [...]bool{figure.Voids(c.op, c.holds, figure.Lower, 0), figure.Voids(c.op, c.holds, figure.Higher, 0),
			figure.Voids(c.op, c.holds, figure.Either, 0), figure.Voids(c.op, c.holds, 0, figure.Lower)}
		if got != [...]bool{c.lower, c.higher, c.either, c.limited} {
			t.Errorf("%s, holds %v: %v, want %+v", c.op, c.holds, got, c)
		}
		if figure.Voids(c.op, c.holds, 0, 0) {
			t.Errorf("%s, holds %v: void without a doubt", c.op, c.holds)
		}
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
