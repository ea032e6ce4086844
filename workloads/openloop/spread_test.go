package openloop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// dues returns when the arrivals of a pacer are due, in its warm-up and its window, after its window opened.
func dues(p *Pacer) (at []time.Duration) {
	for ; p.window.ClosesAfter(p.due); p.advance() {
		at = append(at, p.due.Sub(p.origin))
	}
	return at
}

// TestPartsHaveTheArrivalsOfOneProcess divides takers among processes at random. Their arrivals together must be
// those of one process, for every rate and arrival process.
func TestPartsHaveTheArrivalsOfOneProcess(t *testing.T) {
	const warmup, window = time.Second, 10 * time.Second
	for _, text := range []string{"50", "10..200", "20,300,7"} {
		rate, err := ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, arrival := range Arrivals() {
			for seed := range uint64(20) {
				r := rand.New(rand.NewPCG(seed, 3))
				takers, processes := 1+r.IntN(30), 1+r.IntN(5)
				owner := make([]int, takers)
				for i := range owner {
					owner[i] = r.IntN(processes)
				}
				o := Options{Rate: rate, Arrival: arrival}
				opens := time.Now().Add(warmup)
				var together []time.Duration
				for process := range processes {
					next := Spread(arrival, seed, takers)
					part := OwnArrivals{Origin: opens, Mine: func() bool { return owner[next()] == process }, Share: 1}
					together = append(together, dues(plannedPart(o, part, warmup, window, seed))...)
				}
				slices.Sort(together)
				if one := dues(planned(o, warmup, window, seed)); !slices.Equal(one, together) {
					t.Fatalf("%s %s, seed %d: %d processes have %d arrivals, one has %d", text, arrival, seed, processes, len(together), len(one))
				}
			}
		}
	}
}

// TestSpreadIsEven checks that constant arrivals are for each taker equally often, and that those of adjacent takers,
// which one process has, are far apart.
func TestSpreadIsEven(t *testing.T) {
	for n := 1; n <= 100; n++ {
		next := Spread(Constant, 1, n)
		counts := make([]int, n)
		most := 0 // in a row, of the first half
		row := 0
		for range 3 * n {
			i := next()
			counts[i]++
			if row++; 2*i >= n {
				row = 0
			}
			most = max(most, row)
		}
		if slices.Min(counts) != 3 || slices.Max(counts) != 3 {
			t.Fatalf("%d takers have %v arrivals, want 3 each", n, counts)
		}
		if n > 3 && most > 3 {
			t.Errorf("of %d takers, the first half has %d arrivals in a row", n, most)
		}
	}
}

// TestPoissonSpread checks that Poisson arrivals are for each taker with the same probability, and that a seed fixes which.
func TestPoissonSpread(t *testing.T) {
	next := Spread(Poisson, 7, 4)
	counts := make([]int, 4)
	for range 40_000 {
		counts[next()]++
	}
	for i, n := range counts {
		if n < 9_600 || n > 10_400 {
			t.Errorf("taker %d has %d of 40,000 arrivals, want a quarter", i, n)
		}
	}
	if a, b := fmt.Sprint(Spread(Poisson, 7, 4)()), fmt.Sprint(Spread(Poisson, 7, 4)()); a != b {
		t.Error("one seed gives two spreads")
	}
}
