package metrics

import (
	"sync/atomic"
	"time"
)

// A Fate is what a write did to a client.
type Fate int32

const (
	Asleep Fate = iota // it was not told
	Awake              // told, and what came of it is not known
	Useful             // told, after which it completed its phase
	Wasted             // told, after which it went back to sleep
)

// A Wakeup is a session that was told, and what came of it.
type Wakeup struct {
	Session *Session
	Fate    Fate
}

// Followed is one write that is looked at closely: whom it woke so far.
type Followed struct {
	Wakeups []Wakeup      // in the order in which they were told
	Drain   time.Duration // from the first to the last of them
}

// A wakeup is a notification while somebody follows.
type wakeup struct {
	session *Session
	fate    atomic.Int32
}

// A follower waits for a write and keeps those that it wakes. It is guarded by
// Meter.mu.
type follower struct {
	write *wakes // nil until there is one
	woken []*wakeup
}

// Follow follows the next write that wakes somebody, in place of an earlier one.
//
// Who follows has every notification marked, so that its fate can be told later: an
// allocation each. While nobody does, a notification costs a comparison with nil,
// and its fate a load: see BenchmarkHerd beside BenchmarkHerdFollowed.
func (m *Meter) Follow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.follower = new(follower)
}

// Unfollow follows no write any more.
func (m *Meter) Unfollow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.follower = nil
}

// Followed tells whom the write has woken that is followed: nobody as long as
// there is none.
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

// mark makes the notification one that can be followed.
func (l *ledger) mark(n *note) {
	if l.follower == nil {
		return
	}
	n.wakeup = &wakeup{session: n.account.session}
	n.wakeup.fate.Store(int32(Awake))
	n.account.latest.Store(n.wakeup)
}

// saw is told of every notification when its write is known. Nobody knows how many
// a write has woken before the first that was marked, so it must be the first.
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

// fared says what came of the session's latest notification.
func (a *account) fared(f Fate) {
	if w := a.latest.Load(); w != nil {
		w.fate.Store(int32(f))
		a.latest.Store(nil)
	}
}
