package metrics

import (
	"sync/atomic"
	"time"
)

// A Timeline is what happened around the triggers of the window, that is, the
// writes that woke somebody: the operations and notifications of all sessions in
// bins of time, summed up over the triggers. Zero is when the first of those that
// a trigger woke was told.
//
// Where triggers come denser than the line is long, lines overlap, and whatever
// happens counts for each trigger on whose line it is: relative to all, not to the
// latest. So a bin divided by the triggers is always how much happens at that
// distance from a trigger, and a service under steady load has a flat line at
// what it bears; relative to the latest alone, the line would end where the next
// trigger is, and tell how far apart triggers are.
//
// A trigger whose line does not end within the window is left out, since load
// ends with the window. Load counts from the run's first request for a watch on. Edges of bins are sharp to a quarter of their width.
type Timeline struct {
	Bin      time.Duration // the width of a bin
	From     time.Duration // where the first bin begins
	Triggers int64
	// By bin, summed up over the triggers. Operations count when they are asked
	// for.
	Notifications, Reads, Writes [TimelineBins]int64
}

// A line has so many bins, of which some are before zero.
const (
	TimelineBins = 100
	binsBefore   = 10
)

// How wide bins are where nobody says otherwise, and how wide they may be.
const (
	DefaultBin  = time.Millisecond
	ShortestBin = 10 * time.Microsecond
	LongestBin  = 10 * time.Millisecond
)

// slotsPerBin is how much finer time is told than bins are wide.
const slotsPerBin = 4

// timelineSlots is how many slots are remembered: forty lines, so that a
// notification may be settled late.
const timelineSlots = 1 << 14

// What a slot counts, each in 16 bits of it, below 16 bits that tell of which
// round through the ring it is.
const (
	someRead = iota
	someWrite
	someNotification
	roundShift = 48
)

// never is a slot that no time has.
const never = int64(unbounded)

// A timeline draws lines. Counting takes neither a lock nor memory; all but slots
// and due is guarded by Meter.mu.
type timeline struct {
	epoch time.Time
	slot  time.Duration
	slots [timelineSlots]atomic.Uint64
	due   atomic.Int64 // the slot in which the first of pending is over, or never

	pending []int64 // the slots of triggers whose line is not over
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

// at is the slot of a moment.
func (t *timeline) at(moment time.Time) int64 { return int64(moment.Sub(t.epoch) / t.slot) }

func (t *timeline) place(slot int64) (place *atomic.Uint64, round uint64) {
	return &t.slots[slot%timelineSlots], uint64(slot/timelineSlots+1) & 0xffff
}

// count adds one to what the slot counts.
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

// trigger says that the first notification of a write came at a moment, of which
// it may be told late.
func (t *timeline) trigger(moment time.Time) {
	slot := t.at(moment)
	if t.begin(slot) <= t.at(time.Now())-timelineSlots {
		return // it is not remembered any more
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

// begin and end are the slots of a trigger's line: from begin, before end.
func (t *timeline) begin(trigger int64) int64 { return trigger - binsBefore*slotsPerBin }
func (t *timeline) end(trigger int64) int64   { return t.begin(trigger) + TimelineBins*slotsPerBin }

// draw draws the lines that are over by the slot now. Those that are not over by
// close will never be.
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
