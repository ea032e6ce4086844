package fanout

import (
	"errors"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/delivery"
)

// A Session is the drivers.Probe of one client session. It knows in which phase of its workload
// the client is.
//
// A plain read takes no lock and allocates nothing. Only packets that arm a watch, write or
// notify go through the Meter's ledger.
type Session struct {
	meter    *Meter
	state    *sessionState
	delivery *delivery.Session // nil if the Meter checks no delivery

	sent     [drivers.OpFlush + 1]atomic.Int64 // requests by operation
	answered atomic.Int64                      // requests of the driver contract that were answered or cut off
	bytesOut atomic.Int64
	bytesIn  atomic.Int64
	failed   atomic.Int64 // failed writes
	exists   watched
	gets     watched
	notified atomic.Int64

	cuts atomic.Int64 // except the cut after closing

	parked atomic.Pointer[table] // table of the watch that the last reply armed, until it fires

	phase phase
}

// watched counts the answered reads of one kind that requested a watch.
type watched struct {
	answered atomic.Int64
	missed   atomic.Int64 // those that found no node
}

func (w *watched) count(err error) {
	switch {
	case err == nil:
		w.answered.Add(1)
	case errors.Is(err, drivers.ErrNoNode):
		w.answered.Add(1)
		w.missed.Add(1)
	}
}

// PhaseBegin records that the client begins a phase. A phase that is still open was given up,
// so its last notification was wasted.
func (s *Session) PhaseBegin() { s.phase.begin() }

// PhaseEnd records that the phase is complete, so its last notification was useful. Notifications of
// changes of data or children that came after the client's last read do not belong to the phase.
func (s *Session) PhaseEnd() { s.phase.end() }

// Heeded records that the client has used the notifications that have come, without a read.
func (s *Session) Heeded() { s.phase.read() }

// Audit begins to check the delivery of notifications to the session, if the Meter does that. The session must be
// seen from its beginning, and its service must keep the order of ZooKeeper.
func (s *Session) Audit() {
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	s.delivery.Audit()
}

// StopAudit ends the audit: a part of what the session sends or gets is not seen.
func (s *Session) StopAudit() {
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	s.delivery.Abandon()
}

// Quiet reports whether no request is in flight and the last reply armed a watch that has not
// fired. As far as the wire shows, the client is parked then, even if it waits inside a client
// library.
func (s *Session) Quiet() bool {
	return s.parked.Load() != nil && s.requestCount() == s.answered.Load()
}

// Waits reports whether the client has sent requests and all of them have been answered or cut
// off.
func (s *Session) Waits() bool {
	asked := s.requestCount()
	return asked > 0 && asked == s.answered.Load()
}

// Answers returns how many requests have been answered or cut off, and whether another one is outstanding.
func (s *Session) Answers() (n int64, outstanding bool) {
	n = s.answered.Load()
	return n, s.requestCount() > n
}

// requestCount returns the number of requests sent, answered or not.
func (s *Session) requestCount() (n int64) {
	for op := range s.sent {
		if contract(drivers.Op(op)) {
			n += s.sent[op].Load()
		}
	}
	return n
}

// contract reports whether op is an operation of the client itself, not one of its library.
func contract(op drivers.Op) bool { return op.IsRead() || op.IsWrite() || op == drivers.OpSync }

// Stream checks what a watch stream of the session carries. It counts nothing.
func (s *Session) Stream(e drivers.StreamEvent) {
	if s.delivery == nil {
		return
	}
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	s.delivery.Stream(e)
}

// Message counts one packet.
func (s *Session) Message(m drivers.Message) {
	switch m.Kind {
	case drivers.Request:
		s.request(&m)
	case drivers.Reply:
		s.reply(&m)
	case drivers.Notification:
		if m.Event != 0 { // else it reports a change of the session, not of a node
			s.notification(&m)
		}
	case drivers.Cut:
		s.cut()
	}
}

func (s *Session) request(m *drivers.Message) {
	s.sent[m.Op].Add(1)
	if m.Op != drivers.OpFlush {
		s.bytesOut.Add(int64(m.Size))
	}
	if (m.Watch || m.Op.IsWatch()) && !s.meter.watched.Load() {
		s.meter.watched.Store(true)
	}
	switch {
	case m.Op.IsRead():
		s.meter.countNow(readEvent)
	case m.Op.IsWrite():
		s.meter.countNow(writeEvent)
	}
	switch connects := m.Op == drivers.OpClose || m.Op == drivers.OpOpen; {
	case m.Op.IsWrite() || connects:
		s.meter.mu.Lock()
		defer s.meter.mu.Unlock()
		s.meter.ledger.recordRequest(s.state, m.Op)
		if connects {
			s.delivery.Message(m)
		}
	case (m.Op == drivers.OpRearm || m.Op == drivers.OpUnwatch) && s.delivery != nil:
		s.meter.mu.Lock()
		defer s.meter.mu.Unlock()
		s.delivery.Message(m)
	}
}

func (s *Session) reply(m *drivers.Message) {
	if m.Op != drivers.OpFlush {
		s.bytesIn.Add(int64(m.Size))
	}
	if m.Op.IsRead() {
		s.phase.read()
	}
	armed := s.record(m)
	asked := contract(m.Op)
	if armed != nil || asked && s.parked.Load() != nil {
		s.parked.Store(armed)
	}
	if asked {
		s.answered.Add(1)
	}
}

// record enters a reply in the ledger if the ledger needs it. It returns the table in which the
// reply armed a watch.
func (s *Session) record(m *drivers.Message) (armed *table) {
	switch {
	case m.Op.IsWrite():
		if m.Err != nil {
			s.failed.Add(1)
		}
	case m.Watch && (m.Op.IsRead() || m.Op == drivers.OpOther):
		switch m.Op {
		case drivers.OpExists:
			s.exists.count(m.Err)
		case drivers.OpGet:
			s.gets.count(m.Err)
		}
	case m.Op == drivers.OpClose, m.Op == drivers.OpOpen, m.Op == drivers.OpRearm, m.Op == drivers.OpUnwatch, m.Op.IsWatch():
	default:
		if !s.state.hasOpen.Load() && !s.delivery.Reach(m.Pos) {
			s.state.reached(m.Pos)
			return nil
		}
	}
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	s.delivery.Message(m)
	return s.meter.ledger.answered(s.state, m)
}

func (s *Session) notification(m *drivers.Message) {
	at := s.meter.now()
	s.bytesIn.Add(int64(m.Size))
	s.notified.Add(1)
	s.meter.countAt(notificationEvent, at)
	s.phase.notified(m.Event == drivers.Created || m.Event == drivers.Deleted)
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	sound := s.delivery.Notified(m)
	s.meter.ledger.notified(s.state, m, at, sound)
	if t := s.parked.Load(); t != nil && !s.state.watches(t) {
		s.parked.Store(nil)
	}
}

func (s *Session) cut() {
	s.answered.Store(s.requestCount())
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	if !s.state.closing {
		s.cuts.Add(1)
	}
	s.delivery.Message(&drivers.Message{Kind: drivers.Cut})
	s.meter.ledger.cut(s.state)
}

func (s *Session) counts() metrics.Counts {
	sent := func(op drivers.Op) int64 { return s.sent[op].Load() }
	c := metrics.Counts{
		Notifications: s.notified.Load(),
		Lists:         sent(drivers.OpChildren),
		FailedWrites:  s.failed.Load(),
		WatchedExists: s.exists.answered.Load(),
		WatchedMisses: s.exists.missed.Load(),
		WatchedGets:   s.gets.answered.Load(),
		MissedGets:    s.gets.missed.Load(),
		Opens:         sent(drivers.OpOpen),
		Syncs:         sent(drivers.OpSync),
		Armings:       sent(drivers.OpWatchNode) + sent(drivers.OpWatchTree),
		Pings:         sent(drivers.OpPing),
		Flushes:       sent(drivers.OpFlush),
		Rearms:        sent(drivers.OpRearm),
		BytesIn:       s.bytesIn.Load(),
		BytesOut:      s.bytesOut.Load(),
		Cuts:          s.cuts.Load(),
	}
	c.Useful, c.Wasted = s.phase.counts()
	c.Reads = c.Lists + sent(drivers.OpExists) + sent(drivers.OpGet)
	c.Writes = sent(drivers.OpCreate) + sent(drivers.OpDelete) + sent(drivers.OpSet) + sent(drivers.OpMulti)
	c.RPCs = c.Reads + c.Writes + c.Syncs + c.Opens +
		sent(drivers.OpClose) + sent(drivers.OpRearm) + c.Armings + sent(drivers.OpUnwatch) + sent(drivers.OpOther)
	return c
}

// A sessionState is the ledger's state of one session. Meter.mu guards all of it except the
// atomics.
type sessionState struct {
	last    atomic.Int64 // position of the latest reply
	hasOpen atomic.Bool  // whether open is not empty

	number     int64    // among those of the ledger
	session    *Session // the session whose state this is
	connected  bool
	closing    bool
	tag        any  // see Session.Tag
	rearming   bool // from a cut until the watches are armed again
	writes     []serial
	armed      map[*table]struct{}
	persistent []*persistentWatch
	ephemerals map[string]int64 // position of the create, by path
	open       []*notification  // notifications since the latest reply
}

func newSessionState(s *Session) *sessionState {
	return &sessionState{session: s, connected: true, armed: map[*table]struct{}{}, ephemerals: map[string]int64{}}
}

// reached records that the session has seen a reply at position pos, and so all changes up to
// pos.
func (s *sessionState) reached(pos int64) {
	if pos > s.last.Load() {
		s.last.Store(pos)
	}
}

// watches reports whether the session has a watch armed on t.
func (s *sessionState) watches(t *table) bool {
	_, ok := s.armed[t]
	return ok
}
