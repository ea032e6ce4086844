package fanout

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
)

// filled returns the bins that are not 0, by the time at which they begin.
func filled(l metrics.Timeline, bins [metrics.TimelineBins]int64) map[time.Duration]int64 {
	some := map[time.Duration]int64{}
	for i, n := range bins {
		if n > 0 {
			some[l.From+time.Duration(i)*l.Bin] = n
		}
	}
	return some
}

func checkLine(t *testing.T, what string, l metrics.Timeline, bins [metrics.TimelineBins]int64, want map[time.Duration]int64) {
	t.Helper()
	if diff := cmp.Diff(want, filled(l, bins)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

const ms = time.Millisecond

// wakeAll sets /c, which both readers watch. One is notified after 5 ms; the other is notified
// 30 ms later and then reads. The writer gets its reply 10 ms after that.
func wakeAll(w []wire, pos int64) {
	for _, r := range w[1:] {
		r.arm(drivers.OpGet, "/c", pos-1, nil)
	}
	time.Sleep(5 * ms)
	w[0].ask(drivers.OpSet, "/c")
	time.Sleep(5 * ms)
	w[1].notify(drivers.DataChanged, "/c")
	time.Sleep(30 * ms)
	w[2].notify(drivers.DataChanged, "/c")
	w[2].ask(drivers.OpGet, "/c")
	w[2].answer(drivers.OpGet, "/c", pos)
	time.Sleep(10 * ms)
	w[0].answer(drivers.OpSet, "/c", pos)
}

// An event counts in the bin of its distance from the first notification, even if the
// notification is attributed to its write later.
func TestTimeline(t *testing.T) {
	for _, bin := range []time.Duration{ms, 10 * ms} {
		t.Run(fmt.Sprint(bin), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				window := metrics.NewWindow()
				m := NewMeter(window)
				m.SetBin(bin)
				w := []wire{{m.Session()}, {m.Session()}, {m.Session()}}
				window.Open(time.Now())
				const triggers = 3
				for i := range int64(triggers) {
					time.Sleep(100 * bin)
					wakeAll(w, 10+i)
					time.Sleep(100 * bin)
				}
				m.ledger.window.Close(time.Now())
				l := m.Herd().Timeline
				if l.Bin != bin || l.From != -10*bin || l.Triggers != triggers {
					t.Fatalf("%d triggers in bins of %v from %v on", l.Triggers, l.Bin, l.From)
				}
				down := func(d time.Duration) time.Duration { return (d + 100*bin).Truncate(bin) - 100*bin }
				checkLine(t, "notifications", l, l.Notifications, map[time.Duration]int64{0: triggers, down(30 * ms): triggers})
				checkLine(t, "writes", l, l.Writes, map[time.Duration]int64{down(-5 * ms): triggers})
				reads := map[time.Duration]int64{down(-10 * ms): 2 * triggers}
				reads[down(30*ms)] += triggers
				checkLine(t, "reads", l, l.Reads, reads)
			})
		})
	}
}

// Where triggers follow each other faster than the length of a line, an event counts for each
// of them. A line that does not end in the window is not drawn.
func TestTimelinesOverlap(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, w := script(2)
		const every, triggers, drawn = 20 * ms, 50, 45
		for pos := range int64(triggers) {
			w[1].arm(drivers.OpGet, "/c", pos, nil)
			w[0].ask(drivers.OpSet, "/c")
			w[1].notify(drivers.DataChanged, "/c")
			w[0].answer(drivers.OpSet, "/c", pos+1)
			time.Sleep(every)
		}
		m.ledger.window.Close(time.Now())
		l := m.Herd().Timeline
		// The last trigger began 20 ms before the end, the fifth last 100 ms.
		want := map[time.Duration]int64{}
		for at := time.Duration(0); at < 90*ms; at += every {
			want[at] = drawn + 1
		}
		if l.Triggers != drawn+1 {
			t.Errorf("%d triggers, want %d", l.Triggers, drawn+1)
		}
		checkLine(t, "notifications", l, l.Notifications, want)
		checkLine(t, "reads", l, l.Reads, want)
		checkLine(t, "writes", l, l.Writes, want)
	})
}

// A line is drawn before its slots are overwritten, even if the only events are plain reads.
// Events of an earlier round through the ring are not mistaken for current ones.
func TestTimelineIsDrawnInTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, w := script(2)
		w[1].arm(drivers.OpGet, "/c", 1, nil)
		w[0].ask(drivers.OpSet, "/c")
		w[1].notify(drivers.DataChanged, "/c")
		w[0].answer(drivers.OpSet, "/c", 2)
		w[1].ask(drivers.OpGet, "/c")
		w[1].answer(drivers.OpGet, "/c", 2)
		for range timelineSlots / slotsPerBin { // once round the ring
			time.Sleep(ms)
			w[1].ask(drivers.OpGet, "/c")
			w[1].answer(drivers.OpGet, "/c", 2)
		}
		time.Sleep(timelineSlots / slotsPerBin * ms)
		m.ledger.window.Close(time.Now())
		l := m.Herd().Timeline
		want := map[time.Duration]int64{0: 2}
		for at := ms; at < 90*ms; at += ms {
			want[at] = 1
		}
		checkLine(t, "reads", l, l.Reads, want)
		if l.Triggers != 1 {
			t.Errorf("%d triggers, want 1", l.Triggers)
		}
	})
}

// The memory for triggers depends on their rate, not on their number.
func TestTimelineForgets(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, w := script(2)
		kept := map[bool]int{}
		for pos := range int64(1000) {
			w[1].arm(drivers.OpGet, "/c", pos, nil)
			w[0].ask(drivers.OpSet, "/c")
			w[1].notify(drivers.DataChanged, "/c")
			w[0].answer(drivers.OpSet, "/c", pos+1)
			time.Sleep(ms)
			kept[len(m.ledger.timeline.pending) <= 91]++
		}
		if want := map[bool]int{true: 1000}; !maps.Equal(kept, want) {
			t.Errorf("at most 91 lines are open: %v", kept)
		}
	})
}

// Load counts from the first request for a watch. Before it there is no line to draw, and
// operations need no look at the clock.
func TestTimelineBeginsWithTheFirstWatch(t *testing.T) {
	for _, first := range []drivers.Message{
		{Kind: drivers.Request, Op: drivers.OpGet, Path: []byte("/c"), Watch: true},
		{Kind: drivers.Request, Op: drivers.OpWatchTree, Path: []byte("/c")},
		{Kind: drivers.Request, Op: drivers.OpOther, Path: []byte("/c"), Watch: true},
	} {
		m := NewMeter(metrics.NewWindow())
		s := m.Session()
		counted := func() bool {
			for i := range m.ledger.timeline.slots {
				if m.ledger.timeline.slots[i].Load() != 0 {
					return true
				}
			}
			return false
		}
		plain := drivers.Message{Kind: drivers.Request, Op: drivers.OpGet, Path: []byte("/a")}
		s.Message(plain)
		if counted() {
			t.Errorf("%v: load counts before it", first.Op)
		}
		s.Message(first)
		s.Message(plain)
		if !counted() {
			t.Errorf("%v: load does not count after it", first.Op)
		}
	}
}
