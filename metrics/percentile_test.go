package metrics

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A percentile is known as soon as ten observations lie beyond it.
func TestSupports(t *testing.T) {
	for percentile, least := range map[float64]int64{50: 20, 75: 40, 90: 100, 99: 1000, 99.9: 10_000, 99.99: 100_000} {
		if Supports(least-1, percentile) || !Supports(least, percentile) {
			t.Errorf("p%v: %v of %d observations, %v of %d", percentile, Supports(least-1, percentile), least-1, Supports(least, percentile), least)
		}
	}
	if Supports(1e12, 100) {
		t.Error("nothing lies beyond the greatest")
	}
}

// A lap and a whole run leave out the same percentiles.
func TestPercentilesWithFewBeyondThemAreUnknown(t *testing.T) {
	h, l := hdrhistogram.New(1, int64(time.Hour), 3), NewLatency("acquire")
	for range 150 {
		_ = h.RecordValue(int64(time.Millisecond))
		l.Record(time.Millisecond, time.Millisecond)
	}
	lap := l.Lap()
	for percentile, got := range map[float64]time.Duration{50: lap.P50, 90: lap.P90, 99: lap.P99} {
		v, known := Percentile(h, percentile)
		if known != (percentile < 99) || known != (got > 0) || time.Duration(v) != got {
			t.Errorf("p%v: %d, known %v; of a lap %v", percentile, v, known, got)
		}
	}
	if _, known := Percentile(nil, 50); known {
		t.Error("the median of nothing is known")
	}
}

// TestEndless checks that a percentile is endless from the rank on from which it is one of the endless values, and, where
// the values are too few to know it otherwise, if a lower percentile that they are enough for is endless.
func TestEndless(t *testing.T) {
	for _, c := range []struct {
		values, endless int64
		percentile      float64
		want            bool
	}{
		{400, 0, 99, false}, {90, 10, 90, false}, {89, 11, 90, true}, {328, 72, 50, false}, {328, 72, 82, false}, {328, 72, 83, true},
		{328, 72, 99, true}, {328, 72, 99.9, true}, {390, 10, 99, false}, {389, 11, 99, true}, {989, 11, 99, true}, {990, 10, 99, false}, {32, 7, 90, false},
	} {
		if got := Endless(c.values, c.endless, c.percentile); got != c.want {
			t.Errorf("p%v of %d values and %d endless ones: %v", c.percentile, c.values, c.endless, got)
		}
		for more := c.percentile; c.want && more < 100; more += 0.5 {
			if !Endless(c.values, c.endless, more) {
				t.Errorf("p%v of %d values and %d endless ones is not endless, and p%v is", more, c.values, c.endless, c.percentile)
			}
		}
	}
}
