package metrics

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A window is the part of a run that is measured.
type window struct{ begin, end time.Time }

func (w window) contains(t time.Time) bool {
	return !w.begin.IsZero() && !t.Before(w.begin) && (w.end.IsZero() || !t.After(w.end))
}

// A tally sums up triggers.
type tally struct {
	fanout, drain                             *hdrhistogram.Histogram
	triggers, foreign, notifications, largest int64
}

// largestFanout is the largest fan-out that the histogram can hold; Herd.Largest is exact
// beyond it.
const largestFanout = 10_000_000

func newTally() tally {
	return tally{
		fanout: hdrhistogram.New(1, largestFanout, digits),
		drain:  newDurations(),
	}
}

func (t tally) clone() tally {
	t.fanout, t.drain = t.fanout.Clone(), t.drain.Clone()
	return t
}

func (t *tally) add(w wakes, foreign bool) {
	t.triggers++
	if foreign {
		t.foreign++
	}
	t.notifications += w.n
	t.largest = max(t.largest, w.n)
	_ = t.fanout.RecordValue(min(w.n, largestFanout)) // in range
	recordDuration(t.drain, w.last.Sub(w.first))
}

// woke adds a notification to its trigger.
func (l *ledger) woke(w *wakes, n *note) {
	if w.n == 0 && l.window.contains(n.at) {
		l.line.trigger(n.at)
	}
	l.follower.saw(w, n)
	w.add(n.at)
}

// draw draws the time lines that have ended by the slot now.
func (l *ledger) draw(now int64) {
	close := now
	if end := l.window.end; !end.IsZero() {
		close = l.line.at(end)
	}
	l.line.draw(now, close)
}

// count adds a complete trigger if its first notification came in the window.
func (l *ledger) count(w wakes, foreign bool) {
	if w.n > 0 && l.window.contains(w.first) {
		l.tally.add(w, foreign)
	}
}

// soFar sums up the complete triggers.
func (l *ledger) soFar() Herd {
	t := l.tally.clone()
	return Herd{
		Triggers: t.triggers, Foreign: t.foreign, Notifications: t.notifications,
		Fanout: t.fanout, Drain: t.drain, Largest: t.largest, Leftover: l.armed,
	}
}

// herd assigns every notification and sums up all triggers, including those that are not
// complete.
func (l *ledger) herd() Herd {
	for _, n := range l.waiting {
		l.assign(n)
	}
	l.waiting = nil
	for a := range l.accounts {
		l.bound(a, unbounded)
	}
	complete := l.tally
	defer func() { l.tally = complete }()
	l.tally = complete.clone()
	for _, w := range l.writes {
		l.count(w.wakes, w.foreign)
	}
	for _, triggers := range l.strays {
		for _, f := range triggers {
			l.count(f.wakes, true)
		}
	}
	l.draw(l.line.at(time.Now()))
	all := l.soFar()
	all.Timeline = l.line.drawn
	return all
}
