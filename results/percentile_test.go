package results_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// TestPercentilesNeedTen checks that a percentile is known if ten observations lie beyond it, and not
// with fewer.
func TestPercentilesNeedTen(t *testing.T) {
	for _, c := range []struct {
		n                   int64
		p50, p90, p99, p999 bool
	}{
		{19, false, false, false, false}, {20, true, false, false, false},
		{99, true, false, false, false}, {100, true, true, false, false},
		{999, true, true, false, false}, {1000, true, true, true, false},
		{9999, true, true, true, false}, {10000, true, true, true, true},
	} {
		d := results.DistributionOf(resulttest.Spread(c.n, time.Millisecond))
		got := []bool{d.P50 != nil, d.P90 != nil, d.P99 != nil, d.P999 != nil}
		if diff := cmp.Diff([]bool{c.p50, c.p90, c.p99, c.p999}, got); diff != "" {
			t.Errorf("%d observations (-want +got):\n%s", c.n, diff)
		}
	}
}

// The same rule applies to percentiles that the file stores and to those computed from the histogram.
func TestPercentilesAgreeWithTheHistogram(t *testing.T) {
	for _, n := range []int64{19, 20, 99, 100, 999, 1000, 9999, 10_000} {
		d := results.DistributionOf(resulttest.Spread(n, time.Millisecond))
		whole := *d
		whole.P50, whole.P90, whole.P99, whole.P999 = nil, nil, nil, nil
		for p, written := range map[float64]*int64{50: d.P50, 90: d.P90, 99: d.P99, 99.9: d.P999} {
			near, known := whole.Percentile(p - 1e-9)
			if known != (written != nil) || known && near != *written {
				t.Errorf("p%v of %d: %s written, %d and %v of the histogram", p, n, fmt.Sprint(written), near, known)
			}
		}
	}
}

// The fan-out of a result is exact, also a percentile that the file does not store: 2,100 watchers are not
// 2,101.
func TestFanoutIsExact(t *testing.T) {
	record := &metrics.Record{Herd: metrics.Herd{Fanout: metrics.Tally{2100: 900, 2099: 60, 1: 40}}}
	d := results.FromRecord(results.Setting{}, record).Herd.Fanout
	if d.Min != 1 || d.Max != 2100 || d.Mean != 2015.98 || *d.P50 != 2100 || *d.P99 != 2100 || d.P999 != nil {
		t.Errorf("%+v", d)
	}
	for percentile, want := range map[float64]int64{3: 1, 9: 2099, 95: 2100} {
		if v, known := d.Percentile(percentile); !known || v != want {
			t.Errorf("the percentile %v is %d, known %v, want %d", percentile, v, known, want)
		}
	}
	if none := results.FromRecord(results.Setting{}, &metrics.Record{Herd: metrics.Herd{Fanout: metrics.Tally{}}}).Herd.Fanout; none != nil {
		t.Errorf("of no writes: %+v", none)
	}
	if d := results.Glance(results.Setting{}, record).Herd.Fanout; d.Max != 2100 || d.HDR != "" {
		t.Errorf("at a glance: %+v", d)
	}
}
