package compare_test

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/stats"
)

// The numbers of trials that the rates are estimated from: for false claims, which are rare, and for the
// others.
const (
	falseClaims = 800
	trials      = 250
)

// noises returns the kinds of noise that the whole ab is tested with, by their names in the documents.
func noises() []struct {
	name string
	of   noise
} {
	return []struct {
		name string
		of   noise
	}{
		{"normal, 8 %", normal}, {"heavy-tailed (t, 2 degrees of freedom), 5 %", heavyTailed}, {"autocorrelated (ρ = 0.9), 12 %", autocorrelated},
		{"periodic, a 10 % sine of 4 runs", periodic(4)}, {"shared machine", shared},
	}
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
				t.Run(fmt.Sprint(n.name, " ", apart), func(t *testing.T) {
					t.Parallel()
					e := newExperiment(n.of)
					e.apart = apart
					worse, better := e.claims(falseClaims)
					// By the test, either claim is false in at most 2.5 % of cases. An improvement has
					// no minimum size that makes it rarer, and exceeds the rate by chance here.
					if worse > 0.03 || better > 0.04 {
						t.Errorf("at no difference %s claim a regression and %s an improvement", percent(worse), percent(better))
					}
					e.change = 0.1
					power := e.rates(trials)[results.Regression]
					if n.name == "shared machine" && power < 0.85 {
						t.Errorf("10 %% more is found in %s, want at least 85 %%", percent(power))
					}
					rows[2*i+j] = row(n.name, []string{"the same", "independent"}[j], percent(worse), percent(better), percent(power))
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
	for _, n := range noises() {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			worse, better := newExperiment(n.of).until(40).claims(falseClaims)
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
	for _, m := range s.Metrics {
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

// A change of the size of the detectable effect is found in about 80 % of all cases.
func TestDetectableIsFound(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	for name, of := range map[string]noise{"shared": shared, "normal": normal} {
		e := newExperiment(of)
		var detectable []float64
		for seed := range uint64(trials) {
			detectable = append(detectable, *e.rules.Changes([]compare.Subject{e.subject(seed)})[1].Detectable)
		}
		slices.Sort(detectable)
		e.change = detectable[trials/2]
		e.rules.Minimum = 0
		n := 0
		for seed := range uint64(trials) {
			if e.rules.Changes([]compare.Subject{e.subject(trials + seed)})[1].Verdict == results.Regression {
				n++
			}
		}
		t.Logf("%s: %s is detectable, and found in %s", name, percent(e.change), percent(float64(n)/trials))
		if share := float64(n) / trials; share < 0.65 || share > 0.9 {
			t.Errorf("%s: a change of %s is found in %s, want about 80 %%", name, percent(e.change), percent(share))
		}
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

func TestBlocksAreWorse(t *testing.T) {
	e := newExperiment(shared)
	e.orders = func(uint64, int) []bool { return make([]bool, pairs) }
	n := 0
	for seed := range uint64(trials) {
		s := e.subject(seed)
		var all []results.Run // in the order in which they ran
		for i := range s.Base {
			all = append(all, s.Base[i], s.New[i])
		}
		s.Base, s.New = all[:pairs], all[pairs:]
		if compare.Verdict(e.rules.Changes([]compare.Subject{s})) == results.Regression {
			n++
		}
	}
	if share := float64(n) / trials; share < 0.1 {
		t.Errorf("in blocks %s claim a regression, want far more than in pairs", percent(share))
	} else {
		t.Logf("in blocks %s claim a regression", percent(share))
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
