package metrics

import (
	"sync/atomic"
	"time"
)

// A Timeline shows the load around the triggers of the window (the writes that caused
// notifications): the operations and notifications of all sessions in bins of time, summed over
// the triggers. Time zero is the first notification of a trigger.
//
// Where triggers follow each other faster than the length of a line, lines overlap, and an
// event counts for each trigger whose line covers it, not only for the latest. So a bin divided
// by the number of triggers is always the load at that distance from a trigger, and a service
// under steady load has a flat line at the level of that load. If events counted for the latest
// trigger alone, the line would end at the next trigger and show the distance between triggers
// instead.
//
// A trigger whose line does not end within the window is left out, since the load ends with the
// window. Load counts from the run's first request for a watch. Edges of bins are accurate to a
// quarter of the bin width.
type Timeline struct {
	Bin      time.Duration // the width of a bin
	From     time.Duration // where the first bin begins
	Triggers int64
	// By bin, summed over the triggers. Operations count at the time of the request.
	Notifications, Reads, Writes [TimelineBins]int64
}

// The number of bins of a line, and how many of them lie before zero.
const (
	TimelineBins = 100
	binsBefore   = 10
)

// The default width of bins, and the limits of the width.
const (
	DefaultBin  = time.Millisecond
	ShortestBin = 10 * time.Microsecond
	LongestBin  = 10 * time.Millisecond
)

// slotsPerBin is how much finer slots are than bins.
const slotsPerBin = 4

// timelineSlots is the number of slots in the ring: forty lines, so that a notification can be
// assigned late.
const timelineSlots = 1 << 14

// The counters of a slot, each 16 bits wide. The top 16 bits hold the round through the ring
// that the counters belong to.
const (
	someRead = iota
	someWrite
	someNotification
	roundShift = 48
)

// never is a slot that no time has.
const never = int64(unbounded)

// A timeline draws lines. Counting takes no lock and allocates nothing. Meter.mu guards
// everything except slots and due.
type timeline struct {
	epoch time.Time
	slot  time.Duration
	slots [timelineSlots]atomic.Uint64
	due   atomic.Int64 // the slot at which the first of pending ends, or never

	pending []int64 // the slots of triggers whose line has not ended
	drawn   Timeline
}

func newTimeline(bin time.Duration) *timeline {
	t := &timeline{epoch: time.Now(), slot: bin / slotsPerBin}
	t.reset()
	return t
}

func (t *timeline) reset() {
	bin := t.slot * slotsPerBin
	t.drawn = Timeline{Bin: bin, From: -binsBefore * bin}
	t.pending = nil
	t.due.Store(never)
}

// at returns the slot of a moment.
func (t *timeline) at(moment time.Time) int64 { return int64(moment.Sub(t.epoch) / t.slot) }

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
	slot := t.at(moment)
	if t.begin(slot) <= t.at(time.Now())-timelineSlots {
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
func (t *timeline) end(trigger int64) int64   { return t.begin(trigger) + TimelineBins*slotsPerBin }

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
	for i := range int64(TimelineBins * slotsPerBin) {
		if begin+i < 0 {
			continue
		}
		place, round := t.place(begin + i)
		n, bin := place.Load(), i/slotsPerBin
		if n>>roundShift != round {
			continue
		}
		d.Reads[bin] += int64(n >> (16 * someRead) & 0xffff)
		d.Writes[bin] += int64(n >> (16 * someWrite) & 0xffff)
		d.Notifications[bin] += int64(n >> (16 * someNotification) & 0xffff)
	}
}
