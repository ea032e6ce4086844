package results

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/fit"
	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/metrics"
)

// sweepOf returns a sweep over the runs, analysed.
func sweepOf(runs ...Run) Sweep {
	f := file(runs...)
	f.Command = []string{"stampede", "sweep", "lock", "--clients", "2..128", "--seed", "42"}
	s := Sweep{Kind: KindSweep, File: f, Axes: []string{"clients"}, Repeat: 3, WorseBy: 2, Planned: len(runs)}
	s.Analyse()
	return s
}

// herded returns three repetitions of both forms of one lock: the recipe is flat; the naive form wakes
// all waiting clients, and its hand-off takes longer the more there are.
func herded() (runs []Run) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		for n := 2; n <= 128; n *= 2 {
			about := func(d float64) time.Duration { return time.Duration(d * (1 + 0.03*random.NormFloat64())) }
			calm := about(100e3)
			crowd := float64(n)
			herd := about(80e3 + 20e3*crowd)
			runs = append(runs,
				sample{"predecessor", "recipe", n, 4000, 0.999, 3, 2, calm, 3 * calm, 1, 0}.run(native()),
				sample{"one-node", "naive", n, 4000, crowd - 1, crowd - 1, crowd + 1, herd, 3 * herd, int64(n - 1), 0.9}.run(native()))
		}
	}
	return runs
}

// scaling returns runs of both forms of 16 locks: the recipe scales up to a knee at 49 clients, and the
// naive form scales as far as it was measured.
func scaling() (runs []Run) {
	random := rand.New(rand.NewPCG(3, 4))
	laws := map[string]fit.USL{"recipe": {Alpha: 0.03, Beta: 0.0004, Gamma: 400}, "naive": {Alpha: 0.05, Gamma: 300}}
	for range 3 {
		for n := 16; n <= 256; n *= 2 {
			for _, of := range []sample{{form: "predecessor", family: "recipe", clients: n}, {form: "one-node", family: "naive", clients: n}} {
				of.rounds = int64(5 * laws[of.family].At(float64(n)) * math.Exp(0.02*random.NormFloat64()))
				of.notif, of.reads, of.writes, of.handoff, of.acquire = 1, 3, 2, time.Millisecond, 3*time.Millisecond
				r := of.run(native())
				r.Groups, r.HoldNS = 16, 0
				runs = append(runs, r)
			}
		}
	}
	return runs
}

// searched returns a search for a rate.
func searched() Sweep {
	var runs []Run
	for _, of := range []struct {
		rate string
		sample
	}{
		{"2400", sample{"predecessor", "recipe", 64, 12000, 0.5, 2, 2, time.Millisecond, 2 * time.Millisecond, 1, 0}},
		{"2520", sample{"predecessor", "recipe", 64, 12100, 0.9, 3, 2, time.Millisecond, 20 * time.Millisecond, 1, 0}},
		{"310", sample{"one-node", "naive", 64, 1550, 4, 5, 6, time.Millisecond, 4 * time.Millisecond, 40, 0.7}},
	} {
		r := of.run(native())
		r.Loop, r.Open, r.Groups = "open", &Open{Rate: of.rate, Arrival: "constant"}, 16
		r.OfferedPerS, r.Generator.Offered = float64(of.rounds)/5, of.rounds
		runs = append(runs, r)
	}
	runs[1].Generator.Skipped = 500
	s := sweepOf(runs...)
	s.Axes, s.Objective, s.Planned = []string{"rate"}, "acquire.response.p99<50ms", 0
	s.Capacities = []Capacity{
		{Recipe: "lock", Form: "one-node", Family: "naive", URL: "native:", Clients: 64, Groups: 16, Level: 310, Held: Trials{3, 3}, Confidence: 1},
		{Recipe: "lock", Form: "predecessor", Family: "recipe", URL: "native:", Clients: 64, Groups: 16, Level: 2400, Held: Trials{4, 4}, Confidence: 0.973,
			Next: 2520, After: Trials{0, 2}, Why: "500 of 12\u202f100 arrivals were not served"},
	}
	s.Analyse()
	return s
}

// shared returns three repetitions of a mix at several shares of reads; it is faster the more it
// reads. If all or none of the operations are reads, the other phase is missing.
func shared(bytes ...int) (runs []Run) {
	for repetition := range int64(3) {
		for _, size := range bytes {
			for _, reads := range []float64{0, 0.5, 1} {
				all := int64(60_000*(1+2*reads)) + 500*repetition
				read := int64(reads * float64(all))
				took := time.Duration(2-reads) * time.Millisecond
				r := FromRecord(Setting{Recipe: "mix", Form: "operations", Family: "load", Backend: native(), Clients: 64,
					Mix: &Mix{Keys: 1000, KeysBy: "uniform", SizeBytes: size}, Reads: reads},
					&metrics.Record{Duration: 5 * time.Second, Rounds: all, Phases: mixPhases(read, all-read, took),
						Mix: &metrics.Mix{Reads: read, Writes: all - read}, Safety: metrics.Safety{Checked: all}})
				runs = append(runs, r)
			}
		}
	}
	return runs
}

func mixPhases(reads, writes int64, took time.Duration) (phases []metrics.Phase) {
	for name, n := range map[string]int64{"read": reads, "write": writes} {
		if n > 0 {
			phases = append(phases, metrics.Phase{Name: name, Service: spread(n, took)})
		}
	}
	slices.SortFunc(phases, func(a, b metrics.Phase) int { return strings.Compare(a.Name, b.Name) })
	return phases
}

// mixSweep returns a sweep of a mix over the axes.
func mixSweep(runs []Run, axes ...string) Sweep {
	s := sweepOf(runs...)
	s.Command, s.Axes = []string{"stampede", "sweep", "mix", "--seed", "42"}, axes
	s.Analyse()
	return s
}

// The golden files are what people see; read one before you accept a new version.
func TestSweepTable(t *testing.T) {
	for name, made := range map[string]func() Sweep{
		"herd":    func() Sweep { return sweepOf(herded()...) },
		"scaling": func() Sweep { return sweepOf(scaling()...) },
		"search":  searched,
		"interrupted": func() Sweep {
			s := sweepOf(herded()[:9]...)
			s.Interrupted, s.Planned, s.State = true, 42, "20261121-0931-lock.sweep.json"
			return s
		},
		"nothing": func() Sweep {
			s := sweepOf()
			s.Interrupted = true
			return s
		},
		"reads":          func() Sweep { return mixSweep(shared(1000), "reads") },
		"reads and size": func() Sweep { return mixSweep(shared(100, 1000), "reads", "size") },
		"two axes": func() Sweep {
			var runs []Run
			for _, hold := range []time.Duration{1, 8} {
				for _, r := range herded() {
					if r.HoldNS = hold * time.Millisecond; r.Clients <= 16 {
						runs = append(runs, r)
					}
				}
			}
			s := sweepOf(runs...)
			s.Axes = []string{"clients", "hold"}
			s.Analyse()
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := made().WriteTable(&b, TableOptions{}); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/"+"sweep-"+strings.ReplaceAll(name, " ", "-")+".txt", b.Bytes())
			checkWidth(t, b.String())
		})
	}
}

// Crossovers are at integer numbers of clients, with the same number in every group.
func TestCrossoverIsOfWholeClients(t *testing.T) {
	s := sweepOf(herded()...)
	at := 9.7
	s.Crossovers[0].At = &at
	if line := s.finding()[0]; !strings.HasPrefix(line, "From 10 clients on the naive form's") {
		t.Error(line)
	}
	at = 38.2
	for i := range s.Levels {
		s.Levels[i].Groups = 16
	}
	if line := s.finding()[0]; !strings.HasPrefix(line, "From 48 clients on, 3 for each of 16 locks, the naive form's") {
		t.Error(line)
	}
	s.Axes, at = []string{"rate"}, 9.7
	if line := s.finding()[0]; !strings.HasPrefix(line, "From 9.7 arrivals/s on the naive form's") {
		t.Error(line)
	}
}

// The analysis finds the parameters that the samples were made with.
func TestSweepFindsWhatIsThere(t *testing.T) {
	s := sweepOf(herded()...)
	if len(s.Crossovers) != 1 || s.Crossovers[0].Metric != "handoff.p99" {
		t.Fatalf("%+v: want one crossover, by the hand-off's p99", s.Crossovers)
	}
	if one := sweepOf(herded()[:2]...); !strings.HasPrefix(one.finding()[0], "At 2 clients, the one level of both, ") {
		t.Errorf("of one level it says %q", one.finding())
	}
	// 80 + 20·N is twice 100 at 6.
	if at := s.Crossovers[0].At; at == nil || *at < 5 || *at > 7 {
		t.Errorf("the crossover is at %v, want about 6", at)
	}
	naive := s.Curves[1]
	if g := naive.Growth["notifications"]; naive.Form != "one-node" || g.Low < 0.9 || !strings.HasPrefix(naive.Limits[0], "the herd") {
		t.Errorf("%s grows as %+v, and is limited by %q", naive.Form, g, naive.Limits)
	}
	if naive.USL != nil || !strings.Contains(naive.NoUSL, "serial") {
		t.Errorf("one lock is fitted: %+v, %q", naive.USL, naive.NoUSL)
	}

	s = sweepOf(scaling()...)
	calm, level := s.Curves[0].USL, s.Curves[1].USL
	if calm == nil || calm.Knee == nil || *calm.KneeLow > 49.3 || *calm.KneeHigh < 49.2 || *calm.KneeHigh > 60 {
		t.Errorf("%+v: want a knee at 49.2", calm)
	}
	if level == nil || !strings.HasPrefix(level.knee(), "no peak up to 256") {
		t.Errorf("%+v: want no knee", level)
	}
}

// Throughput that saturates at 40 clients and never falls has no peak, in text and file, even if a law
// with a peak fits it well.
func TestSaturationIsNoPeak(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var runs []Run
	for range 3 {
		for n := 2; n <= 256; n *= 2 {
			r := shared(1000)[1]
			r.Clients, r.Groups, r.ThroughputPerS = n, 1, 1000*min(float64(n), 40)*math.Exp(0.02*random.NormFloat64())
			runs = append(runs, r)
		}
	}
	s := mixSweep(runs, "clients")
	if u := s.Curves[0].USL; u == nil || u.Knee != nil || u.KneeLow != nil || u.KneeHigh != nil {
		t.Errorf("%+v: want a law without a knee", u)
	}
	if got := s.finding(); len(got) != 1 || got[0] != "The mix: no peak up to 256 clients." {
		t.Errorf("it says %q", got)
	}
}

// The clients of a mix do not wait for each other, so a law can be fitted over their number; over the
// shares of reads, no law is fitted.
func TestSweepOfAMix(t *testing.T) {
	law := fit.USL{Alpha: 0.03, Beta: 0.0004, Gamma: 4000}
	var runs []Run
	for range 3 {
		for n := 2; n <= 128; n *= 2 {
			r := shared(1000)[1]
			r.Clients, r.Groups, r.ThroughputPerS = n, 1, law.At(float64(n))
			runs = append(runs, r)
		}
	}
	s := mixSweep(runs, "clients")
	if u := s.Curves[0].USL; u == nil || u.Knee == nil || math.Abs(*u.Knee-49.2) > 1 {
		t.Errorf("%+v, %q: want a knee at 49.2", u, s.Curves[0].NoUSL)
	}
	if got := s.finding(); len(got) != 1 || !strings.HasPrefix(got[0], "The mix: throughput peaks at 49 clients") {
		t.Errorf("it says %q", got)
	}
	s = mixSweep(shared(1000), "reads")
	if len(s.Levels) != 3 || s.Levels[1].Reads != 0.5 || s.Levels[1].Size != 1000 || len(s.Levels[1].Runs) != 3 {
		t.Errorf("levels %+v", s.Levels)
	}
	if c := s.Curves[0]; c.USL != nil || c.NoUSL != "" {
		t.Errorf("a law over shares: %+v, %q", c.USL, c.NoUSL)
	}
}

// A busy generator is reported as a limit; if nothing explains the throughput, the limit is not known.
func TestLimits(t *testing.T) {
	runs := herded()
	for i := range runs {
		runs[i].Warnings = []Warning{{"cpu-client-bound", "client-bound: the generator used 1.9 of 2 cores; the service may be faster than this"}}
	}
	s := sweepOf(runs...)
	if got := s.Curves[0].Limits[0]; !strings.HasPrefix(got, "the processors: client-bound: the generator used 1.9") {
		t.Errorf("limited by %q", got)
	}
	for i := range runs {
		runs[i].Warnings, runs[i].Recipe = nil, "queue"
	}
	s = sweepOf(runs...)
	if got := s.Curves[0].Limits; len(got) != 1 || got[0] != "not known" {
		t.Errorf("limited by %q", got)
	}
}

// A sweep is read as it was written, and it can be read as a File; a File is not read as a sweep.
func TestReadSweep(t *testing.T) {
	want := sweepOf(scaling()...)
	var b bytes.Buffer
	if err := want.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	got, err := ReadSweep(strings.NewReader(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v; read something else than was written (-want +got):\n%s", err, diff)
	}
	f, err := Read(strings.NewReader(text))
	if diff := cmp.Diff(want.File, f); err != nil || diff != "" {
		t.Errorf("%v; as a file (-want +got):\n%s", err, diff)
	}
	b.Reset()
	if err := want.File.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSweep(&b); err == nil {
		t.Error("the file of a run is read as a sweep")
	}
}

// A sweep shows the chosen percentiles, as medians over the repetitions, and stores them in its file.
func TestSweepShowsChosenPercentiles(t *testing.T) {
	s := sweepOf(herded()...)
	s.Percentiles = []float64{75, 99.9}
	s.Analyse()
	var b bytes.Buffer
	if err := s.WriteTable(&b, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	l := s.Levels[0]
	want, known := across(s.at(l), valueAt(func(r Run) *Distribution { return r.latency("acquire") }, 75))
	if got := l.Latency["acquire"]["p75"]; !known || got != want {
		t.Errorf("p75 of the first level is %+v, want %+v", got, want)
	}
	if v, ok := s.middle(l).latency("acquire").At(75); !ok || v != int64(want.Value) {
		t.Errorf("the row of the first level has a p75 of %d, want %v", v, want.Value)
	}
	if text := b.String(); !strings.Contains(text, "p75") || !strings.Contains(text, "p99.9") || strings.Contains(text, "p90 ") {
		t.Errorf("not the columns that were chosen:\n%s", text)
	}
}
