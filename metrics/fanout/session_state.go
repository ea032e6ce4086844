package fanout

import "sync/atomic"

// A sessionState is the ledger's state of one session. Meter.mu guards all of it except the
// atomics.
type sessionState struct {
	last    atomic.Int64 // position of the latest reply
	hasOpen atomic.Bool  // whether open is not empty

	session    *Session // the session whose state this is
	connected  bool
	closing    bool
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
