package compare_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/noisetest"
)

// The two runs of a duet meet the same noise in the same seconds, which cancels within the pair, while
// two runs by turns meet what came before and after. Noise that each run has alone, or that one run
// causes the other, does not cancel. This tests the whole ab in both designs: how often it claims a
// change where there is none, what it can detect, and how often it finds an increase by 10 %.
func TestDuetUnderNoise(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	cases := []struct {
		name       string
		common     noisetest.Noise
		own, taken float64
		cancels    bool // most of the noise is common to both runs of a duet
	}{
		{"shared machine, and 4 % of each run alone", shared, 0.04, 0, true},
		{"autocorrelated (ρ = 0.9), 12 %, and 4 % of each run alone", autocorrelated, 0.04, 0, true},
		{"a 10 % sine of 4 runs, and 4 % of each run alone", periodic(4), 0.04, 0, true},
		{"8 % of each run alone", quiet, 0.08, 0, false},
		{"shared machine, 4 % of each run alone, and 6 % that a duet's runs take from each other", shared, 0.04, 0.06, false},
	}
	rows := make([]string, 2*len(cases))
	found := make([]float64, 2*len(cases))
	t.Run("designs", func(t *testing.T) {
		for i, c := range cases {
			for j, design := range []string{"by turns", "duet"} {
				t.Run(c.name+" "+design, func(t *testing.T) {
					t.Parallel()
					e := newExperiment(c.common)
					e.own, e.taken, e.duet = c.own, c.taken, j == 1
					worse, better := e.claims(falseClaims)
					if worse > 0.03 || better > 0.04 {
						t.Errorf("at no difference %s claim a regression and %s an improvement", percent(worse), percent(better))
					}
					cells := []string{c.name, design, percent(worse), percent(better), percent(e.detectable())}
					e.change = 0.1
					for _, e.pairs = range []int{10, pairs} {
						found[2*i+j] = e.rates(trials)[results.Regression]
						cells = append(cells, percent(found[2*i+j]))
					}
					rows[2*i+j] = row(cells...)
				})
			}
		}
	})
	for i, c := range cases {
		if turns, duet := found[2*i], found[2*i+1]; c.cancels && (duet < 0.95 || duet < turns) {
			t.Errorf("%s: 10 %% more is found in %s by turns and in %s by a duet, want more", c.name, percent(turns), percent(duet))
		}
	}
	documented(t, "../../docs/compare.md", rows)
}

// A duet whose runs take all of their noise from each other detects less than pairs by turns, whose runs
// have none of it. The simulation must be able to show this.
func TestDuetCanBeWorse(t *testing.T) {
	testenv.SkipIfShort(t)
	turns := newExperiment(quiet)
	turns.own, turns.taken = 0.04, 0.12
	duet := turns
	duet.duet = true
	if a, b := turns.detectable(), duet.detectable(); b < 2*a {
		t.Errorf("by turns %s is detectable and by a duet %s, want at least twice as much", percent(a), percent(b))
	}
}

// Pairs whose windows opened more than a tenth of a window apart are counted, those at the limit are not.
func TestWindowsApart(t *testing.T) {
	d := results.Duet{Pairs: []results.DuetPair{{ApartNS: time.Millisecond}, {ApartNS: 100 * time.Millisecond}}}
	if got := compare.Apart(d, time.Second); got != nil {
		t.Errorf("%+v, want no warning", got)
	}
	d.Pairs = append(d.Pairs, results.DuetPair{ApartNS: 101 * time.Millisecond}, results.DuetPair{ApartNS: 153 * time.Millisecond})
	got := compare.Apart(d, time.Second)
	if len(got) != 1 || got[0].Code != results.WindowsApart || got[0].Numbers["apart"] != 2 || got[0].Numbers["pairs"] != 4 || got[0].Numbers["most_ns"] != 153e6 {
		t.Errorf("%+v", got)
	}
}

// detectable returns the median of the detectable change of the rate, over some trials without a
// difference.
func (e experiment) detectable() float64 {
	const enough = 20
	var all []float64
	for seed := range uint64(enough) {
		changes := e.rules.Changes([]compare.Subject{e.subject(seed)})
		if changes[0].Detectable == nil {
			panic(fmt.Sprintf("seed %d: nothing is detectable", seed))
		}
		all = append(all, *changes[0].Detectable)
	}
	slices.Sort(all)
	return all[enough/2]
}
