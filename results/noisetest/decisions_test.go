package noisetest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/history"
	"github.com/stampede-bench/stampede/results/noisetest"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// series is how many series of each noise are decided about, and fewSeries with -short.
const (
	series    = 2000
	fewSeries = 40
)

// A claim is what a command says of a series.
type claim struct{ worse, better bool }

// A command is one that decides, with its limits.
type command struct {
	name   string
	decide func(s *machine) claim
	alarms float64 // the permitted share of false claims of either kind
	// found is the least share in which a change is found, and change is its size; 0 if the series of
	// this command have none.
	change, found float64
	only          string // the noise under which that is required, "" for all of one level
	// single says that one value is held against another one, which cannot tell a slower machine from a change.
	single bool
}

// commands returns the commands that decide.
func commands() []command {
	saved := func(n int) func(*machine) claim { return func(s *machine) claim { return savedRuns(s, n) } }
	followed := func(n int) func(*machine) claim { return func(s *machine) claim { return followed(s, n) } }
	return []command{
		{name: "ab, 25 pairs", decide: ab, alarms: 0.03, change: 0.1, found: 0.85},
		{name: "compare, 5 + 5 runs", decide: saved(5), alarms: 0.03},
		{name: "compare, 10 + 10 runs", decide: saved(10), alarms: 0.03},
		{name: "compare, 20 + 20 runs", decide: saved(20), alarms: 0.03, change: 0.3, found: 0.8, only: "autocorrelated (ρ = 0.5), 8 %"},
		{name: "a baseline, 1 run", decide: baseline, alarms: 0.03, single: true},
		{name: "history, 30 results", decide: followed(30), alarms: 0.05},
		{name: "history, 60 results", decide: followed(60), alarms: 0.05},
		{name: "sweep --slo", decide: objective, alarms: 0.03},
	}
}

// TestDecisionsUnderNoise feeds series of the same noises to each command that decides. It checks how often
// they claim a change where there is none, and how often they find one.
func TestDecisionsUnderNoise(t *testing.T) {
	testenv.SkipIfRaced(t)
	n := series
	if testing.Short() {
		n = fewSeries
	}
	page, err := os.ReadFile("../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands() {
		for _, k := range noisetest.Kinds() {
			t.Run(c.name+", "+k.Name, func(t *testing.T) {
				t.Parallel()
				worse, better := c.rates(k.Noise, n, true, 0)
				text := fmt.Sprintf("| %s | %s | %.1f %% | %.1f %% |", c.name, k.Name, 100*worse, 100*better)
				power := " – |"
				twoLevels := strings.HasPrefix(k.Name, "two levels")
				if most := tolerated(c.alarms, n); (worse > most || better > most) && !(c.single && twoLevels) {
					t.Errorf("%s: want at most %.1f %% each", text, 100*c.alarms)
				}
				if c.change > 0 {
					found, _ := c.rates(k.Noise, n, false, c.change)
					power = fmt.Sprintf(" +%.0f %%: %.1f %% |", 100*c.change, 100*found)
					if found < c.found && (c.only == "" && !twoLevels || c.only == k.Name) {
						t.Errorf("%s: want at least %.0f %%", text, 100*c.found)
					}
				}
				if text += power; n == series && runtime.GOARCH == "amd64" && !strings.Contains(string(page), text+"\n") {
					t.Errorf("docs/compare.md does not have the row %s", text)
				}
				t.Log(text)
			})
		}
	}
}

// tolerated is the share of few series up to which the permitted one cannot be ruled out.
func tolerated(share float64, n int) float64 {
	if n == series {
		return share
	}
	return share + 3*math.Sqrt(share*(1-share)/float64(n))
}

// rates returns the shares of series in which the command claims that something is worse and better. If
// the figures are apart, each has noise of its own, which makes the most false claims.
func (c command) rates(noise noisetest.Noise, n int, apart bool, change float64) (worse, better float64) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	for part := range uint64(4) {
		wait.Go(func() {
			for seed := part; seed < uint64(n); seed += 4 {
				found := c.decide(start(noise, seed, apart, change))
				mu.Lock()
				if found.worse {
					worse += 1 / float64(n)
				}
				if found.better {
					better += 1 / float64(n)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return worse, better
}

// A machine does simulated runs, one after the other.
type machine struct {
	seed   uint64
	random *rand.Rand
	noises [3]func() float64
	apart  bool
	change float64 // of the candidate, as a share
}

func start(noise noisetest.Noise, seed uint64, apart bool, change float64) *machine {
	random := rand.New(rand.NewPCG(seed, 7))
	return &machine{seed, random, [3]func() float64{noise(random), noise(random), noise(random)}, apart, change}
}

// run does the next run, of the base or of the candidate.
func (s *machine) run(candidate bool) results.Run {
	var logs [3]float64
	for i := range logs {
		if logs[i] = logs[0]; i == 0 || s.apart {
			logs[i] = s.noises[i]()
		}
	}
	truth := 0.0
	if candidate {
		truth = math.Log1p(s.change)
	}
	return noisetest.Run(logs, truth)
}

// claimed returns what the changes claim.
func claimed(changes []results.Change) (c claim) {
	for _, x := range changes {
		c.worse, c.better = c.worse || x.Verdict == results.Regression, c.better || x.Verdict == results.Improvement
	}
	return c
}

// figures are the default figures of ab and compare.
var figures = compare.Default([]string{"handoff"})

func ab(s *machine) claim {
	subject := compare.Subject{Figures: figures}
	for _, newFirst := range stats.Orders(s.seed, 25) {
		first, second := s.run(newFirst), s.run(!newFirst)
		if newFirst {
			first, second = second, first
		}
		subject.Base, subject.New = append(subject.Base, first), append(subject.New, second)
	}
	return claimed(compare.Rules{Paired: true, Minimum: 0.05}.Judge([]compare.Subject{subject}))
}

// file returns the file of one run.
func (s *machine) file(n int, candidate bool) results.File {
	return results.File{Head: results.Head{ID: fmt.Sprint("r", n), Started: time.Date(2026, 11, 1, 0, n, 0, 0, time.UTC)}, Runs: []results.Run{s.run(candidate)}}
}

func savedRuns(s *machine, n int) claim {
	var sides [2][]results.File
	for i := range 2 * n {
		sides[i/n] = append(sides[i/n], s.file(i, i >= n))
	}
	subjects, _ := compare.Rows(sides[0], sides[1])
	subjects[0].Figures = figures
	return claimed(compare.Rules{Minimum: 0.05}.Judge(subjects))
}

func baseline(s *machine) claim {
	base, file := s.file(0, false), s.file(1, false)
	thresholds := gate.Defaults(gate.Rows(file.Runs), base)
	if len(thresholds) < 2 {
		panic("no thresholds on the throughput and the tail")
	}
	_, v := gate.Judge(file, thresholds, &base)
	return claim{worse: v != results.Pass}
}

func followed(s *machine, n int) claim {
	c := history.Collection{Figures: []string{"rounds_per_s"}}
	for i := range n {
		c.Add(fmt.Sprint("r", i), s.file(i, false))
	}
	return claim{worse: len(c.Series()[0].Analyze()) > 0}
}

// objective searches the highest rate at which a queue answers within 50 ms. It is falsely claimed that a rate
// holds if the queue takes longer without noise, and that a rate does not hold if the queue takes less than
// half of that, which no noise doubles.
func objective(s *machine) claim {
	o, err := sweeps.ParseObjective("handoff.p99<50ms", []string{"handoff"})
	if err != nil {
		panic(err)
	}
	p99 := func(rate float64) float64 { // ms, without noise
		return 4 / max(1-rate/3000, 0.001)
	}
	measure := func(rate float64) results.Run {
		r := s.run(false)
		d := *r.Latency["handoff"].Response
		at := int64(float64(*d.P99) / 3 * p99(rate))
		d.P99 = &at
		r.Latency = map[string]results.Latency{"handoff": {Count: 100_000, Response: &d, Service: &d}}
		return r
	}
	search := sweeps.Search{Grid: sweeps.Rates().Grid(100, 10_000, 1.05), Times: 3,
		Try: func(rate float64) (sweeps.Trial, error) { return o.Judge(measure(rate)), nil }}
	found, err := search.Highest()
	if err != nil {
		panic(err)
	}
	return claim{better: p99(found.Level) > 50, worse: !found.Undecided && found.After.Met < found.After.Of && p99(found.Next) < 50./2}
}

// TestUncheckedNoiseIsSeen checks that the test above can fail: a rule that takes runs one after the
// other for independent makes too many false claims.
func TestUncheckedNoiseIsSeen(t *testing.T) {
	independent := command{decide: func(s *machine) claim {
		d := make(stats.Pairs, 20)
		for i := range 40 {
			v := math.Log(s.run(false).ThroughputPerS)
			if i < 20 {
				v = -v
			}
			d[i%20] += v
		}
		e := d.Interval(stats.Confidence)
		return claim{worse: e.High < 0, better: e.Low > 0}
	}}
	var seen []string
	for _, k := range noisetest.Kinds() {
		worse, better := independent.rates(k.Noise, 200, false, 0)
		if most := tolerated(0.03, 200); worse > most && better > most {
			seen = append(seen, k.Name)
		}
	}
	if !strings.Contains(strings.Join(seen, ""), "0.9") {
		t.Errorf("too many false claims are seen under %q only", seen)
	}
}
