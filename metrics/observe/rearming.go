package observe

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// soon is how long after a reconnect a client arms its watches again.
const soon = time.Second

// rearming is what a session has armed again since it reconnected.
type rearming struct {
	since time.Time // the latest reconnect, zero without one
	all   bool      // a packet has set all watches
	n     int       // watches
}

// rearmedAll counts a packet that sets the watches again. A client may need several.
func (s *session) rearmedAll(a *Analysis) {
	r := &s.rearming
	rest := len(s.watches) - r.n
	if !r.recent(a.now) || r.all || rest <= 0 {
		return
	}
	first := r.n == 0
	r.all, r.n = true, len(s.watches)
	a.all.rearming.Add(a.now, first, int64(rest))
}

// setAgain enters the watches that a packet sets again and that the session was not seen to arm, as before it was joined. They
// stand from the request on: the service tells of what has changed meanwhile before it replies.
func (s *session) setAgain(a *Analysis, m *drivers.Message) {
	for one := range parts(m) {
		k := watchKey{string(one.Path), one.Op == drivers.OpChildren || one.Op == drivers.OpWatchTree, one.Op.IsWatch()}
		if _, stands := s.watches[k]; !stands && len(k.path) > 0 {
			a.arm(s, k, a.requestPlace(one), one)
		}
	}
}

// rearmedOne counts a watch that the session had and has asked for again.
func (s *session) rearmedOne(a *Analysis) {
	r := &s.rearming
	if !r.recent(a.now) || r.all || r.n >= len(s.watches) {
		return
	}
	r.n++
	a.all.rearming.Add(a.now, r.n == 1, 1)
}

// breakWatches ends the watches of a connection that ends. A client with a lease may arm them again by another one.
func (s *session) breakWatches(a *Analysis) {
	if s.broken == nil || a.now.Sub(s.brokenAt) > soon {
		s.broken = map[watchKey]bool{}
	}
	s.brokenAt = a.now
	for k := range s.watches {
		s.broken[k] = s.of.Leased()
		a.disarm(s, k)
	}
}

// rearmedBroken counts a watch that the client had by an earlier connection, if it was armed soon after this one
// began.
func (s *session) rearmedBroken(a *Analysis, k watchKey, at time.Time) {
	if r := &s.rearming; s.broken[k] && at.Sub(r.since) <= soon {
		r.n++
		a.all.rearming.Add(a.now, r.n == 1, 1)
	}
	delete(s.broken, k)
}

func (r *rearming) recent(now time.Time) bool { return !r.since.IsZero() && now.Sub(r.since) <= soon }
