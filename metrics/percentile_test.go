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
