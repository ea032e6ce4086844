package metrics

import "sync/atomic"

// An account is what the ledger knows of one session. All but the atomics is
// guarded by Meter.mu.
type account struct {
	last   atomic.Int64           // position of the latest reply
	unsure atomic.Bool            // whether open is not empty
	latest atomic.Pointer[wakeup] // notification whose fate somebody follows, else nil

	session    *Session // whose account it is
	connected  bool
	closing    bool
	rearming   bool // since a cut, until the watches are set again
	writes     []serial
	armed      map[*table]struct{}
	lasting    []*lasting
	ephemerals map[string]int64 // position of the create, by path
	open       []*note          // notifications since the latest reply
}

func newAccount(s *Session) *account {
	return &account{session: s, connected: true, armed: map[*table]struct{}{}, ephemerals: map[string]int64{}}
}

// reached says that a reply showed everything up to pos.
func (a *account) reached(pos int64) {
	if pos > a.last.Load() {
		a.last.Store(pos)
	}
}

// watches tells whether the session has a watch armed on t.
func (a *account) watches(t *table) bool {
	_, ok := a.armed[t]
	return ok
}
