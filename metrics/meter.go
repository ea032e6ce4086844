package metrics

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Meter counts what all sessions of one run put on the wire and settles which
// write woke whom. Its methods may be called from any goroutine.
type Meter struct {
	mu       sync.Mutex
	sessions []*Session  // every one there was
	watched  atomic.Bool // somebody has asked for a watch
	ledger   ledger
}

// NewMeter returns a Meter whose window has not begun.
func NewMeter() *Meter {
	return &Meter{ledger: newLedger()}
}

// SetBin says how wide the bins of the time line are, if not DefaultBin. It comes
// before the first Session.
func (m *Meter) SetBin(bin time.Duration) { m.ledger.line = newTimeline(bin) }

// Session returns the Probe of one more client session.
func (m *Meter) Session() *Session {
	s := &Session{meter: m}
	s.account = newAccount(s)
	s.woken.Store(outsidePhase)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = append(m.sessions, s)
	m.ledger.join(s.account)
	return s
}

// Counts are the sums over all sessions so far; those of two moments subtract.
func (m *Meter) Counts() Counts {
	m.mu.Lock()
	sessions := m.sessions // only ever appended to
	m.mu.Unlock()
	var sum Counts
	for _, s := range sessions {
		sum = sum.add(s.counts())
	}
	return sum
}

// Begin opens the window that Herd tells of, and forgets an earlier one.
func (m *Meter) Begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.window = window{begin: time.Now()}
	m.ledger.tally = newTally()
	m.ledger.line.reset()
}

// End closes the window: a trigger whose first notification comes later is not
// in it, later notifications of a trigger that is in it still are.
func (m *Meter) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.window.end = time.Now()
}

// Herd tells whom the writes in the window woke. It is meant for the end of a
// run: a notification whose writer has not been answered yet is settled by what
// is known at the call, and Leftover is of the sessions that have not ended.
func (m *Meter) Herd() Herd {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ledger.herd()
}

// SoFar tells of the triggers that are complete, for those who watch a run while
// it goes on. It settles nothing, and has no time line.
func (m *Meter) SoFar() Herd {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ledger.soFar()
}

// happened puts something that happens now on the time line, once a watch was asked
// for: before, no write notifies anybody, and there is nothing to draw a line around.
func (m *Meter) happened(what int) {
	if m.watched.Load() {
		m.happenedAt(what, time.Now())
	}
}

func (m *Meter) happenedAt(what int, at time.Time) {
	line := m.ledger.line
	now := line.at(at)
	if now >= line.due.Load() {
		m.mu.Lock()
		m.ledger.draw(now)
		m.mu.Unlock()
	}
	line.count(now, what)
}
