package metrics

import "sync/atomic"

// An account is the ledger's state of one session. Meter.mu guards all of it except the
// atomics.
type account struct {
	last   atomic.Int64           // position of the latest reply
	unsure atomic.Bool            // whether open is not empty
	latest atomic.Pointer[wakeup] // notification whose outcome the follower wants to know, else nil

	session    *Session // the session that the account describes
	connected  bool
	closing    bool
	rearming   bool // from a cut until the watches are armed again
	writes     []serial
	armed      map[*table]struct{}
	lasting    []*lasting
	ephemerals map[string]int64 // position of the create, by path
	open       []*note          // notifications since the latest reply
}

func newAccount(s *Session) *account {
	return &account{session: s, connected: true, armed: map[*table]struct{}{}, ephemerals: map[string]int64{}}
}

// reached records that the session has seen a reply at position pos, and so all changes up to
// pos.
func (a *account) reached(pos int64) {
	if pos > a.last.Load() {
		a.last.Store(pos)
	}
}

// watches reports whether the session has a watch armed on t.
func (a *account) watches(t *table) bool {
	_, ok := a.armed[t]
	return ok
}
