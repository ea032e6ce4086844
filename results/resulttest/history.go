package resulttest

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/results"
)

// History returns a history with a figure of each sort: one that became worse in a step, one that became
// better in a drift, a count that was 0 before, one whose change was accepted, one that did not change, and
// one with too few results.
func History() results.History {
	const form, machine = "lock/predecessor on native:, 8 clients", "2 × Some CPU, linux"
	size := func(share float64) *float64 { return &share }
	trend := func(figure, unit, of string, exact bool, values ...float64) results.Trend {
		t := results.Trend{Figure: figure, About: figure + " in words", Unit: unit, Of: of, Machine: machine, Exact: exact, Changes: []results.TrendChange{}}
		for i, v := range values {
			t.Points = append(t.Points, results.TrendPoint{Result: fmt.Sprint("r", i+1), Started: time.Date(2026, 11, 1+i, 10, 0, 0, 0, time.UTC),
				Marks: results.Marks{Subject: fmt.Sprintf("c0ffee%d", i), Tags: map[string]string{"branch": "main"}}, Value: v})
		}
		return t
	}
	slower := trend("rounds_per_s", "/s", form, false, 1010, 990, 1005, 995, 1000, 900, 910, 890, 905, 895)
	slower.Changes = []results.TrendChange{{At: 5, To: 5, Seen: 10, Before: 1000, After: 900, Size: size(-0.1), Verdict: results.Regression}}
	faster := trend("handoff.response.p50", "ns", form, false, 250e3, 250e3, 250e3, 245e3, 240e3, 235e3, 230e3, 225e3, 225e3, 225e3)
	faster.Changes = []results.TrendChange{{Drift: true, At: 3, To: 7, Seen: 10, Before: 250e3, After: 225e3, Size: size(-0.1), Verdict: results.Improvement}}
	herd := trend("whole.notifications_per_round", "", form, true, 0, 0, 1, 1)
	herd.Changes = []results.TrendChange{{At: 2, To: 2, Seen: 3, Before: 0, After: 1, Verdict: results.Regression}}
	meant := trend("whole.writes_per_round", "", form, true, 2, 2, 3, 3)
	meant.Changes = []results.TrendChange{{At: 2, To: 2, Seen: 3, Before: 2, After: 3, Size: size(0.5), Verdict: results.Pass, Reason: "an epoch is written too"}}
	same := trend("count.reads", "", "count: lock/one-node on native:, 8 clients", true, 28, 28)
	same.Machine = "any machine"
	few := trend("rounds_per_s", "/s", "lock/one-node on native:, 8 clients", false, 870)
	few.Needed = 10
	return results.History{Head: results.Head{Schema: results.Schema, Kind: results.KindHistory}, Made: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), Results: 10,
		Verdict: results.Regression, Figures: []results.Trend{slower, faster, herd, meant, same, few}}
}
