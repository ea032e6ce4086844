package load

import (
	"context"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// prompt answers each set after 10 µs.
type prompt struct{ drivers.Conn }

func (prompt) Set(context.Context, string, []byte, int32) (drivers.Stat, error) {
	time.Sleep(10 * time.Microsecond)
	return drivers.Stat{}, nil
}

// TestOrdinaryClientKeepsItsSchedule checks that the ordinary client makes a write for each interval
// however late its timers are, and that their lateness is not counted as the service's.
func TestOrdinaryClientKeepsItsSchedule(t *testing.T) {
	for _, late := range []time.Duration{0, 600 * time.Microsecond, 5 * time.Millisecond} {
		bubble.Test(t, func(t *testing.T) {
			c := &ordinaryClient{slot: &workloads.Slot{Conn: prompt{}}, sleep: func(_ context.Context, d time.Duration) { time.Sleep(d + late) }}
			l, began := metrics.NewLatency("ordinary"), time.Now()
			made, omitted, err := c.writeUntil(t.Context(), &workloads.Round{Path: "/node"}, l, func() bool { return time.Since(began) >= time.Second })
			if err != nil || made+omitted < 1000 || made+omitted > 1006 || omitted > 5 {
				t.Errorf("timers %v late: %d writes, %d omitted, %v; want 1,000 in all", late, made, omitted, err)
			}
			// After a timer that is late by n intervals, n + 1 writes are due at once.
			most := 10 * time.Microsecond * (1 + late/writeInterval + 1)
			if got := time.Duration(l.Phase().Response.Max()); got > most+most/100 {
				t.Errorf("timers %v late: a response took %v, want %v at most", late, got, most)
			}
		})
	}
}
