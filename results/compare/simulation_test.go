package compare_test

import (
	"math"
	"math/rand/v2"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/noisetest"
	"github.com/stampede-bench/stampede/results/stats"
)

// pairs is the default number of pairs of stampede ab.
const pairs = 25

var (
	normal         = noisetest.Normal(0.08)
	autocorrelated = noisetest.Autocorrelated(0.9, 0.12)
	shared         = noisetest.Noise(noisetest.Shared)
)

// heavyTailed is Student's t with two degrees of freedom, which has no variance.
func heavyTailed(random *rand.Rand) func() float64 {
	return func() float64 { return 0.05 * random.NormFloat64() / math.Sqrt(random.ExpFloat64()) }
}

// periodic is a sine of 10 % with a period of the given number of runs.
func periodic(runs float64) noisetest.Noise {
	return func(random *rand.Rand) func() float64 {
		at := runs * random.Float64()
		return func() float64 {
			at++
			return 0.1*math.Sin(2*math.Pi*at/runs) + 0.01*random.NormFloat64()
		}
	}
}

// An experiment is one configuration of stampede ab, simulated many times.
type experiment struct {
	noise  noisetest.Noise
	apart  bool // each figure has its own noise; otherwise all figures of a run share it
	pairs  int
	change float64 // of all times, as a share
	orders func(seed uint64, pairs int) []bool
	rules  compare.Rules
	looks  []int // the pairs after which a sequential comparison is judged; nil if it is judged once

	scatter float64 // the standard deviation of the notifications per round, which no formula fixes then; 0 if one does
}

func newExperiment(of noisetest.Noise) experiment {
	return experiment{noise: of, pairs: pairs, orders: stats.Orders, rules: compare.Rules{Paired: true, Minimum: 0.05}}
}

// subject simulates the pairs of one ab.
func (e experiment) subject(seed uint64) compare.Subject {
	random := rand.New(rand.NewPCG(seed, 7))
	machines := [3]func() float64{e.noise(random), e.noise(random), e.noise(random)}
	moment := func() (logs [3]float64) {
		logs[0] = machines[0]()
		for i := range logs {
			logs[i] = logs[0]
			if e.apart && i > 0 {
				logs[i] = machines[i]()
			}
		}
		return logs
	}
	run := func(truth float64) results.Run { return noisetest.Run(moment(), truth) }
	s := compare.Subject{Figures: compare.Default([]string{"handoff"})}
	for _, newFirst := range e.orders(seed, e.pairs) {
		var base, other results.Run
		if newFirst {
			other = run(math.Log1p(e.change))
			base = run(0)
		} else {
			base = run(0)
			other = run(math.Log1p(e.change))
		}
		s.Base, s.New = append(s.Base, base), append(s.New, other)
	}
	if e.scatter > 0 {
		for _, runs := range [][]results.Run{s.Base, s.New} {
			for i := range runs {
				cost := &runs[i].Cost
				cost.Expected = nil
				cost.Whole.Notifications += int64(e.scatter * random.NormFloat64() * float64(cost.WholeRounds))
			}
		}
	}
	return s
}

// until returns the experiment with a sequential comparison of at most that number of pairs.
func (e experiment) until(most int) experiment {
	e.pairs, e.looks = most, stats.Looks(most, 4)
	e.rules.Looks = e.looks
	return e
}

// judged simulates one ab, and returns its changes and the number of its pairs.
func (e experiment) judged(seed uint64) (changes []results.Change, pairs int) {
	all := e.subject(seed)
	looks := e.looks
	if looks == nil {
		looks = []int{e.pairs}
	}
	for _, pairs = range looks {
		s := all
		s.Base, s.New = all.Base[:pairs], all.New[:pairs]
		changes = e.rules.Judge([]compare.Subject{s})
		if compare.Decided(changes) {
			break
		}
	}
	return changes, pairs
}

// length returns the mean number of pairs of the whole ab.
func (e experiment) length(trials int) (mean float64) {
	for seed := range uint64(trials) {
		_, pairs := e.judged(seed)
		mean += float64(pairs) / float64(trials)
	}
	return mean
}

// rates returns how often the whole ab ends in each verdict.
func (e experiment) rates(trials int) map[results.Verdict]float64 {
	rates := map[results.Verdict]float64{}
	for seed := range uint64(trials) {
		changes, _ := e.judged(seed)
		rates[compare.Verdict(changes)] += 1 / float64(trials)
	}
	return rates
}

// claims returns how often the whole ab claims that a gated figure is worse, and that one is better,
// although there is no difference.
func (e experiment) claims(trials int) (worse, better float64) {
	for seed := range uint64(trials) {
		found := map[results.Verdict]bool{}
		changes, _ := e.judged(seed)
		for _, c := range changes {
			found[c.Verdict] = true
		}
		if found[results.Regression] {
			worse += 1 / float64(trials)
		}
		if found[results.Improvement] {
			better += 1 / float64(trials)
		}
	}
	return worse, better
}
