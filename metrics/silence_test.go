package metrics_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
)

// TestSilence looks once a second at two clients. The first has a request outstanding from the third look on, is
// disconnected at the sixth, and gets an answer at the ninth.
func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		rounds int64 // that end between two looks
		want   []time.Duration
	}{
		"no round ends": {0, []time.Duration{0, 0, 0, 1, 2, 3, 4, 5, 0, 0}},
		"rounds end":    {1, make([]time.Duration, 10)},
	} {
		bubble.Test(t, func(t *testing.T) {
			s, rounds := metrics.NewSilence(2), int64(0)
			for i, want := range c.want {
				s.Look(time.Now(), rounds)
				answers := int64(7)
				if i >= 5 { // those that the broken connection cut off
					answers = 8
				}
				if i >= 8 {
					answers = 9
				}
				disconnected := i == 5 || i == 6
				s.Client(0, i >= 2, !disconnected, answers+int64(i/8))
				s.Client(1, false, true, 3) // has nothing to ask
				if got := s.Length(); got != want*time.Second {
					t.Errorf("%s: look %d: %v, want %v", name, i, got, want*time.Second)
				}
				rounds += c.rounds
				time.Sleep(time.Second)
			}
		})
	}
}
