package metrics

import (
	"sync/atomic"
	"time"
)

// A Fate is what a write did to a client.
type Fate int32

const (
	Asleep Fate = iota // it was not notified
	Awake              // notified, outcome not known yet
	Useful             // notified, then completed its phase
	Wasted             // notified, then waited again
)

// A Wakeup is a session that was notified, and the outcome.
type Wakeup struct {
	Session *Session
	Fate    Fate
}

// Followed describes one followed write: the sessions that it has notified so far.
type Followed struct {
	Wakeups []Wakeup      // in the order of the notifications
	Drain   time.Duration // from the first to the last notification
}

// A wakeup is a notification that was marked while a follower was active.
type wakeup struct {
	session *Session
	fate    atomic.Int32
}

// A follower waits for a write and keeps the notifications that it causes. It is guarded by
// Meter.mu.
type follower struct {
	write *wakes // nil until a write has caused a notification
	woken []*wakeup
}

// Follow follows the next write that causes a notification. It ends the following of an earlier
// one.
//
// While a follower is active, each notification is marked so that its fate can be determined
// later, which costs an allocation. Without a follower, a notification costs a comparison with
// nil, and its fate an atomic load: compare BenchmarkHerd with BenchmarkHerdFollowed.
func (m *Meter) Follow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.follower = new(follower)
}

// Unfollow ends following.
func (m *Meter) Unfollow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.follower = nil
}

// Followed returns the sessions notified so far by the followed write. It has none while no
// write is followed.
func (m *Meter) Followed() (f Followed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.ledger.follower
	if of == nil || of.write == nil {
		return f
	}
	f.Drain = of.write.last.Sub(of.write.first)
	for _, w := range of.woken {
		f.Wakeups = append(f.Wakeups, Wakeup{w.session, Fate(w.fate.Load())})
	}
	return f
}

// mark prepares the notification for following.
func (l *ledger) mark(n *note) {
	if l.follower == nil {
		return
	}
	n.wakeup = &wakeup{session: n.account.session}
	n.wakeup.fate.Store(int32(Awake))
	n.account.latest.Store(n.wakeup)
}

// saw receives every notification whose write is known. The number of notifications before the
// first marked one is unknown, so a write is followed only if its first notification is marked.
func (f *follower) saw(w *wakes, n *note) {
	if f == nil || n.wakeup == nil {
		return
	}
	if f.write == nil && w.n == 0 {
		f.write = w
	}
	if f.write == w {
		f.woken = append(f.woken, n.wakeup)
	}
}

// fared records the outcome of the session's latest notification.
func (a *account) fared(f Fate) {
	if w := a.latest.Load(); w != nil {
		w.fate.Store(int32(f))
		a.latest.Store(nil)
	}
}
