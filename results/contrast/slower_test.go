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
