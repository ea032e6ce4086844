package fanout

import (
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// binsBefore is the number of bins of a line that lie before zero.
const binsBefore = 10

// slotsPerBin is how much finer slots are than bins.
const slotsPerBin = 4

// timelineSlots is the number of slots in the ring: forty lines, so that a notification can be
// assigned late.
const timelineSlots = 1 << 14

// The counters of a slot, each 16 bits wide. The top 16 bits hold the round through the ring
// that the counters belong to.
const (
	readEvent = iota
	writeEvent
	notificationEvent
	roundShift = 48
)

// never is a slot that no time has.
const never = int64(unbounded)

// A timeline draws lines. Counting takes no lock and allocates nothing. Meter.mu guards
// everything except slots and due.
type timeline struct {
	now   func() time.Time
	epoch time.Time
	slot  time.Duration
	slots [timelineSlots]atomic.Uint64
	due   atomic.Int64 // the slot at which the first of pending ends, or never

	pending []int64 // the slots of triggers whose line has not ended
	drawn   metrics.Timeline
}

func newTimeline(now func() time.Time, bin time.Duration) *timeline {
	t := &timeline{now: now, epoch: now(), slot: bin / slotsPerBin}
	bin = t.slot * slotsPerBin
	t.drawn = metrics.Timeline{Bin: bin, From: -binsBefore * bin}
	t.due.Store(never)
	return t
}

// slotOf returns the slot of a moment.
func (t *timeline) slotOf(moment time.Time) int64 { return int64(moment.Sub(t.epoch) / t.slot) }

func (t *timeline) place(slot int64) (place *atomic.Uint64, round uint64) {
	return &t.slots[slot%timelineSlots], uint64(slot/timelineSlots+1) & 0xffff
}

// count adds one event of kind what to the slot.
func (t *timeline) count(slot int64, what int) {
	place, round := t.place(slot)
	for {
		old := place.Load()
		now := old
		if old>>roundShift != round {
			now = round << roundShift
		}
		if place.CompareAndSwap(old, now+1<<(16*what)) {
			return
		}
	}
}

// trigger records that the first notification of a write came at moment. The call may come
// later than that.
func (t *timeline) trigger(moment time.Time) {
	slot := t.slotOf(moment)
	if t.begin(slot) <= t.slotOf(t.now())-timelineSlots {
		return // its slots have been overwritten
	}
	t.pending = append(t.pending, slot)
	t.expect()
}

func (t *timeline) expect() {
	due := never
	if len(t.pending) > 0 {
		due = t.end(t.pending[0])
	}
	t.due.Store(due)
}

// begin and end return the bounds of a trigger's line: from slot begin, before slot end.
func (t *timeline) begin(trigger int64) int64 { return trigger - binsBefore*slotsPerBin }
func (t *timeline) end(trigger int64) int64 {
	return t.begin(trigger) + metrics.TimelineBins*slotsPerBin
}

// draw draws the lines that end by the slot now. It discards lines that end after close, when
// the window ends.
func (t *timeline) draw(now, close int64) {
	for len(t.pending) > 0 && t.end(t.pending[0]) <= now {
		if t.end(t.pending[0]) <= close {
			t.line(t.begin(t.pending[0]))
		}
		t.pending = t.pending[1:]
	}
	t.expect()
}

func (t *timeline) line(begin int64) {
	d := &t.drawn
	d.Triggers++
	for i := range int64(metrics.TimelineBins * slotsPerBin) {
		if begin+i < 0 {
			continue
		}
		place, round := t.place(begin + i)
		n, bin := place.Load(), i/slotsPerBin
		if n>>roundShift != round {
			continue
		}
		d.Reads[bin] += int64(n >> (16 * readEvent) & 0xffff)
		d.Writes[bin] += int64(n >> (16 * writeEvent) & 0xffff)
		d.Notifications[bin] += int64(n >> (16 * notificationEvent) & 0xffff)
	}
}
