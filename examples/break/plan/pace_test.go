package plan

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// waits returns how long a client waits before each of its attempts.
func waits(t *testing.T, p *Pace, attempts int) (waited []time.Duration) {
	t.Helper()
	for range attempts {
		began := time.Now()
		if err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		waited = append(waited, time.Since(began))
	}
	return waited
}

func TestStep(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := NewPace(Step, time.Now())
		time.Sleep(300 * time.Millisecond)
		for i, want := range []time.Duration{0, 700 * time.Millisecond, time.Second, time.Second} {
			if got := waits(t, p, 1)[0]; got != want {
				t.Errorf("attempt %d after %s, want %s", i+1, got, want)
			}
		}
	})
}

// TestJitter has a thousand clients, each of which makes eight attempts.
func TestJitter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const clients, attempts = 1000, 8
		var sums [attempts]time.Duration
		for range clients {
			p := NewPace(Jitter, time.Now())
			for i, waited := range waits(t, p, attempts) {
				limit := time.Duration(0)
				if i > 0 {
					limit = min(2*time.Second, 100*time.Millisecond<<(i-1))
				}
				if waited > limit {
					t.Errorf("attempt %d after %s, want at most %s", i+1, waited, limit)
				}
				sums[i] += waited
			}
			p.Succeeded()
			if waited := waits(t, p, 1)[0]; waited > 100*time.Millisecond {
				t.Errorf("the first attempt after a success after %s, want at most 100 ms", waited)
			}
		}
		for i := 2; i < attempts; i++ {
			// The mean of 1,000 waits is half the limit, give or take 2 % (the standard error): 10 % are 5 of these.
			mean, half := sums[i]/clients, min(time.Second, 50*time.Millisecond<<(i-1))
			if mean < half*9/10 || mean > half*11/10 {
				t.Errorf("attempt %d after %s on average, want about %s", i+1, mean, half)
			}
		}
	})
}

func TestTheEndInterruptsAWait(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		p := NewPace(Step, time.Now())
		for _, want := range []error{nil, context.DeadlineExceeded} {
			if err := p.Wait(ctx); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
	})
}
