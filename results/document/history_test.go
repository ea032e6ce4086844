package document_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// TestHistory compares the table of a history with a file that reads as prose.
func TestHistory(t *testing.T) {
	var b bytes.Buffer
	if err := render.WriteText(&b, resulttest.History(), render.Options{Saved: "a.json"}); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/history.txt", b.Bytes())
}

// TestFindingsOfAHistory checks that the newest change of each figure decides.
func TestFindingsOfAHistory(t *testing.T) {
	h := resulttest.History()
	for name, c := range map[string]struct {
		of   []results.Trend
		want []string
	}{
		"worse": {h.Figures, []string{"The newest change is for the worse in 2 of 6 figures.",
			"rounds_per_s of lock/predecessor on native:, 8 clients: −10.0 % since 2026-11-06.",
			"whole.notifications_per_round of lock/predecessor on native:, 8 clients: new since 2026-11-03."}},
		"better":   {h.Figures[1:2], []string{"The newest change is for the better in 1 of 1 figure."}},
		"accepted": {h.Figures[3:5], []string{"The newest change is accepted in 1 of 2 figures."}},
		"none":     {h.Figures[4:], []string{"None of 2 figures changed."}},
		"doubtful": {append([]results.Trend{{Figure: "acquire.p99", Doubtful: 3}}, h.Figures[4:]...),
			[]string{"None of 2 figures changed.", "1 figure cannot be judged: all results are doubtful."}},
		"all doubtful": {[]results.Trend{{Doubtful: 3}}, []string{"1 figure cannot be judged: all results are doubtful."}},
		"nothing":      {nil, []string{"No result in this history has a figure to follow."}},
	} {
		if diff := cmp.Diff(c.want, document.New(results.History{Figures: c.of}).Findings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
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
