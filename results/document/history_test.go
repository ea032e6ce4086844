package document_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// TestHistory compares the table of a history with a file that reads as prose.
func TestHistory(t *testing.T) {
	wantText(t, resulttest.History(), render.Options{Saved: "a.json"}, "history.txt")
}

// TestFindingsOfAHistory checks that the newest change of each figure decides.
func TestFindingsOfAHistory(t *testing.T) {
	h := resulttest.History()
	for name, c := range map[string]struct {
		of   []results.Trend
		want []string
	}{
		"worse": {h.Figures, []string{"The newest change is for the worse in 2 of 5 judged figures.",
			"rounds_per_s of lock/predecessor on native:, 8 clients: −10.0 % since 2026-11-06.",
			"whole.notifications_per_round of lock/predecessor on native:, 8 clients: new since 2026-11-03.", "1 figure cannot be judged: too few results."}},
		"better":   {h.Figures[1:2], []string{"The newest change is for the better in 1 of 1 figure."}},
		"accepted": {h.Figures[3:5], []string{"The newest change is accepted in 1 of 2 figures."}},
		"none":     {h.Figures[4:5], []string{"None of 1 figure changed."}},
		"too few":  {h.Figures[5:], []string{"1 figure cannot be judged: too few results."}},
		"newest doubtful": {[]results.Trend{h.Figures[4], {Points: h.Figures[4].Points, LeftOut: results.LeftOut{Doubtful: 1, NewestLeftOut: 1}}},
			[]string{"None of 1 judged figure changed.", "1 figure cannot be judged: the newest results are left out."}},
		"doubtful": {append([]results.Trend{{Figure: "acquire.p99", LeftOut: results.LeftOut{Doubtful: 3}}}, h.Figures[4:]...),
			[]string{"None of 1 judged figure changed.", "1 figure cannot be judged: all results are left out.", "1 figure cannot be judged: too few results."}},
		"all doubtful": {[]results.Trend{{LeftOut: results.LeftOut{Doubtful: 3}}},
			[]string{"1 figure cannot be judged: all results are left out."}},
		"unsafe": {[]results.Trend{{Of: "lock", Points: h.Figures[4].Points, LeftOut: results.LeftOut{Unsafe: 12}}},
			[]string{"None of 1 figure changed.", "lock: safety violation in 12 results, left out."}},
		"nothing": {nil, []string{"No result in this history has a figure to follow."}},
	} {
		if diff := cmp.Diff(c.want, document.New(results.History{Figures: c.of}).Findings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestChecksOfAHistory checks that two machines have checks of different names, that a figure whose newest results or
// all are left out is invalid, and that the table says what was left out.
func TestChecksOfAHistory(t *testing.T) {
	points := resulttest.History().Figures[4].Points
	here := results.Trend{Figure: "rounds_per_s", Of: "lock", Machine: "a", Points: points}
	there := results.Trend{Figure: "rounds_per_s", Of: "lock", Machine: "b",
		LeftOut: results.LeftOut{Doubtful: 1, Unsafe: 2, Interrupted: 3}}
	d := document.New(results.History{Verdict: results.Pass, Figures: []results.Trend{here, there}})
	for i, want := range []document.Check{
		{Suite: "lock · a", Subject: "lock · a", About: "lock · a", Verdict: results.Pass},
		{Suite: "lock · b", Subject: "lock · b", About: "lock · b", Verdict: results.Invalid,
			Why: "left out 1 doubtful result, 2 unsafe results, 3 interrupted results"},
	} {
		want.Recipe, want.Form, want.Group, want.Name = "stampede", "history", "figures", "rounds_per_s"
		if diff := cmp.Diff(want, d.Checks[i]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if notes := d.Tables[1].Notes; !slices.Contains(notes, "rounds_per_s: "+d.Checks[1].Why) {
		t.Errorf("notes %q", notes)
	}
	there.Points, there.NewestLeftOut = points, 2
	if last := document.New(results.History{Verdict: results.Invalid, Figures: []results.Trend{there}}).Checks[0]; last.About != "lock" ||
		last.Verdict != results.Invalid || last.Why != d.Checks[1].Why+", the newest 2 among them" {
		t.Errorf("one machine: %+v", last)
	}
	few := document.New(results.History{Figures: resulttest.History().Figures[5:]}).Checks[0]
	if few.Verdict != results.Inconclusive || few.Why != "too few results: a change needs at least 5 before it and 5 after it" {
		t.Errorf("too few: %+v", few)
	}
}

// TestInfiniteTimesOfAHistory checks that a time which became infinite is shown as such.
func TestInfiniteTimesOfAHistory(t *testing.T) {
	trend := results.Trend{Figure: "read.response.p99", Of: "mix", Unit: "ns", Points: []results.TrendPoint{{Value: 2e6}, {Infinite: true}},
		Changes: []results.TrendChange{{At: 1, To: 1, Before: 2e6, AfterInfinite: true, Verdict: results.Regression}}}
	d := document.New(results.History{Verdict: results.Regression, Figures: []results.Trend{trend}})
	if diff := cmp.Diff([]string{"read.response.p99", "2", "infinite", "▁█", "regression infinite"}, d.Tables[0].Rows[0]); diff != "" {
		t.Error(diff)
	}
	if want := "regression: step, 2.00 ms → infinite, since "; !strings.HasPrefix(d.Checks[0].Why, want) {
		t.Errorf("%q, want %q", d.Checks[0].Why, want)
	}
}

func TestBlocksOfAnyNumbers(t *testing.T) {
	for values, want := range map[[3]float64]string{{2, 2, 2}: "▁▁▁", {0, 1, 7}: "▁▂█", {-math.MaxFloat64, 0, math.MaxFloat64}: "▁▅█"} {
		trend := results.Trend{Figure: "rounds_per_s", Of: "lock"}
		for _, v := range values {
			trend.Points = append(trend.Points, results.TrendPoint{Value: v})
		}
		d := document.New(results.History{Figures: []results.Trend{trend}})
		if !slices.ContainsFunc(d.Tables, func(t document.Table) bool {
			return slices.ContainsFunc(t.Rows, func(row []string) bool { return slices.Contains(row, want) })
		}) {
			t.Errorf("%v are not %s in %+v", values, want, d.Tables)
		}
	}
}
