package metrics

import (
	"testing"
	"time"
)

// TestCoarseHistogram checks that an empty histogram has no percentile, and that durations out of range count at the
// ends of the range.
func TestCoarseHistogram(t *testing.T) {
	var all, some, none CoarseHistogram
	for range 50 {
		some.Add(3 * time.Millisecond)
		some.Add(-time.Second)
	}
	all.Add(2 * time.Hour)
	all.Merge(none)
	all.Merge(some)
	if none.Count() != 0 || none.Percentile(50) != nil || none.h != nil {
		t.Errorf("%d durations of an empty histogram, want none, and no memory", none.Count())
	}
	if p := all.Percentile(80); all.Count() != 101 || p == nil || *p < 2_970_000 || *p > 3_030_000 {
		t.Errorf("%d durations, the 80th percentile is %v; want 101 and 3 ms", all.Count(), p)
	}
	if all.h.Max() < coarseLongest*99/100 || all.h.Min() != 0 {
		t.Errorf("from %d to %d µs, want from 0 to an hour", all.h.Min(), all.h.Max())
	}
}
