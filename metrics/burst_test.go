package metrics_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// TestBurst has the busiest second begin at a tenth that is no whole second, and a pause longer than a second.
func TestBurst(t *testing.T) {
	from := time.Unix(100, 0)
	b := metrics.Burst{From: from}
	for _, c := range []struct {
		at                   time.Duration
		n                    int64
		total, second, tenth int64
	}{
		{0, 3, 3, 3, 3},
		{99 * time.Millisecond, 2, 5, 5, 5},
		{100 * time.Millisecond, 4, 9, 9, 5},
		{950 * time.Millisecond, 1, 10, 10, 5},
		{1050 * time.Millisecond, 7, 17, 12, 7}, // the first tenth is no longer in the second
		{5 * time.Second, 8, 25, 12, 8},
	} {
		b.Add(from.Add(c.at), c.n)
		if b.Total != c.total || b.Second != c.second || b.Tenth != c.tenth {
			t.Errorf("after %v: %d in all, %d in the busiest second, %d in the busiest tenth; want %d, %d, %d",
				c.at, b.Total, b.Second, b.Tenth, c.total, c.second, c.tenth)
		}
	}
}
