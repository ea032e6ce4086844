package fanout

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// An Outcome is what a write did to a client.
type Outcome int32

const (
	NotNotified Outcome = iota // it was not notified
	Pending                    // notified, outcome not known yet
	Useful                     // notified, then completed its phase
	Wasted                     // notified, then waited again
)

// A Wakeup is a session that was notified, and the outcome.
type Wakeup struct {
	Session *Session
	Outcome Outcome
}

// Followed describes a typical one of the followed writes: writes with at most its fan-out caused half of all
// notifications. The write with the median fan-out would be another one where many writes notify hardly anybody:
// with an exists-watch, the creation of a node wakes the few that came while there was none.
type Followed struct {
	Wakeups []Wakeup      // in the order of the notifications
	Drain   time.Duration // from the first to the last notification
	Writes  int           // writes from which it was chosen
}

// A wakeup is a notification that was marked while a follower was active.
type wakeup struct {
	session *Session
	outcome atomic.Int32
}

// maxFollowed is the largest number of writes that a follower keeps. If there are more, it
// keeps every second one, every fourth one and so on.
const maxFollowed = 128

// A follower keeps an even sample of the writes that cause notifications, with all
// notifications of each. It is guarded by Meter.mu.
type follower struct {
	held   bool  // no further write is followed
	writes int64 // writes that have caused a notification
	every  int64 // each how many of them are kept
	kept   []*followed
	of     map[*trigger]*followed
}

// A followed is one write and the sessions that it has notified.
type followed struct {
	write *trigger
	woken []*wakeup
}

// Follow follows the writes that cause a notification from now on. It ends earlier following.
//
// While a follower is active, each notification is marked so that its outcome can be determined
// later, which costs an allocation. Without a follower, a notification costs a comparison with
// nil: compare BenchmarkHerd with BenchmarkHerdFollowed.
func (m *Meter) Follow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.follower = &follower{every: 1, of: map[*trigger]*followed{}}
}

// Hold follows no further writes. Later notifications of the followed writes still count.
func (m *Meter) Hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.ledger.follower; f != nil {
		f.held = true
	}
}

// Unfollow ends following.
func (m *Meter) Unfollow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.follower = nil
}

// Followed returns the typical followed write so far. It has no wakeups if no
// followed write has caused a notification.
func (m *Meter) Followed() (f Followed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.ledger.follower
	if of == nil || len(of.kept) == 0 {
		return f
	}
	typical := of.typical()
	f.Writes, f.Drain = len(of.kept), typical.write.last.Sub(typical.write.first)
	for _, w := range typical.woken {
		f.Wakeups = append(f.Wakeups, Wakeup{w.session, Outcome(w.outcome.Load())})
	}
	return f
}

// typical returns the kept write with the fan-out that half of all notifications do not exceed.
func (f *follower) typical() *followed {
	byFanout := slices.Clone(f.kept)
	slices.SortStableFunc(byFanout, func(a, b *followed) int { return cmp.Compare(len(a.woken), len(b.woken)) })
	all := 0
	for _, w := range byFanout {
		all += len(w.woken)
	}
	below := 0
	return byFanout[slices.IndexFunc(byFanout, func(w *followed) bool {
		below += len(w.woken)
		return 2*below >= all
	})]
}

// mark prepares the notification for following.
func (l *ledger) mark(n *notification) {
	if l.follower == nil {
		return
	}
	n.wakeup = &wakeup{session: n.state.session}
	n.wakeup.outcome.Store(int32(Pending))
	n.state.session.phase.follow(n.wakeup)
}

// add receives every notification whose write is known. The number of notifications before the
// first marked one is unknown, so a write is followed only if its first notification is marked.
func (f *follower) add(w *trigger, n *notification) {
	if f == nil || n.wakeup == nil {
		return
	}
	if w.n == 0 && !f.held {
		f.begin(w)
	}
	if kept := f.of[w]; kept != nil {
		kept.woken = append(kept.woken, n.wakeup)
	}
}

// begin follows a write that causes its first notification, if it belongs to the sample.
func (f *follower) begin(w *trigger) {
	nth := f.writes
	f.writes++
	if nth%f.every != 0 {
		return
	}
	if len(f.kept) == maxFollowed {
		f.halve()
	}
	f.kept = append(f.kept, &followed{write: w})
	f.of[w] = f.kept[len(f.kept)-1]
}

// halve drops every second write of the sample.
func (f *follower) halve() {
	half := f.kept[:0]
	for i, k := range f.kept {
		if i%2 == 0 {
			half = append(half, k)
		} else {
			delete(f.of, k.write)
		}
	}
	clear(f.kept[len(half):])
	f.kept, f.every = half, 2*f.every
}

// setOutcome records the outcome, unless the notification is not followed.
func (w *wakeup) setOutcome(o Outcome) {
	if w != nil {
		w.outcome.Store(int32(o))
	}
}
