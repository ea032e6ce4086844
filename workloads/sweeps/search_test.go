package sweeps_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// A serviceModel simulates a service: the 99th percentile of a run depends on the rate, with
// scatter.
type serviceModel struct {
	name    string
	p99     func(rate float64) float64 // ms, without scatter
	scatter func(*rand.Rand) float64   // of the logarithm
}

// queued rises slowly, and steeply towards 3000/s.
func queued(rate float64) float64 {
	if rate >= 3000 {
		return 1000
	}
	return 4 / (1 - rate/3000)
}

func serviceModels() []serviceModel {
	normal := func(share float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return share * r.NormFloat64() }
	}
	heavy := func(r *rand.Rand) float64 { // one run in twenty is disturbed
		x := 0.1 * r.NormFloat64()
		if r.IntN(20) == 0 {
			x += 0.3
		}
		return x
	}
	flat := func(rate float64) float64 { return rate / 50 } // reaches 50 ms at 2500/s
	return []serviceModel{
		{"queue, scatter 5 %", queued, normal(0.05)},
		{"queue, scatter 15 %", queued, normal(0.15)},
		{"queue, scatter 30 %", queued, normal(0.3)},
		{"queue, disturbed runs", queued, heavy},
		{"proportional, scatter 5 %", flat, normal(0.05)},
		{"proportional, scatter 15 %", flat, normal(0.15)},
		{"proportional, disturbed runs", flat, heavy},
	}
}

// run returns the trial of one run with the objective p99<50ms.
func (m serviceModel) run(rate float64, r *rand.Rand) sweeps.Trial {
	slack := math.Log(50/m.p99(rate)) - m.scatter(r)
	if slack > 0 {
		return sweeps.Trial{Outcome: sweeps.Met, Slack: slack}
	}
	return sweeps.Trial{Outcome: sweeps.Missed, Slack: slack}
}

// nextRuns does the given number of searches. It returns the share of answers at which the next run
// misses the objective, and the mean answer as a share of the rate at which half of all runs meet
// it.
func nextRuns(t *testing.T, m serviceModel, searches int, random *rand.Rand) (missed, answer float64) {
	t.Helper()
	grid := sweeps.Rates().Grid(100, 10_000, 1.05)
	limit := 0.
	for _, rate := range grid {
		if m.p99(rate) < 50 {
			limit = rate
		}
	}
	for range searches {
		s := sweeps.Search{Grid: grid, Times: 3, Try: func(rate float64) (sweeps.Trial, error) { return m.run(rate, random), nil }}
		found, err := s.Highest()
		if err != nil || found.Level == 0 {
			t.Fatalf("%s: found %+v, %v", m.name, found, err)
		}
		answer += found.Level / limit / float64(searches)
		if m.run(found.Level, random).Outcome == sweeps.Missed {
			missed += 1 / float64(searches)
		}
	}
	return missed, answer
}

// TestAnswerOfASearchHoldsInItsNextRun checks for each model that in 1000 searches the next run at
// the answer misses the objective in at most 5 %, and that the answer is not needlessly low.
func TestAnswerOfASearchHoldsInItsNextRun(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 6))
	for _, m := range serviceModels() {
		missed, answer := nextRuns(t, m, 1000, random)
		t.Logf("%s: the next run misses the objective in %.1f %%; the answer is %.2f of the median limit", m.name, 100*missed, answer)
		if missed > 0.05 || answer < 0.6 {
			t.Errorf("%s: want at most 5 %%, and at least 0.6", m.name)
		}
	}
}

// upTo returns a service without scatter that holds up to a level.
func upTo(level float64) func(float64) (sweeps.Trial, error) {
	return func(at float64) (sweeps.Trial, error) {
		if at <= level {
			return sweeps.Trial{Outcome: sweeps.Met, Slack: 1}, nil
		}
		return sweeps.Trial{Outcome: sweeps.Missed, Why: "too much"}, nil
	}
}

// TestHighest checks that the search finds the last level that holds, wherever it is, and tries far
// fewer levels than all.
func TestHighest(t *testing.T) {
	grid := sweeps.Rates().Grid(100, 100_000, 1.05)
	for i := -1; i < len(grid); i++ {
		tried, last := 0, 0.
		if i >= 0 {
			last = grid[i]
		}
		s := sweeps.Search{Grid: grid, Times: 3, Try: func(level float64) (sweeps.Trial, error) {
			tried++
			return upTo(last)(level)
		}}
		found, err := s.Highest()
		want := sweeps.Found{Level: last}
		if i >= 0 {
			want.At, want.Confidence = sweeps.Trials{Met: found.At.Of, Of: max(3, found.At.Of)}, 1
		}
		if i+1 < len(grid) {
			want.Next, want.After, want.Why = grid[i+1], sweeps.Trials{Of: 2}, "too much"
		}
		if err != nil || found != want {
			t.Fatalf("found %+v, %v; want %+v", found, err, want)
		}
		if tried > s.Most()+4 {
			t.Errorf("%d trials to find %v, want about %d", tried, want.Level, s.Most())
		}
	}
}

// TestHighestConfirms checks that a level that held by chance is not confirmed, and that one bad
// run does not rule a level out.
func TestHighestConfirms(t *testing.T) {
	tried := map[float64]int{}
	s := sweeps.Search{Grid: []float64{1, 2, 4, 8, 16}, Times: 3, Try: func(level float64) (sweeps.Trial, error) {
		tried[level]++
		lucky, unlucky := level == 4 && tried[level] == 1, level == 2 && tried[level] == 1
		if level <= 2 && !unlucky || lucky {
			return sweeps.Trial{Outcome: sweeps.Met, Slack: 1}, nil
		}
		return sweeps.Trial{Outcome: sweeps.Missed, Why: "too much"}, nil
	}}
	found, err := s.Highest()
	want := sweeps.Found{Level: 2, At: sweeps.Trials{Met: 5, Of: 6}, Confidence: 1, Next: 4, After: sweeps.Trials{Met: 1, Of: 2}, Why: "too much"}
	if err != nil || found != want {
		t.Errorf("found %+v, %v; want %+v", found, err, want)
	}
}

// TestScatterIsNoConfirmation checks that runs that all meet the objective, but scatter as far as
// the limit, do not confirm a level.
func TestScatterIsNoConfirmation(t *testing.T) {
	slacks, nth := []float64{0.01, 0.4, 0.02, 0.5}, 0
	s := sweeps.Search{Grid: []float64{1}, Times: 3, Try: func(float64) (sweeps.Trial, error) {
		nth++
		return sweeps.Trial{Outcome: sweeps.Met, Slack: slacks[nth-1]}, nil
	}}
	found, err := s.Highest()
	if err != nil || found.Level != 0 || !found.Undecided || found.After != (sweeps.Trials{Met: 4, Of: 4}) || !strings.HasPrefix(found.Why, "the runs vary") {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestUndecidedRunsRuleNothingOut checks that undecided runs leave the answer open: they never mean
// "does not hold".
func TestUndecidedRunsRuleNothingOut(t *testing.T) {
	for lowest, want := range map[float64]sweeps.Found{
		1: {Next: 1, Why: "short of CPU", Undecided: true},
		4: {Level: 2, At: sweeps.Trials{Met: 4, Of: 4}, Confidence: 1, Next: 4, Why: "short of CPU", Undecided: true},
	} {
		s := sweeps.Search{Grid: []float64{1, 2, 4, 8, 16}, Times: 3, Try: func(level float64) (sweeps.Trial, error) {
			if level >= lowest {
				return sweeps.Trial{Why: "short of CPU"}, nil
			}
			return sweeps.Trial{Outcome: sweeps.Met, Slack: 1}, nil
		}}
		if found, err := s.Highest(); err != nil || found != want {
			t.Errorf("undecided from %v on: found %+v, %v; want %+v", lowest, found, err, want)
		}
	}
}

func TestHighestEndsWithAnError(t *testing.T) {
	broken := errors.New("broken")
	for after := range 6 {
		tried := 0
		s := sweeps.Search{Grid: []float64{1, 2, 4, 8}, Times: 2, Try: func(level float64) (sweeps.Trial, error) {
			if tried++; tried > after {
				return sweeps.Trial{}, broken
			}
			return upTo(math.Pi)(level)
		}}
		if _, err := s.Highest(); !errors.Is(err, broken) {
			t.Errorf("broken after %d trials, and it says %v", after, err)
		}
	}
}
