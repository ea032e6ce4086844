package fanout

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/delivery"
)

// A Meter counts the packets of all sessions of one run and finds which write notified which
// sessions. Its methods may be called from any goroutine.
type Meter struct {
	mu       sync.Mutex
	sessions []*Session  // including those that have ended
	watched  atomic.Bool // a session has requested a watch
	now      func() time.Time
	ledger   ledger
	ordered  bool             // see NewCheckedMeter
	found    metrics.Delivery // of a checked Meter
}

// NewMeter returns a Meter of the writes whose first notification comes in the window.
func NewMeter(w *metrics.Window) *Meter { return NewMeterAt(w, time.Now) }

// NewCheckedMeter is NewMeter, and the Meter also checks the delivery of notifications. Ordered says that the
// service keeps the order of ZooKeeper; otherwise only the events of streams are checked.
func NewCheckedMeter(w *metrics.Window, ordered bool) *Meter {
	m := NewMeter(w)
	m.ordered = ordered
	m.CheckDelivery(func(v delivery.Violation) {
		if v.Kind == delivery.Undecided { // what a run ends or cuts may have been on its way
			return
		}
		m.found.Violations++
		if len(m.found.Details) < maxDetails {
			m.found.Details = append(m.found.Details, "watch delivery: "+v.String())
		}
	})
	return m
}

// maxDetails bounds how many violations are described.
const maxDetails = 10

// NewMeterAt returns a Meter with a clock of its own, for packets of the past.
func NewMeterAt(w *metrics.Window, now func() time.Time) *Meter {
	return &Meter{now: now, ledger: newLedger(w, now)}
}

// Postpone makes all notifications that come from now on wait for their assignment to a write, until
// resume is called. A caller whose sessions do not share a clock may report a notification before
// the request of its write.
func (m *Meter) Postpone() (resume func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.ledger.inFlight.send()
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.ledger.inFlight.complete(n)
		m.ledger.resolve()
	}
}

// CheckDelivery makes the Meter report each notification that is not delivered as promised to the sessions that
// are audited. It must be called before the first call of Session, and report must not call the Meter.
func (m *Meter) CheckDelivery(report func(delivery.Violation)) {
	m.ledger.delivery = delivery.New(report)
}

// Delivery returns what a checked Meter has found so far.
func (m *Meter) Delivery() metrics.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.found
	d.Notifications = m.ledger.delivery.Checked()
	return d
}

// SetBin sets the width of the time line's bins, in place of metrics.DefaultBin. It must be called
// before the first call of Session.
func (m *Meter) SetBin(bin time.Duration) { m.ledger.timeline = newTimeline(m.now, bin) }

// Session returns the Probe of one more client session.
func (m *Meter) Session() *Session {
	s := &Session{meter: m}
	s.state = newSessionState(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.delivery = m.ledger.delivery.Session(); m.ordered {
		s.delivery.Audit()
	}
	if m.ledger.listener == nil { // else the number of sessions is not bounded
		m.sessions = append(m.sessions, s)
	}
	m.ledger.join(s.state)
	return s
}

// Counts returns the sums over all sessions so far. Subtract two of them to get the counts
// between two moments.
func (m *Meter) Counts() metrics.Counts {
	m.mu.Lock()
	sessions := m.sessions // only ever appended to
	m.mu.Unlock()
	var sum metrics.Counts
	for _, s := range sessions {
		sum = sum.Add(s.counts())
	}
	return sum
}

// Herd describes the notifications of the writes in the window: a write belongs to it if its first
// notification came in it, and its later notifications then count too. Call it at the end of a run: it
// assigns notifications by what is known at the call, even if a write in flight is not answered yet.
// Leftover counts watches of the sessions that have not ended.
func (m *Meter) Herd() metrics.Herd {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ledger.herd(m.now())
}

// SoFar describes the complete triggers of a run in progress, after [Meter.Prune]. It assigns no notifications
// and has no time line.
func (m *Meter) SoFar() metrics.Herd {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.prune()
	return m.ledger.soFar()
}

// Prune completes the triggers of which no further notification can come. The meter does so by
// itself, but only after many writes; a caller that looks at a run in progress may want it sooner.
func (m *Meter) Prune() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.prune()
}

// countNow enters an event of the current moment in the time line, if a watch was requested
// earlier. Before the first watch no write causes a notification, so there is no trigger and no
// line to draw.
func (m *Meter) countNow(what int) {
	if m.watched.Load() && m.ledger.timeline != nil {
		m.countAt(what, m.now())
	}
}

func (m *Meter) countAt(what int, at time.Time) {
	line := m.ledger.timeline
	if line == nil {
		return
	}
	now := line.slotOf(at)
	if now >= line.due.Load() {
		m.mu.Lock()
		m.ledger.draw(now)
		m.mu.Unlock()
	}
	line.count(now, what)
}
