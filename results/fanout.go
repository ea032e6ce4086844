package results

import (
	"github.com/stampede-bench/stampede/metrics"
)

// fanout converts the fan-out of a write to its watchers; nil for another workload.
func fanout(f *metrics.Fanout) *Fanout {
	if f == nil {
		return nil
	}
	return &Fanout{Watchers: f.Watchers, Writes: f.Writes, Notifications: f.Notifications, Missed: f.Missed,
		FromAck: FromAck{First: signed(f.First), Median: signed(f.Median), Last: signed(f.Last), Each: signed(f.Each)}}
}

// signed returns nil for an empty distribution.
func signed(s metrics.Signed) *Signed {
	n := s.Count()
	if n == 0 {
		return nil
	}
	at := func(percentile float64) *int64 {
		if !metrics.Supports(n, percentile) {
			return nil
		}
		v := s.Quantile(percentile)
		return &v
	}
	return &Signed{Min: s.Min(), P50: at(50), P99: at(99), Max: s.Max()}
}
