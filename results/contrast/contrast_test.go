package contrast_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/contrast"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// lines returns a line for each figure: the naive form's value, the other's, and the ratio.
func lines(runs []results.Run) (all []string) {
	for _, l := range contrast.Levels(runs, levels.ShownOf(nil, runs)) {
		for _, f := range l.Figures {
			all = append(all, l.Crowd+", "+f.Title+": "+f.Naive.Form+" "+f.Naive.Value+", "+f.Calm.Form+" "+f.Calm.Value+" ("+f.Ratio+")")
		}
	}
	return all
}

func TestLevels(t *testing.T) {
	runs := append(resulttest.Lock().Runs, resulttest.Predecessor(512)) // which has no counterpart
	want := []string{
		"2 clients, woken per release: one-node 1.00, predecessor 1.00 (0 %)",
		"2 clients, hand-off p90: one-node 291 µs, predecessor 145 µs (2 times as long)",
		"2 clients, releases/s: one-node 896, predecessor 900 (0 %)",
		"8 clients, woken per release: one-node 6.73, predecessor 1.00 (6.7 times as many)",
		"8 clients, hand-off p90: one-node 1.16 ms, predecessor 145 µs (8 times as long)",
		"8 clients, releases/s: one-node 884, predecessor 898 (−2 %)",
		"32 clients, woken per release: one-node 28.9, predecessor 1.00 (29 times as many)",
		"32 clients, hand-off p90: one-node 4.65 ms, predecessor 145 µs (32 times as long)",
		"32 clients, releases/s: one-node 836, predecessor 892 (−6 %)",
		"128 clients, woken per release: one-node 115, predecessor 1.00 (115 times as many)",
		"128 clients, hand-off p90: one-node 18.6 ms, predecessor 145 µs (128 times as long)",
		"128 clients, releases/s: one-node 644, predecessor 868 (−26 %)",
	}
	if diff := cmp.Diff(want, lines(runs)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The bar of the larger value is full.
func TestShares(t *testing.T) {
	runs := resulttest.Lock().Runs
	all := contrast.Levels(runs, levels.ShownOf(nil, runs))
	last := all[len(all)-1].Figures
	if f := last[0]; f.Naive.Share != 1 || f.Calm.Share > 0.01 || f.Calm.Share <= 0 {
		t.Errorf("notifications: shares %v and %v", f.Naive.Share, f.Calm.Share)
	}
	if f := last[2]; f.Naive.Share < 0.7 || f.Naive.Share > 0.8 || f.Calm.Share != 1 {
		t.Errorf("throughput: shares %v and %v", f.Naive.Share, f.Calm.Share)
	}
}

// Repeated runs have medians, and no difference is named that their interval does not show.
func TestRepetitions(t *testing.T) {
	var runs []results.Run
	for i := range 6 {
		for _, r := range []results.Run{resulttest.Predecessor(8), resulttest.OneNode(8)} {
			r.Repetition = i + 1
			if r.Family == "naive" {
				r.ThroughputPerS = 780 + 70*float64(i)
			}
			runs = append(runs, r)
		}
	}
	want := []string{
		"8 clients, woken per release: one-node 6.73, predecessor 1.00 (6.7 times as many)",
		"8 clients, hand-off p90: one-node 1.16 ms, predecessor 145 µs (8 times as long)",
		"8 clients, releases/s: one-node 955, predecessor 898 (inconclusive)",
	}
	if diff := cmp.Diff(want, lines(runs)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What is not known is n/a.
func TestUnknown(t *testing.T) {
	runs := resulttest.Lock().Runs[6:]
	for i := range runs {
		runs[i].Latency = nil
	}
	want := []string{
		"128 clients, woken per release: one-node 115, predecessor 1.00 (115 times as many)",
		"128 clients, hand-off: one-node n/a, predecessor n/a ()",
		"128 clients, releases/s: one-node 644, predecessor 868 (−26 %)",
	}
	if diff := cmp.Diff(want, lines(runs)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Each event has its own words.
func TestEvents(t *testing.T) {
	runs := resulttest.Lock().Runs[6:]
	titles := map[string][]string{}
	for _, recipe := range []string{"election", "barrier"} {
		for i := range runs {
			runs[i].Recipe = recipe
		}
		for _, f := range contrast.Levels(runs, levels.ShownOf(nil, runs))[0].Figures {
			titles[recipe] = append(titles[recipe], f.Title)
		}
	}
	want := map[string][]string{
		"election": {"woken per change of leader", "hand-off p90", "rounds/s"},
		"barrier":  {"woken per round", "hand-off p90", "rounds/s"},
	}
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The forms of reconnect are set side by side by their attempts.
func TestAttempts(t *testing.T) {
	runs := resulttest.Lock().Runs[6:]
	for i := range runs {
		runs[i].Recipe, runs[i].Reconnects = "reconnect", &results.Reconnects{AttemptsPerClient: 2, BusiestTenth: 32}
		if runs[i].Family == "naive" {
			runs[i].Reconnects = &results.Reconnects{AttemptsPerClient: 200, BusiestTenth: 64}
		}
	}
	got := lines(runs)[:2]
	want := []string{
		"128 clients, attempts in 100 ms: one-node 64.0, predecessor 32.0 (2 times as many)",
		"128 clients, attempts per client: one-node 200, predecessor 2.00 (100 times as many)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// There is no contrast where the finding compares nothing.
func TestNoContrast(t *testing.T) {
	for name, change := range map[string]func(*results.Run){
		"only recipes":       func(r *results.Run) { r.Family = "recipe" },
		"open loop":          func(r *results.Run) { r.Open = &results.Open{Rate: "100"} },
		"faults":             func(r *results.Run) { r.Faults = &results.Breakage{} },
		"fan-out":            func(r *results.Run) { r.Fanout = &results.Fanout{} },
		"load":               func(r *results.Run) { r.Family = "load" },
		"safety violated":    func(r *results.Run) { r.Safety.Violations = 1 },
		"no completed round": func(r *results.Run) { r.Cost.PerRound = nil },
	} {
		runs := resulttest.Lock().Runs
		for i := range runs {
			change(&runs[i])
		}
		if all := lines(runs); len(all) > 0 {
			t.Errorf("%s: %q", name, all)
		}
	}
	if len(lines(resulttest.Lock().Runs)) == 0 {
		t.Error("no contrast of a naive form and a recipe")
	}
}
