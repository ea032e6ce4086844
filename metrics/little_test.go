package metrics

import (
	"math/rand/v2"
	"testing"
	"time"
)

// simulate runs the turns of the clients through a warm-up and a window, both in seconds, and
// checks the turns by Little's law.
func simulate(r *rand.Rand, clients int, warmup, window float64, took func(client int) float64) *Little {
	var all Turns
	open := 0.0
	for c := range clients {
		began := 0.0
		for {
			end := began + took(c)
			if end > warmup+window {
				open += warmup + window - max(began, warmup)
				break
			}
			if end > warmup {
				all.Add(inSeconds(end-began), inSeconds(end-max(began, warmup)))
			}
			began = end
		}
	}
	return all.Little(inSeconds(open), inSeconds(window), clients, false)
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Turns of any distribution satisfy Little's law within its error in nearly all runs, if they
// are long compared with the window only by chance.
func TestLittlesLawHoldsOfFairTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for name, took := range map[string]func(int) float64{
		"even":        func(int) float64 { return 0.1 + 0.02*r.Float64() },
		"exponential": func(int) float64 { return 0.3 * r.ExpFloat64() },
		"two kinds":   func(c int) float64 { return []float64{0.02, 0.5}[c%2] * r.ExpFloat64() },
	} {
		broken := 0
		for range 500 {
			if !simulate(r, 32, 2, 5, took).Holds() {
				broken++
			}
		}
		if broken > 10 {
			t.Errorf("%s: broken in %d of 500 runs, want at most 10", name, broken)
		}
	}
}

// If some clients wait for longer than the window, the turns that end do not represent all.
func TestLittlesLawNoticesTurnsThatDoNotEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	starving := func(c int) float64 {
		if c < 8 {
			return 30 * r.ExpFloat64()
		}
		return 0.05 * r.ExpFloat64()
	}
	missed := 0
	for range 100 {
		if simulate(r, 32, 1, 3, starving).Holds() {
			missed++
		}
	}
	if missed > 5 {
		t.Errorf("not noticed in %d of 100 runs", missed)
	}
}
