package results_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/results"
)

// TestSeconds checks which seconds of a window count. Interval i of the series has i rounds.
func TestSeconds(t *testing.T) {
	const ms = time.Millisecond
	every := func(step, until time.Duration) (all []time.Duration) {
		for at := time.Duration(0); at < until; at += step {
			all = append(all, at)
		}
		return all
	}
	for _, c := range []struct {
		name   string
		begin  []time.Duration
		window time.Duration
		want   []int64
	}{
		{"three seconds", every(250*ms, 3*time.Second), 3 * time.Second, []int64{0 + 1 + 2 + 3, 4 + 5 + 6 + 7, 8 + 9 + 10 + 11}},
		{"a part of a second at the end", every(250*ms, 2900*ms), 2900 * ms, []int64{6, 22}},
		{"closed a little late", every(250*ms, 2*time.Second), 2003 * ms, []int64{6, 22}},
		{"a rest after the last second", append(every(250*ms, 2*time.Second), 2*time.Second), 2003 * ms, []int64{6, 22}},
		{"faults", every(100*ms, 2*time.Second), 2 * time.Second, []int64{45, 145}},
		{"a beginning that was missed", slices.Delete(every(250*ms, 4*time.Second), 4, 5), 4 * time.Second, []int64{7 + 8 + 9 + 10, 11 + 12 + 13 + 14}},
		{"an interval over a second that was not whole", slices.Delete(every(250*ms, 3*time.Second), 5, 6), 3 * time.Second, []int64{6, 4 + 5 + 6, 7 + 8 + 9 + 10}},
		{"less than two seconds", every(250*ms, 1999*ms), 1999 * ms, nil},
		{"one that is known", slices.Delete(every(250*ms, 2*time.Second), 4, 5), 2 * time.Second, nil},
		{"no intervals", nil, 5 * time.Second, nil},
	} {
		r := results.Run{DurationNS: c.window}
		for i, at := range c.begin {
			r.Intervals = append(r.Intervals, results.Interval{T: at, Rounds: int64(i)})
		}
		if got := r.Seconds(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
