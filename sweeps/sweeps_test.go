package sweeps_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/sweeps"
)

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		kind sweeps.Kind
		text string
		n    int
		want []float64
	}{
		{sweeps.Whole(1), "2..256", 0, []float64{2, 4, 8, 16, 32, 64, 128, 256}},
		{sweeps.Whole(1), "2..100", 0, []float64{2, 4, 8, 16, 32, 64, 100}},
		{sweeps.Whole(1), "2..70", 0, []float64{2, 4, 8, 16, 32, 70}}, // 64 is next to 70
		{sweeps.Whole(1), "2,32,8", 0, []float64{2, 8, 32}},
		{sweeps.Whole(1), "64", 0, []float64{64}},
		{sweeps.Whole(1), "1..1000", 4, []float64{1, 10, 100, 1000}},
		{sweeps.Whole(16), "16..256", 4, []float64{16, 48, 96, 256}},
		{sweeps.Rates(), "100..1000", 3, []float64{100, 316, 1000}},
		{sweeps.Durations(), "0,1ms", 0, []float64{0, float64(time.Millisecond)}},
		{sweeps.Shares(), "0..1", 0, []float64{0, 0.25, 0.5, 0.75, 1}},
		{sweeps.Shares(), "0..1", 4, []float64{0, 0.333, 0.667, 1}},
		{sweeps.Shares(), "0.1..0.9", 0, []float64{0.1, 0.35, 0.6, 0.9}}, // 0.85 is next to 0.9
		{sweeps.Shares(), "0,0.9,0.5,1", 0, []float64{0, 0.5, 0.9, 1}},
		{sweeps.Sizes(), "0,1k,1KiB", 0, []float64{0, 1000, 1024}},
		{sweeps.Sizes(), "100..1k", 0, []float64{100, 200, 400, 1000}}, // 800 is next to 1000
		{sweeps.Sizes(), "100..100k", 4, []float64{100, 1000, 10_000, 100_000}},
	} {
		got, err := c.kind.Levels(c.text, c.n)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s in %d: %v (-want +got):\n%s", c.text, c.n, err, diff)
		}
	}
	for _, text := range []string{"", "a", "2..", "8..2", "0..8", "2..4..8", "2,,3", "-1", "2.5"} {
		if got, err := sweeps.Whole(1).Levels(text, 0); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	for _, text := range []string{"1..0", "0..2", "0.5..0.5", "1.1", "0..nan"} {
		if got, err := sweeps.Shares().Levels(text, 0); err == nil {
			t.Errorf("the shares %q are read as %v", text, got)
		}
	}
}

// Every repetition has every cell once; the seed says in which order.
func TestOrder(t *testing.T) {
	var levels []sweeps.Level
	for n := 2; n <= 64; n *= 2 {
		levels = append(levels, sweeps.Level{Clients: n})
	}
	const subjects, repeat = 2, 3
	order := sweeps.Order(levels, subjects, repeat, 7)
	size := len(levels) * subjects
	if len(order) != repeat*size {
		t.Fatalf("%d cells", len(order))
	}
	for block := range slices.Chunk(order, size) {
		seen := map[sweeps.Cell]bool{}
		for _, c := range block {
			seen[c] = true
		}
		if len(seen) != size {
			t.Errorf("a repetition with %d of %d cells", len(seen), size)
		}
	}
	if slices.Equal(order[:size], order[size:2*size]) {
		t.Error("two repetitions in the same order")
	}
	if !slices.Equal(order, sweeps.Order(levels, subjects, repeat, 7)) {
		t.Error("another order with the same seed")
	}
	if slices.Equal(order, sweeps.Order(levels, subjects, repeat, 8)) {
		t.Error("the same order with another seed")
	}
}

func TestParseObjective(t *testing.T) {
	phases := []string{"acquire", "handoff", "release"}
	for given, want := range map[string]string{
		"acquire.response.p99<50ms":    "acquire.response.p99<50ms",
		"handoff.service.p999 < 1.5ms": "handoff.service.p999<1.5ms",
		"release.max<1s":               "release.response.max<1s",
		"rounds_per_s >= 500/s":        "rounds_per_s>=500",
	} {
		if o, err := sweeps.ParseObjective(given, phases); err != nil || o.String() != want {
			t.Errorf("%s is read as %v, %v", given, o, err)
		}
	}
	for given, want := range map[string]string{
		"aquire.response.p99<50ms":  `unknown metric "aquire.response.p99": did you mean "acquire.response.p99"?`,
		"acquire.response.p95<50ms": `unknown metric "acquire.response.p95": did you mean "acquire.response.p90"?`,
		"acquire.p99":               `"acquire.p99": want FIGURE < LIMIT, or another of <= > >= ==, such as acquire.p99<50ms`,
		"acquire.p99<50":            `acquire.response.p99 "50": want a duration such as 50ms`,
	} {
		if _, err := sweeps.ParseObjective(given, phases); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", given, err, want)
		}
	}
}

func TestJudge(t *testing.T) {
	o, err := sweeps.ParseObjective("acquire.response.p99<50ms", []string{"acquire"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(p99 *int64) results.Run {
		return results.Run{Rounds: 70, Latency: map[string]results.Latency{"acquire": {Response: &results.Distribution{P99: p99}}}}
	}
	of := func(d time.Duration) *int64 { return (*int64)(&d) }
	skipped, unfinished, unsafe := at(of(time.Millisecond)), at(of(time.Millisecond)), at(of(time.Millisecond))
	skipped.Generator = results.Generator{Offered: 80, Skipped: 1}
	unfinished.Generator = results.Generator{Offered: 80, Unfinished: 2}
	unsafe.Safety.Violations = 1
	for _, c := range []struct {
		run results.Run
		met bool
		why string
	}{
		{at(of(49 * time.Millisecond)), true, ""},
		{at(of(50 * time.Millisecond)), false, "p99 is 50.0 ms"},
		{at(nil), false, "70 rounds are too few for p99"},
		{results.Run{}, false, "0 rounds are too few for p99"},
		{skipped, false, "1 of 80 arrivals were not served"},
		{unfinished, false, "2 of 80 arrivals were not served"},
		{unsafe, false, "the form broke its promise"},
	} {
		if met, why := o.Judge(c.run); met != c.met || why != c.why {
			t.Errorf("met %v, %q; want %v, %q", met, why, c.met, c.why)
		}
	}
}

// The search finds the last level that holds, wherever that is, and tries far
// fewer than all.
func TestHighest(t *testing.T) {
	grid := sweeps.Rates().Grid(100, 100_000, 1.05)
	for i := -1; i < len(grid); i++ {
		tried := 0
		s := sweeps.Search{Grid: grid, Times: 3, Try: func(level float64) (bool, error) {
			tried++
			return i >= 0 && level <= grid[i], nil
		}}
		found, err := s.Highest()
		want := sweeps.Found{}
		if i >= 0 {
			want.Level, want.At = grid[i], sweeps.Trials{Met: 3, Of: 3}
		}
		if i+1 < len(grid) {
			want.Next, want.After = grid[i+1], sweeps.Trials{Of: 1}
		}
		if err != nil || found != want {
			t.Fatalf("found %+v, %v; want %+v", found, err, want)
		}
		if tried > s.Most()+2 {
			t.Errorf("%d trials to find %v, want about %d", tried, want.Level, s.Most())
		}
	}
}

// A level that held by luck does not stand.
func TestHighestConfirms(t *testing.T) {
	grid := []float64{1, 2, 4, 8, 16}
	tried := map[float64]int{}
	s := sweeps.Search{Grid: grid, Times: 3, Try: func(level float64) (bool, error) {
		tried[level]++
		return level <= 2 || level == 4 && tried[level] == 1, nil
	}}
	found, err := s.Highest()
	want := sweeps.Found{Level: 2, At: sweeps.Trials{Met: 3, Of: 3}, Next: 4, After: sweeps.Trials{Met: 1, Of: 2}}
	if err != nil || found != want {
		t.Errorf("found %+v, %v; want %+v", found, err, want)
	}
}

func TestHighestEndsWithAnError(t *testing.T) {
	broken := errors.New("broken")
	for after := range 4 {
		tried := 0
		s := sweeps.Search{Grid: []float64{1, 2, 4, 8}, Times: 2, Try: func(level float64) (bool, error) {
			if tried++; tried > after {
				return false, broken
			}
			return level < math.Pi, nil
		}}
		if _, err := s.Highest(); !errors.Is(err, broken) {
			t.Errorf("broken after %d trials, and it says %v", after, err)
		}
	}
}
