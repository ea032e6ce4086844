package drivers_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// TestReadingGrowth checks that what servers counted between two readings is told only if each of them has counted
// through: a server that begins anew has lost its counts, whether they then come to less or to more.
func TestReadingGrowth(t *testing.T) {
	began := time.Unix(1000, 0)
	counted := func(began time.Time, n int64) drivers.ServerCounters {
		return drivers.ServerCounters{Began: began, Within: 10 * time.Millisecond, Counters: drivers.Counters{Notifications: n, Reads: 2 * n,
			Writes: 3 * n, Fsyncs: &drivers.Fsyncs{Count: n, Took: time.Duration(n)}, OurTerms: true}}
	}
	before := drivers.Reading{counted(began, 100), counted(began, 200)}
	for name, c := range map[string]struct {
		second drivers.ServerCounters
		known  bool
	}{
		"counted on":                       {counted(began, 250), true},
		"its clock is a little off":        {counted(began.Add(15*time.Millisecond), 250), true},
		"it does not tell, and counted on": {counted(time.Time{}, 250), false},
		"restarted, and counted less":      {counted(began.Add(time.Minute), 50), false},
		"restarted, and counted more":      {counted(began.Add(time.Minute), 250), false},
		"was reset":                        {counted(began, 0), false},
	} {
		after := drivers.Reading{counted(began, 110), c.second}
		got, known := after.Growth(before)
		if known != c.known {
			t.Errorf("%s: known is %v, want %v", name, known, c.known)
		}
		if known && (got.Notifications != 60 || got.Reads != 120 || got.Writes != 180 || got.Fsyncs.Count != 60 || got.Fsyncs.Took != 60 || !got.OurTerms) {
			t.Errorf("%s: %+v, want 60 notifications, 120 reads and 180 writes", name, got)
		}
	}
	if _, known := before.Growth(before[:1]); known {
		t.Error("a server that was not asked before is counted")
	}
	if _, known := (drivers.Reading)(nil).Growth(nil); known {
		t.Error("a service that counts nothing is counted")
	}
	silent := drivers.Reading{{Counters: drivers.Counters{Reads: 5}}}
	if got, known := silent.Growth(silent); !known || got.Reads != 0 || got.Fsyncs != nil {
		t.Errorf("%+v, %v: want no reads of a server that does not tell when it began, nor fsyncs", got, known)
	}
}
