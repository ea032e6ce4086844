package fanout

import (
	"maps"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// A totals sums up triggers.
type totals struct {
	fanout                           metrics.Tally
	drain                            *hdrhistogram.Histogram
	triggers, foreign, notifications int64
}

func newTotals() totals { return totals{fanout: metrics.Tally{}, drain: metrics.NewDurations()} }

func (t totals) clone() totals {
	t.fanout, t.drain = maps.Clone(t.fanout), t.drain.Clone()
	return t
}

func (t *totals) add(w trigger, foreign bool) {
	t.triggers++
	if foreign {
		t.foreign++
	}
	t.notifications += w.n
	t.fanout[w.fanout()]++
	metrics.RecordDuration(t.drain, w.last.Sub(w.first))
}

// notify adds a notification to its trigger.
func (l *ledger) notify(w *trigger, n *notification) {
	l.caused(w, n)
	if w.n == 0 && l.window.Contains(n.at) {
		l.timeline.trigger(n.at)
	}
	l.follower.add(w, n)
	w.add(n)
}

// draw draws the time lines that have ended by the slot now.
func (l *ledger) draw(now int64) {
	l.timeline.draw(now, l.timeline.slotOf(l.window.EndOrNow(l.timeline.now())))
}

// count adds a complete trigger if its first notification came in the window.
func (l *ledger) count(w *trigger, foreign bool) {
	if w.n > 0 && l.window.Contains(w.first) {
		l.totals.add(*w, foreign)
	}
}

// complete counts a trigger of which no further notification can come.
func (l *ledger) complete(w *trigger, foreign bool) {
	l.count(w, foreign)
	if l.listener != nil && w.n > 0 {
		l.listener.Complete(Trigger{w})
	}
}

// soFar sums up the complete triggers.
func (l *ledger) soFar() metrics.Herd {
	t := l.totals.clone()
	return metrics.Herd{
		Triggers: t.triggers, Foreign: t.foreign, Notifications: t.notifications,
		Fanout: t.fanout, Drain: t.drain, Largest: t.fanout.Max(), Leftover: l.armed,
	}
}

// assignAll assigns every notification, even if a write in flight may be its cause.
func (l *ledger) assignAll() {
	for _, n := range l.waiting {
		l.assign(n)
	}
	l.waiting = nil
	for s := range l.sessions {
		l.bound(s, unbounded)
	}
}

// herd assigns every notification and sums up all triggers, including those that are not
// complete.
func (l *ledger) herd(now time.Time) metrics.Herd {
	l.assignAll()
	complete := l.totals
	defer func() { l.totals = complete }()
	l.totals = complete.clone()
	for _, w := range l.writes {
		l.count(&w.trigger, w.foreign)
	}
	for _, triggers := range l.foreign {
		for _, f := range triggers {
			l.count(&f.trigger, true)
		}
	}
	l.draw(l.timeline.slotOf(now))
	all := l.soFar()
	all.Timeline = l.timeline.drawn
	return all
}
