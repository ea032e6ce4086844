package compare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
)

// lost is a doubt that the generator was kept from running for a share of the window, so that times can be too long and
// throughput too small by that much.
func lost(share float64) *results.Warning {
	return &results.Warning{Code: metrics.Others, Text: "others", Numbers: metrics.Numbers{metrics.LostShare: share}}
}

// decided returns the changes without what can be detected.
func decided(base, other []results.Run, rules compare.Rules) []results.Change {
	return rules.Judge([]compare.Subject{{Base: base, New: other, Figures: compare.Default([]string{"acquire", "handoff"})}})
}

// with returns the runs with the doubt, if there is one.
func with(d *results.Warning, all []results.Run) []results.Run {
	for i := range all {
		if d != nil {
			all[i].Doubts = []results.Warning{*d}
		}
	}
	return all
}

// TestVerdictsWhateverTheDoubtIsWorth checks that a regression and an improvement stand where they would be the same with each
// run's true value at that end of its reading which is against them, and that everything else about doubtful runs is
// invalid. A doubt on the other side of the values is none about the verdict.
func TestVerdictsWhateverTheDoubtIsWorth(t *testing.T) {
	unsized := &results.Warning{Code: metrics.ClientBound, Text: "client-bound"}
	unserved := &results.Warning{Code: metrics.Unfinished, Text: "unfinished"} // true times can be longer without limit
	const worse, better, invalid, pass = results.Regression, results.Improvement, results.Invalid, results.Pass
	for _, c := range []struct {
		base, other   float64 // how fast
		of, and       *results.Warning
		rate, p50, at results.Verdict // at: of p99
	}{
		{1, 0.8, nil, nil, worse, worse, worse},
		{1, 0.8, lost(0.04), lost(0.04), worse, worse, worse},
		{0.8, 1, lost(0.04), lost(0.04), better, better, better},
		{1, 0.97, lost(0.04), lost(0.04), invalid, invalid, invalid},
		{1, 1, lost(0.04), lost(0.04), invalid, invalid, invalid},                                   // a pass proves nothing
		{1, 0.8, lost(0.18), lost(0.18), invalid, invalid, invalid},                                 // by 2.5 %, which is less than the minimum effect
		{0.8, 1, lost(0.3), lost(0.3), invalid, invalid, invalid},                                   // as good a regression
		{1, 0.8, lost(0.9), nil, worse, worse, worse},                                               // the base can only be better than measured
		{1, 0.8, nil, lost(0.9), invalid, invalid, invalid},                                         // so can the candidate
		{0.8, 1, lost(0.9), nil, invalid, invalid, invalid},                                         //
		{0.8, 1, nil, lost(0.9), better, better, better},                                            //
		{1, 0.8, unsized, nil, worse, worse, worse},                                                 // however much better
		{0.8, 1, unsized, nil, invalid, invalid, invalid},                                           //
		{1, 0.8, unserved, unserved, worse, invalid, invalid},                                       // a rate counts what was done
		{1, 0.8, nil, unserved, worse, worse, worse},                                                // the candidate's times can only be worse
		{0.8, 1, unserved, nil, better, better, better},                                             //
		{0.8, 1, nil, unserved, better, invalid, invalid},                                           //
		{1, 1, unsized, nil, invalid, invalid, invalid},                                             //
		{1, 1, nil, nil, pass, pass, pass},                                                          //
		{1, 0.2, lost(0.5), lost(0.5), worse, worse, worse},                                         // a large change outside of a large doubt
		{0.2, 1, lost(0.5), lost(0.5), better, better, better},                                      //
		{1, 0.6, lost(0.5), lost(0.5), invalid, invalid, invalid},                                   //
		{1, 0.8, lost(0.005), lost(0.005), worse, worse, worse},                                     // no doubt at all
		{1, 0.8, &results.Warning{Code: metrics.Behind, Text: "x"}, nil, invalid, invalid, invalid}, // either way
	} {
		for name, rules := range map[string]compare.Rules{"paired": paired, "saved": {Minimum: 0.05}} {
			got := decided(with(c.of, runs(c.base)), with(c.and, runs(c.other)), rules)
			var is []results.Verdict
			for _, x := range got[:3] {
				is = append(is, x.Verdict)
				holds := strings.HasPrefix(x.Why, "holds whatever the doubts are worth: ")
				if doubted := strings.Contains(x.Why, " of 20 runs are doubtful: "); (x.Verdict == invalid) != (doubted && !holds) || holds && !doubted {
					t.Errorf("%s: %+v: %s because %q", name, c, x.Verdict, x.Why)
				}
			}
			if want := []results.Verdict{c.rate, c.p50, c.at}; !slices.Equal(is, want) {
				t.Errorf("%s, %v to %v, doubts %v and %v: %q, want %q", name, c.base, c.other, c.of, c.and, is, want)
			}
		}
	}
}

// TestDoubtsCountAmongTheFiguresTested checks that what is tested against the doubts is corrected for the number of figures
// like what was measured, and that the numbers shown are those that were measured.
func TestDoubtsCountAmongTheFiguresTested(t *testing.T) {
	plain, doubted := judged(runs(1), runs(0.8), paired), judged(with(lost(0.04), runs(1)), with(lost(0.04), runs(0.8)), paired)
	for i, x := range plain {
		if d := doubted[i]; x.P != nil && (*d.P != *x.P || *d.Adjusted != *x.Adjusted || d.Effect.Value != x.Effect.Value || d.Base != x.Base || *d.Detectable != *x.Detectable) {
			t.Errorf("%+v, want %+v", d, x)
		}
	}
	// In nine of ten pairs the candidate is faster: that is significant for a single figure, and not for four of them.
	base, other := with(lost(0.04), runs(1)), with(lost(0.04), runs(1))
	for i := range other {
		other[i].ThroughputPerS = base[i].ThroughputPerS * (1.2 + 0.001*float64(i))
	}
	other[4].ThroughputPerS = base[4].ThroughputPerS * 0.7
	one := compare.Default([]string{"handoff"})[:1]
	want(t, paired.Changes([]compare.Subject{{Base: base, New: other, Figures: one}}), "rounds_per_s: improvement")
	if got := judged(base, other, paired); got[0].Verdict != results.Invalid {
		t.Errorf("%+v", got[0])
	}
}

// TestInfiniteWhateverTheDoubtIsWorth checks infinite percentiles of doubtful runs: a time that is infinite for certain is
// worse than any, and one that is infinite only if all lost arrivals count is as long as it is without those in doubt.
func TestInfiniteWhateverTheDoubtIsWorth(t *testing.T) {
	// losing makes the runs lose arrivals, half of which would have been of the phase.
	losing := func(all []results.Run, arrivals int64, d *results.Warning) []results.Run {
		for i := range all {
			n := all[i].Latency["handoff"].Count
			all[i].Generator = results.Generator{Offered: n + arrivals, Completed: n, Skipped: arrivals}
			all[i].ReadRatio = &results.ReadRatio{Asked: 0.5}
			of := *all[i].Latency["handoff"].Response
			of.Lost, of.P50, of.P90, of.P99, of.P999 = arrivals, nil, nil, nil, nil
			all[i].Latency["handoff"] = results.Latency{Count: n, Service: all[i].Latency["handoff"].Service, Response: &of}
			all[i].Doubts = append(all[i].Doubts, results.Warning{Code: metrics.Skipped, Text: "skipped"})
			if d != nil {
				all[i].Doubts = append(all[i].Doubts, *d)
			}
		}
		return all
	}
	unsized := &results.Warning{Code: metrics.ClientBound, Text: "client-bound"}
	const certain, perhaps = 100_000, 6_000
	for _, c := range []struct {
		name        string
		base, other []results.Run
		want        results.Verdict
	}{
		{"certain, doubtful base", with(lost(0.04), runs(1)), losing(runs(1), certain, nil), results.Regression},
		{"certain, base in any doubt", with(unsized, runs(1)), losing(runs(1), certain, nil), results.Regression},
		{"no longer, doubtful candidate", losing(runs(1), certain, nil), with(lost(0.04), runs(1)), results.Improvement},
		{"candidate without a limit", runs(1), losing(runs(1), certain, unsized), results.Invalid},
		{"base without a limit", losing(runs(1), certain, unsized), runs(1), results.Invalid},
		{"perhaps, as long as before", runs(1), losing(runs(1), perhaps, nil), results.Invalid},
		{"perhaps, longer anyway", runs(1), losing(runs(0.8), perhaps, nil), results.Regression},
		{"perhaps no longer, shorter anyway", losing(runs(0.8), perhaps, nil), runs(1), results.Improvement},
		{"some certain, the others longer anyway", runs(1), append(losing(runs(0.8)[:4], certain, nil), losing(runs(0.8)[4:], perhaps, nil)...), results.Regression},
		{"both", losing(runs(1), certain, lost(0.04)), losing(runs(1), certain, lost(0.04)), results.Invalid},
	} {
		for name, rules := range map[string]compare.Rules{"paired": paired, "saved": {Minimum: 0.05}} {
			if x := decided(c.base, c.other, rules)[1]; x.Figure != "handoff.response.p50" || x.Verdict != c.want {
				t.Errorf("%s, %s: %s %s because %q, want %s", c.name, name, x.Figure, x.Verdict, x.Why, c.want)
			}
		}
	}
}
