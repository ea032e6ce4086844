package compare_test

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
)

// A difference that one look shows at 95 % confidence is not shown by one look of five.
func TestLooksAreStricter(t *testing.T) {
	e := newExperiment(normal)
	e.change = 0.06
	s := e.subject(4)
	once := e.rules.Changes([]compare.Subject{s})
	e.rules.Looks = []int{10, 14, 18, 22, 25}
	often := e.rules.Changes([]compare.Subject{s})
	for i, c := range once {
		if c.P == nil {
			continue
		}
		if got := *often[i].P; got != min(1, 5**c.P) {
			t.Errorf("%s: p = %v in five looks, %v in one", c.Figure, got, *c.P)
		}
		if o := often[i].Effect; o.Low >= c.Effect.Low || o.High <= c.Effect.High || o.Confidence < 0.99 {
			t.Errorf("%s: interval %+v in five looks, %+v in one", c.Figure, *o, *c.Effect)
		}
	}
	if compare.Verdict(once) != results.Regression || compare.Verdict(often) != results.Inconclusive {
		t.Errorf("%s in one look, %s in five; want a regression and inconclusive", compare.Verdict(once), compare.Verdict(often))
	}
}

// More pairs can change what is inconclusive or invalid, and nothing else.
func TestDecided(t *testing.T) {
	of := func(verdicts ...results.Verdict) (all []results.Change) {
		for _, v := range verdicts {
			all = append(all, results.Change{Gated: true, Verdict: v})
		}
		return append(all, results.Change{Verdict: results.Regression}) // shown, not judged
	}
	for _, c := range []struct {
		changes []results.Change
		want    bool
	}{
		{of(results.Pass, results.Improvement), true},
		{of(results.Pass, results.Inconclusive), false},
		{of(results.Pass, results.Invalid), false},
		{of(results.Inconclusive, results.Regression), true},
		{of(results.Pass, results.Fail), true},
		{nil, false},
	} {
		if got := compare.Decided(c.changes); got != c.want {
			t.Errorf("%+v: decided %v", c.changes, got)
		}
	}
}
