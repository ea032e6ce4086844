package contrast_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/contrast"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A headline and a card claim no more of a time than the doubts about the runs leave.
func TestASlowdownIsNoSurerThanItsRuns(t *testing.T) {
	stolen := func(share float64) results.Warning {
		w := results.Warning{Code: metrics.Stolen, Text: "CPU steal"}
		if share > 0 {
			w.Numbers = map[string]float64{metrics.LostShare: share}
		}
		return w
	}
	others := results.Warning{Code: metrics.Others, Text: "other programs"}
	for _, c := range []struct {
		name        string
		naive, calm time.Duration // of the hand-off
		doubts      [2][]results.Warning
		line, card  string
	}{
		{"no doubt", 2600, 100, [2][]results.Warning{}, "Hand-off p90 is 26 times slower.", "26 times as long"},
		{"of the slower one, of no known size", 2600, 100, [2][]results.Warning{{stolen(0)}, nil},
			"Hand-off p90 may be slower or faster: CPU steal.", "inconclusive"},
		{"of the faster one, which may be faster yet", 2600, 100, [2][]results.Warning{nil, {others}},
			"Hand-off p90 is at least 26 times slower: other programs.", "at least 26 times as long"},
		{"of half of the time", 2600, 100, [2][]results.Warning{{stolen(0.5)}, nil},
			"Hand-off p90 is at least 13 times slower: CPU steal.", "at least 13 times as long"},
		{"that leaves a small difference", 1200, 1000, [2][]results.Warning{{stolen(0.05)}, nil},
			"Hand-off p90 is at least 14 % slower: CPU steal.", "at least +14 %"},
		{"that explains a small difference", 1080, 1000, [2][]results.Warning{{stolen(0.1)}, nil},
			"Hand-off p90 may be slower or faster: CPU steal.", "inconclusive"},
		{"that cannot make it slower", 900, 1000, [2][]results.Warning{{stolen(0)}, nil},
			"Hand-off p90 is no slower: CPU steal.", "−10 %"},
	} {
		sample := func(form, family string, handoff time.Duration, doubts []results.Warning) results.Run {
			r := resulttest.Sample{Form: form, Family: family, Clients: 8, Rounds: 4000, Notif: 1, Reads: 3, Writes: 2,
				Handoff: handoff * time.Microsecond, Acquire: 10 * handoff * time.Microsecond, Fanout: 1}.Run(resulttest.Native())
			r.Doubts = doubts
			return r
		}
		naive, calm := sample("one-node", "naive", c.naive, c.doubts[0]), sample("predecessor", "recipe", c.calm, c.doubts[1])
		runs := []results.Run{naive, calm}
		shown := levels.ShownOf(nil, runs)
		if got := contrast.Slower(naive, calm, runs, shown); !slices.Equal(got, []string{c.line}) {
			t.Errorf("%s: %q, want %q", c.name, got, c.line)
		}
		if got := contrast.Levels(runs, shown)[0].Figures[1].Ratio; got != c.card {
			t.Errorf("%s: the card has %q, want %q", c.name, got, c.card)
		}
	}
}

// A rate on a card, and the background's latency in a headline, go through the same readings.
func TestRatesAndTheBackgroundAreNoSurerThanTheirRuns(t *testing.T) {
	others := func(share float64) []results.Warning {
		return []results.Warning{{Code: metrics.Others, Text: "other programs", Numbers: map[string]float64{metrics.LostShare: share}}}
	}
	bystanders := func(share float64) []results.Warning {
		w := others(share)
		w[0].Code, w[0].Names = metrics.Bystanders, map[string]string{metrics.Cause: metrics.Others}
		return w
	}
	sample := func(form, family string, rounds int64, read int64, doubts []results.Warning) results.Run {
		r := resulttest.Sample{Form: form, Family: family, Clients: 8, Rounds: rounds, Notif: 1, Reads: 3, Writes: 2,
			Handoff: time.Millisecond, Acquire: 10 * time.Millisecond, Fanout: 1}.Run(resulttest.Native())
		r.Background = &results.Background{Latency: map[string]results.Latency{"read": {Response: &results.Distribution{P50: &read, P99: &read}}}}
		r.Doubts = doubts
		return r
	}
	for _, c := range []struct {
		name  string
		naive int64 // rounds, of 4000 of the other form
		read  int64 // us, of 100 beside the other form
		doubt []results.Warning
		card  string
		line  string
	}{
		{"no doubt", 1000, 300, nil, "−75 %", "A read of the background takes 3 times longer at its p99."},
		{"a half", 1000, 300, slices.Concat(others(0.5), bystanders(0.5)), "−50 % or less", "A read of the background takes at least 50 % longer at its p99: other programs."},
		{"all", 1000, 300, slices.Concat(others(1), bystanders(1)), "inconclusive", "Whether a read of the background takes longer at its p99 is not known: other programs."},
		{"none", 8000, 100, slices.Concat(others(0.5), bystanders(0.5)), "2 times as many", "A read of the background takes no longer at its p99."},
	} {
		naive, calm := sample("one-node", "naive", c.naive, c.read*1000, c.doubt), sample("predecessor", "recipe", 4000, 100_000, nil)
		runs := []results.Run{naive, calm}
		shown := levels.ShownOf(nil, runs)
		if got := contrast.Levels(runs, shown)[0].Figures[2].Ratio; got != c.card {
			t.Errorf("%s: the card has %q, want %q", c.name, got, c.card)
		}
		shown.Tails = []float64{99}
		got := contrast.SlowerBackground(naive, calm, runs, shown, func(r results.Run) *results.Distribution { return r.Background.Latency["read"].Response })
		if !slices.Equal(got, []string{c.line}) {
			t.Errorf("%s: %q, want %q", c.name, got, c.line)
		}
	}
}
