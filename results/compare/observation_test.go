package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
)

// observing returns an observation of a path whose ten changes wake as many sessions each.
func observing(id, path string, woken, latency int64) results.Observation {
	o := results.Observation{Head: results.NewHead(results.KindObservation, results.Tool{}, nil, []string{"observe"}, 0)}
	o.ID, o.Backend, o.Source = id, "native:", "proxy"
	p := observation.Place{Path: path, Changes: 10, FanoutMax: woken, FanoutP50: woken, Notifications: 10 * woken, Requests: 50, LatencyP90: &latency}
	o.Observed.Places = []observation.Place{p, {Path: "/never-changes", Sessions: 1}}
	o.Observed.Traffic = observation.Traffic{Changes: 10, FanoutMax: woken, FanoutP50: woken, Notifications: 10 * woken, Requests: 60}
	return o
}

func observations(n int, woken, latency int64) (all []results.Observation) {
	for i := range n {
		all = append(all, observing(fmt.Sprint(woken, latency, i), "/lock", woken, latency+int64(i)))
	}
	return all
}

func verdictsBySubject(changes []results.Change) map[string]results.Verdict {
	all := map[string]results.Verdict{}
	for _, c := range changes {
		all[c.Subject+" "+c.Figure] = c.Verdict
	}
	return all
}

// One observation of each decides what the formula of the base's form bounds, and nothing else: the counts of
// two observations of one program differ by chance.
func TestOneObservationDecidesWhatAFormulaBounds(t *testing.T) {
	rules := compare.Rules{Minimum: 0.05}
	predecessor := &observation.Form{Name: "lock, predecessor", Forms: []string{"lock/predecessor", "election/predecessor"}, Most: 1}
	herd := &observation.Form{Name: "lock, one node", Forms: []string{"lock/one-node"}, Herd: true}
	for name, c := range map[string]struct {
		form          *observation.Form // of the base
		before, after int64
		want          results.Verdict // of the largest fan-outs
	}{
		"a herd comes":          {predecessor, 1, 7, results.Regression},
		"no herd comes":         {predecessor, 1, 1, results.Pass},
		"the base left it":      {predecessor, 2, 5, results.Inconclusive},
		"no form is recognised": {nil, 1, 7, results.Inconclusive},
		"the base is a herd":    {herd, 7, 1, results.Inconclusive},
		"a herd that stays":     {herd, 7, 7, results.Inconclusive},
		"a herd with more":      {herd, 7, 9, results.Inconclusive},
	} {
		base := observations(1, c.before, 1e6)
		base[0].Observed.Places[0].Form = c.form
		changes, warnings, needed, err := rules.Observations(base, observations(1, c.after, 9e6), nil, true)
		// Five of each that do not overlap could not show a change of one in so many figures.
		if err != nil || needed != 6 || len(warnings) != 0 {
			t.Fatalf("%v, %d needed, %v", err, needed, warnings)
		}
		for figure, got := range verdictsBySubject(changes) {
			want := results.Inconclusive
			if figure == "/lock fanout.max" || figure == "all paths fanout.max" {
				want = c.want
			}
			if got != want {
				t.Errorf("%s: %s: %q, want %q", name, figure, got, want)
			}
		}
		for _, change := range changes {
			if change.Exact {
				t.Errorf("%s: %s is called exact", name, change.Figure)
			}
		}
	}
}

// Enough observations show a difference, and that there is none, as those of runs do.
func TestCountsOfSeveralObservations(t *testing.T) {
	rules := compare.Rules{Minimum: 0.05}
	for after, want := range map[int64]results.Verdict{7: results.Regression, 1: results.Pass} {
		changes, _, needed, err := rules.Observations(observations(10, 1, 1e6), observations(10, after, 1e6), nil, false)
		if v := compare.Verdict(changes); err != nil || needed != 0 || v != want {
			t.Errorf("from 1 to %d: %q, %d needed, %v; want %q", after, v, needed, err, want)
		}
	}
}

// Latencies take as many observations as those of runs, and are judged when they are named.
func TestLatenciesOfObservations(t *testing.T) {
	rules := compare.Rules{Minimum: 0.05}
	latency := []string{"latency.p90"}
	_, _, needed, err := rules.Observations(observations(1, 1, 1e6), observations(1, 1, 2e6), latency, false)
	if err != nil || needed != 5 {
		t.Errorf("%d needed, %v; want 5", needed, err)
	}
	changes, _, needed, err := rules.Observations(observations(5, 1, 1e6), observations(5, 1, 2e6), latency, false)
	if err != nil || needed != 0 || len(changes) != 1 || changes[0].Verdict != results.Regression {
		t.Errorf("%+v, %d needed, %v", changes, needed, err)
	}
	const unknown = `unknown metric of an observation "fanout.mx": did you mean "fanout.max"?`
	if _, _, _, err := rules.Observations(observations(1, 1, 1), observations(1, 1, 1), []string{"fanout.mx"}, false); err == nil || err.Error() != unknown {
		t.Errorf("%v, want %s", err, unknown)
	}
}

// Counts are invalid where traffic was missed, and those that vary as much as they differ are
// inconclusive.
func TestCountsThatAreNotExact(t *testing.T) {
	rules := compare.Rules{Minimum: 0.05}
	for name, spoil := range map[string]func(*results.Observation){
		"missing": func(o *results.Observation) {
			o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Missing, Bytes: 1}}
		},
		"dropped": func(o *results.Observation) {
			o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Dropped, Packets: 1}}
		},
		"watches": func(o *results.Observation) { o.Observed.Traffic.Unfollowed = 1 },
		"beyond":  func(o *results.Observation) { o.Observed.Traffic.Beyond.Nodes = 1 },
	} {
		base, other := observations(1, 1, 1e6), observations(1, 1, 2e6)
		spoil(&other[0])
		changes, _, _, err := rules.Observations(base, other, nil, false)
		if v := compare.Verdict(changes); err != nil || v != results.Invalid {
			t.Errorf("%s: verdict %q, %v", name, v, err)
		}
	}
	base := append(observations(1, 1, 1), observations(1, 9, 1)...)
	changes, _, _, _ := rules.Observations(base, observations(1, 5, 1), []string{"fanout.max"}, false)
	if v := compare.Verdict(changes); v != results.Inconclusive {
		t.Errorf("1 and 9 against 5: verdict %q", v)
	}
}

// TestRegressionsOfIncompleteObservations checks that no regression is shown where traffic is missing in
// the base, nor by a sample in which some is missing. A candidate beyond the bound of a form is beyond it
// whatever is missing of it. Connections that are older void no change.
func TestRegressionsOfIncompleteObservations(t *testing.T) {
	lacking := func(o *results.Observation) {
		o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Cut, Bytes: 1}}
	}
	none := func(*results.Observation) {}
	older := func(o *results.Observation) { o.Observed.Traffic.Joined = 5 }
	bounded := func(o *results.Observation) {
		form := observation.Form{Name: "lock, predecessor", Forms: []string{"lock/predecessor"}, Most: 1}
		o.Observed.Places[0].Form = &form
	}
	for name, c := range map[string]struct {
		base, other func(*results.Observation)
		want        results.Verdict
	}{
		"whole":             {none, none, results.Regression},
		"base incomplete":   {lacking, none, results.Invalid},
		"candidate":         {none, lacking, results.Invalid},
		"bound, candidate":  {bounded, lacking, results.Regression},
		"bound, base":       {func(o *results.Observation) { bounded(o); lacking(o) }, none, results.Invalid},
		"both":              {lacking, lacking, results.Invalid},
		"older connections": {none, older, results.Regression},
		"four-letter words": {func(o *results.Observation) {
			o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Words, Bytes: 4}}
		}, none, results.Regression},
	} {
		n := 5
		if strings.HasPrefix(name, "bound") {
			n = 1 // is enough
		}
		base, others := observations(n, 1, 1e6), observations(n, 9, 1e6)
		c.base(&base[0])
		c.other(&others[0])
		changes, _, _, err := compare.Rules{Minimum: 0.05}.Observations(base, others, []string{"fanout.max"}, false)
		if v := compare.Verdict(changes); err != nil || v != c.want {
			t.Errorf("%s: verdict %q, %v; want %q", name, v, err, c.want)
		}
	}
}

func TestObservationsThatDiffer(t *testing.T) {
	program := "go"
	base, other := observing("a", "/lock", 1, 1), observing("b", "/locks/#", 1, 1)
	other.Backend, other.Program, other.Observed.Traffic.Sessions = "zookeeper:", &program, 3
	_, warnings, _, _ := compare.Rules{}.Observations([]results.Observation{base}, []results.Observation{other}, nil, false)
	var got []string
	for _, w := range warnings {
		got = append(got, w.Text)
	}
	want := `only in the candidate: /locks/#
only in the base: /lock
not the same backend: native: and zookeeper:
not the same program: none and go
not the same number of sessions: 0 and 3`
	if strings.Join(got, "\n") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// watching returns an observation of a program in which as many sessions watch, and keep as many watches each.
func watching(id string, sessions int, each int64, woken int64) results.Observation {
	program := "service"
	o := observing(id, "/config", woken, 1)
	o.Program = &program
	p := &o.Observed.Places[0]
	p.Sessions, p.Most, p.Live = sessions, int64(sessions)*each, int64(sessions)*each
	o.Observed.Traffic.MostLive = p.Live
	return o
}

// TestOneObservationFindsMoreWatches compares programs whose members watch one more node, and one less.
func TestOneObservationFindsMoreWatches(t *testing.T) {
	for name, c := range map[string]struct {
		after results.Observation
		want  results.Verdict
	}{
		"the same":              {watching("b", 6, 2, 6), results.Pass},
		"one comes later":       {watching("b", 5, 2, 5), results.Pass},
		"one more of each":      {watching("b", 6, 3, 6), results.Regression},
		"sessions to watch":     {watching("b", 12, 2, 12), results.Regression},
		"one more session only": {watching("b", 7, 2, 7), results.Pass},
	} {
		changes, _, _, err := compare.Rules{Minimum: 0.05}.Observations([]results.Observation{watching("a", 6, 2, 6)}, []results.Observation{c.after}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		got := verdictsBySubject(changes)
		if got["/config watches.live"] != c.want || got["all paths watches.live"] != c.want {
			t.Errorf("%s: %v, want %q of watches", name, got, c.want)
		}
	}
}

// TestOneWatchMoreProvesNothing compares programs of which one or two sessions have a watch each: the notification of one of them may
// be on its way while the next is armed.
func TestOneWatchMoreProvesNothing(t *testing.T) {
	for after, want := range map[int]results.Verdict{2: results.Pass, 3: results.Pass, 4: results.Regression} {
		base, candidate := watching("a", 2, 1, 1), watching("b", after, 1, 1)
		changes, _, _, err := compare.Rules{Minimum: 0.05}.Observations([]results.Observation{base}, []results.Observation{candidate}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := verdictsBySubject(changes)["/config watches.live"]; got != want {
			t.Errorf("%d watches instead of 2: %q, want %q", after, got, want)
		}
	}
}

// TestFewerWatchersAreNoImprovement compares a program with one of which half of the members do not watch any more.
func TestFewerWatchersAreNoImprovement(t *testing.T) {
	several := func(sessions int, woken int64) (all []results.Observation) {
		for i := range 8 {
			all = append(all, watching(fmt.Sprint(sessions, woken, i), sessions, 1, woken))
		}
		return all
	}
	for sessions, want := range map[int]results.Verdict{6: results.Improvement, 3: results.Inconclusive} {
		changes, _, _, err := compare.Rules{Minimum: 0.05}.Observations(several(6, 6), several(sessions, 3), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := verdictsBySubject(changes)["/config notifications_per_change"]; got != want {
			t.Errorf("3 instead of 6 are told, and %d watch: %q, want %q", sessions, got, want)
		}
	}
}

// TestAmountsCompareOfProgramsOnly compares the requests of programs, which end by themselves, and of observations that
// were ended.
func TestAmountsCompareOfProgramsOnly(t *testing.T) {
	for _, program := range []bool{true, false} {
		var sides [2][]results.Observation
		for side := range sides {
			for i := range 8 {
				o := watching(fmt.Sprint(side, i), 6, 1, 6)
				o.Observed.Traffic.Requests *= int64(1 + side*10)
				if !program {
					o.Program = nil
				}
				sides[side] = append(sides[side], o)
			}
		}
		changes, _, _, err := compare.Rules{Minimum: 0.05}.Observations(sides[0], sides[1], nil, false)
		if err != nil {
			t.Fatal(err)
		}
		want := results.Verdict("")
		if program {
			want = results.Regression
		}
		if got := verdictsBySubject(changes)["all paths requests"]; got != want {
			t.Errorf("eleven times as many requests of a program %v: %q, want %q", program, got, want)
		}
	}
}
