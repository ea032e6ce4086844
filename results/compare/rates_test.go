package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/noisetest"
	"github.com/stampede-bench/stampede/results/stats"
)

// The numbers of trials that the rates are estimated from: for false claims, which are rare, and for the
// others.
const (
	falseClaims = 800
	trials      = 250
)

// noises returns kinds of noise beyond those of [noisetest.Kinds], which results/noisetest tests ab with.
func noises() []noisetest.Kind {
	return []noisetest.Kind{{Name: "heavy-tailed (t, 2 degrees of freedom), 5 %", Noise: heavyTailed}, {Name: "periodic, a 10 % sine of 4 runs", Noise: periodic(4)}}
}

// This tests the whole ab, with its default figures and number of pairs, Holm, and orders drawn from the
// seed: how often it claims a change where there is none, and how often it finds an increase by 10 %.
// Either all figures have the same noise, which makes changes hardest to find, or each figure has its
// own, which makes the most false claims.
func TestWholeAbUnderNoise(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	rows := make([]string, 2*len(noises()))
	t.Run("noises", func(t *testing.T) {
		for i, n := range noises() {
			for j, apart := range []bool{false, true} {
				t.Run(fmt.Sprint(n.Name, " ", apart), func(t *testing.T) {
					t.Parallel()
					e := newExperiment(n.Noise)
					e.apart = apart
					worse, better := e.claims(falseClaims)
					// By the test, either claim is false in at most 2.5 % of cases. An improvement has
					// no minimum size that makes it rarer, and exceeds the rate by chance here.
					if worse > 0.03 || better > 0.04 {
						t.Errorf("at no difference %s claim a regression and %s an improvement", percent(worse), percent(better))
					}
					e.change = 0.1
					power := e.rates(trials)[results.Regression]
					rows[2*i+j] = row(n.Name, []string{"the same", "independent"}[j], percent(worse), percent(better), percent(power))
				})
			}
		}
	})
	documented(t, "../../docs/compare.md", rows)
}

// A sequential comparison makes no more false claims than one of a fixed length, under any noise, and
// needs fewer pairs for a large change.
func TestUntilSureUnderNoise(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	for _, n := range append(noises(), noisetest.Kinds()...) {
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			worse, better := newExperiment(n.Noise).until(40).claims(falseClaims)
			if worse > 0.03 || better > 0.03 {
				t.Errorf("at no difference %s claim a regression and %s an improvement", percent(worse), percent(better))
			}
		})
	}
	rows := make([]string, 3)
	t.Run("designs", func(t *testing.T) {
		for i, design := range []struct {
			name string
			of   experiment
		}{
			{"25", newExperiment(shared)},
			{"until sure, at most 30", newExperiment(shared).until(30)},
			{"until sure, at most 40", newExperiment(shared).until(40)},
		} {
			t.Run(design.name, func(t *testing.T) {
				t.Parallel()
				e := design.of
				same := e.rates(falseClaims)
				cells := []string{design.name, percent(same[results.Regression]), percent(same[results.Pass] + same[results.Improvement]), fmt.Sprintf("%.1f", e.length(trials))}
				for _, e.change = range []float64{0.1, 0.2} {
					power, length := e.rates(trials)[results.Regression], e.length(trials)
					if power < 0.85 || e.looks != nil && e.change == 0.2 && length > pairs*3/4 {
						t.Errorf("+%v is found in %s, after %.1f pairs on average", e.change, percent(power), length)
					}
					cells = append(cells, percent(power), fmt.Sprintf("%.1f", length))
				}
				rows[i] = row(cells...)
			})
		}
	})
	documented(t, "../../docs/compare.md", rows)
}

// The default number of pairs is chosen from these results.
func TestPowerByPairs(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	counts := []int{10, 15, 20, pairs, 30}
	rows := make([]string, len(counts))
	t.Run("pairs", func(t *testing.T) {
		for i, n := range counts {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				e := newExperiment(shared)
				cells := []string{fmt.Sprint(n)}
				e.pairs = n
				for _, change := range []float64{0.1, 0.2} {
					e.change = change
					cells = append(cells, percent(e.rates(trials)[results.Regression]))
				}
				e.change = 0
				rows[i] = row(append(cells, percent(e.rates(trials)[results.Inconclusive]))...)
			})
		}
	})
	documented(t, "../../docs/compare.md", rows)
}

// A calibration under the same noise costs some power, and adds no false claims.
func TestWholeAbWithANoiseFloor(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	e := newExperiment(shared)
	floors := e.calibrated()
	e.rules.Floor = func(_, figure string) float64 { return floors[figure] }
	worse, better := e.claims(trials)
	e.change = 0.1
	power := e.rates(trials)[results.Regression]
	t.Logf("floors %v: %s worse, %s better at no difference, 10 %% found in %s", floors, percent(worse), percent(better), percent(power))
	if worse > 0.03 || better > 0.03 || power < 0.85 {
		t.Errorf("%s worse, %s better at no difference, 10 %% found in %s", percent(worse), percent(better), percent(power))
	}
}

// calibrated returns the noise floors from twenty pairs of the same variant.
func (e experiment) calibrated() map[string]float64 {
	e.pairs = 20
	s := e.subject(1 << 32)
	floors := map[string]float64{}
	for _, m := range s.Figures {
		var differences []float64
		for i := range s.Base {
			base, _ := m.RunValue(s.Base[i])
			other, _ := m.RunValue(s.New[i])
			differences = append(differences, math.Log(other/base))
		}
		floors[m.Name] = math.Expm1(stats.Floor(differences, pairs, 1))
	}
	return floors
}

// The power that a comparison prints is the share of comparisons that find a change of the minimum effect,
// and the change that it calls detectable is found in 80 %.
func TestPowerIsWhatIsFound(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	cases := []struct {
		name string
		of   noisetest.Noise
		ab   func(*experiment)
	}{
		{"normal, 8 %", normal, func(*experiment) {}},
		{"normal, 3 %", noisetest.Normal(0.03), func(*experiment) {}},
		{"normal, 0.5 %", noisetest.Normal(0.005), func(*experiment) {}},
		{"autocorrelated (ρ = 0.5), 8 %", noisetest.Autocorrelated(0.5, 0.08), func(*experiment) {}},
		{"autocorrelated (ρ = 0.9), 12 %", autocorrelated, func(*experiment) {}},
		{"shared machine", shared, func(*experiment) {}},
		{"shared machine, minimum effect 15 %", shared, func(e *experiment) { e.rules.Minimum = 0.15 }},
		{"shared machine, noise floor 9 %", shared, func(e *experiment) { e.rules.Floor = func(string, string) float64 { return 0.09 } }},
		{"shared machine, 3 % of the notifications per round", shared, func(e *experiment) { e.scatter = 0.03 }},
		{"shared machine, until sure", shared, func(e *experiment) { *e = e.until(40) }},
		{"two levels, half × 0.5", noisetest.Levels(0.5, 0.5), func(*experiment) {}},
		{"two levels, 30 % × 0.7", noisetest.Levels(0.3, 0.7), func(*experiment) {}},
		{"two levels, 10 % × 0.5", noisetest.Levels(0.1, 0.5), func(*experiment) {}},
	}
	rows := make([]string, len(cases))
	t.Run("noises", func(t *testing.T) {
		for i, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				e := newExperiment(c.of)
				e.apart = true
				c.ab(&e)
				const reports = 60
				var power float64
				var detectable []float64
				for seed := range uint64(reports) {
					p50 := e.rules.Changes([]compare.Subject{e.subject(seed)})[1]
					power += *p50.Power / reports
					detectable = append(detectable, *p50.Detectable)
				}
				found := func(change float64) (share float64) {
					const times = 400
					e.change = change
					for seed := range uint64(times) {
						if e.finds(reports + seed) {
							share += 1. / times
						}
					}
					return share
				}
				slices.Sort(detectable)
				size := stat.Mean(detectable[reports/4:reports*3/4], nil)
				minimum, atSize := found(e.rules.Minimum), found(size)
				// If a run is on either of two levels by chance, what is detectable depends much on how many were on each.
				tolerance := 0.05
				if strings.HasPrefix(c.name, "two levels") {
					tolerance = 0.15
				}
				if math.Abs(power-minimum) > 0.05 || math.Abs(atSize-stats.Wanted) > tolerance {
					t.Errorf("power %s, found %s; %s is called detectable, found %s", percent(power), percent(minimum), percent(size), percent(atSize))
				}
				rows[i] = row(c.name, percent(power), percent(minimum), percent(size), percent(atSize))
			})
		}
	})
	documented(t, "../../docs/compare.md", rows)
}

// What is printed for saved runs, of which those of the candidate follow those of the base, is a rough guide:
// the runs do not say exactly how strongly they depend on each other.
func TestPowerOfSavedRuns(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	const reports, times = 24, 400
	kinds := slices.DeleteFunc(noisetest.Kinds(), func(k noisetest.Kind) bool { return k.Name == "shared machine" })
	rows := make([]string, len(kinds))
	t.Run("noises", func(t *testing.T) {
		for i, k := range kinds {
			t.Run(k.Name, func(t *testing.T) {
				t.Parallel()
				rules := compare.Rules{Minimum: 0.05}
				var power, detectable float64
				for seed := range uint64(reports) {
					p50 := rules.Changes([]compare.Subject{saved(k.Noise, seed, 0)})[1]
					power += *p50.Power / reports
					detectable += math.Log(*p50.Detectable) / reports
				}
				found := func(change float64) (share float64) {
					for seed := range uint64(times) {
						if rules.Judge([]compare.Subject{saved(k.Noise, reports+seed, change)})[1].Verdict == results.Regression {
							share += 1. / times
						}
					}
					return share
				}
				size := math.Exp(detectable)
				minimum, atSize := found(rules.Minimum), found(size)
				if math.Abs(power-minimum) > 0.07 || atSize < 0.55 {
					t.Errorf("power %s, found %s; %s is called detectable, found %s", percent(power), percent(minimum), percent(size), percent(atSize))
				}
				rows[i] = row("20 + 20 runs", k.Name, percent(power), percent(minimum), percent(size), percent(atSize))
			})
		}
	})
	documented(t, "../../docs/compare.md", rows)
}

// saved simulates 20 saved runs of the base and then as many of the candidate.
func saved(noise noisetest.Noise, seed uint64, change float64) compare.Subject {
	random := rand.New(rand.NewPCG(seed, 7))
	machines := [3]func() float64{noise(random), noise(random), noise(random)}
	s := compare.Subject{Figures: compare.Default([]string{"handoff"})}
	for i := range 40 {
		var logs [3]float64
		for f := range logs {
			logs[f] = machines[f]()
		}
		if i < 20 {
			s.Base = append(s.Base, noisetest.Run(logs, 0))
		} else {
			s.New = append(s.New, noisetest.Run(logs, math.Log1p(change)))
		}
	}
	return s
}

// finds reports whether one ab finds that the median is worse, at one of its looks.
func (e experiment) finds(seed uint64) bool {
	s := e.subject(seed)
	return slices.ContainsFunc(append(e.looks, e.pairs), func(pairs int) bool {
		look := s
		look.Base, look.New = s.Base[:pairs], s.New[:pairs]
		return e.rules.Judge([]compare.Subject{look})[1].Verdict == results.Regression
	})
}

// The number of pairs that a warning names is enough to find twice the minimum effect, and no warning
// promises that a number of pairs finds the minimum effect itself.
func TestNeededPairsAreEnough(t *testing.T) {
	e := newExperiment(shared)
	e.apart, e.pairs = true, 10
	warnings := compare.Underpowered(e.rules.Changes([]compare.Subject{e.subject(1)}), e.pairs)
	if len(warnings) != 1 || warnings[0].Numbers["needed"] <= 10 {
		t.Fatalf("%+v: want a number of pairs", warnings)
	}
	e.pairs, e.change = int(warnings[0].Numbers["needed"]), 0.1
	t.Logf("%s: found in %s", warnings[0].Text, percent(e.rates(trials)[results.Regression]))
	if found := e.rates(trials)[results.Regression]; found < stats.Wanted {
		t.Errorf("%s, and is found in %s", warnings[0].Text, percent(found))
	}
	e.pairs, e.noise = 25, noisetest.Normal(0.005)
	changes := e.rules.Changes([]compare.Subject{e.subject(1)})
	if w := compare.Underpowered(changes, e.pairs); w != nil || *changes[1].Power > 0.6 || *changes[1].Detectable <= 0.05 {
		t.Errorf("%+v, power %v, %v detectable", w, *changes[1].Power, *changes[1].Detectable)
	}
}

// This shows why orders are drawn at random: the order base, new, new, base resonates with noise of a
// period of four runs, and if all runs of one variant follow those of the other, any drift looks like a
// difference.
func TestFixedOrdersResonate(t *testing.T) {
	e := newExperiment(periodic(4))
	e.orders = func(_ uint64, pairs int) []bool {
		newFirst := make([]bool, pairs)
		for i := range newFirst {
			newFirst[i] = i%2 == 1
		}
		return newFirst
	}
	if worse, _ := e.claims(trials); worse < 0.3 {
		t.Errorf("in a fixed order %s claim a regression, want far more than drawn ones", percent(worse))
	} else {
		t.Logf("in a fixed order %s claim a regression", percent(worse))
	}
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// documented logs the rows and, on the architecture where they were computed, checks that the document has
// them, digit for digit.
func documented(t *testing.T, path string, rows []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Log(r)
		if runtime.GOARCH == "amd64" && !strings.Contains(string(text), r+"\n") {
			t.Errorf("%s does not have the row %s", path, r)
		}
	}
}
