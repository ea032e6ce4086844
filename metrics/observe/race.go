package observe

import (
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/pattern"
)

// A change can be a signal to race for another node, which nobody watches: a claim below a task, a lock beside the
// value that says when it is free. Each session that it wakes tries once to write the node, one succeeds, and the
// others wait for the next signal. A session that tries again until it succeeds was not woken in vain, nor was one
// that writes something else.

// A race is what a session did about one node after a notification.
type race struct {
	place   *place
	tries   int     // to write it
	winner  *wake   // after which another session wrote it, nil if that is not known
	beaten  []*wake // after which other sessions lost to this one
	instead *wake   // another notification of the session that may have been the signal
	acted   bool    // the session has written the node, or another one at work
	waits   bool    // a watch on what was notified is armed again, or lasts
	over    bool    // the session was notified again, or has ended
}

const (
	// longestRace is how long after its notification a session begins to race.
	longestRace = 2 * time.Second
	// together is how close two notifications of a session are of which either may be the signal.
	together = 50 * time.Millisecond
)

// contends returns the notification after which the session may race, nil if it was woken by none or long ago.
func (s *session) contends(a *Analysis) *wake {
	if s.woke == nil || a.now.Sub(s.woke.at) > longestRace {
		return nil
	}
	return s.woke
}

// wakes begins what may be a race, and ends the one before.
func (s *session) wakes(a *Analysis, w *wake) {
	s.endRace(a)
	s.woke = w
	_, node := s.watches[watchKey{path: w.place.path, lasting: true}]
	_, tree := s.watches[watchKey{w.place.path, true, true}]
	w.race.waits = node || tree || w.over != nil
}

// endRace ends what may have been a race.
func (c *activity) endRace(a *Analysis) {
	if w := c.woke; w != nil {
		c.woke, w.race.over = nil, true
		w.outdone()
		w.close(a)
	}
}

// takeRace takes over the latest notification of another activity, which turns out to be of the same client. The
// earlier of both ends what it may have begun.
func (c *activity) takeRace(a *Analysis, from *activity) {
	if from.woke != nil && (c.woke == nil || from.woke.at.After(c.woke.at)) {
		c.woke, from.woke = from.woke, c.woke
	}
	from.endRace(a)
}

// loses records a failed write. It lost a race if the node is another session's, or was set by another. That a node
// exists which is nobody's own is no loss for those who only want that.
func (s *session) loses(a *Analysis, m *drivers.Message, p *place) {
	if !(errors.Is(m.Err, drivers.ErrNodeExists) && m.Mode&drivers.Ephemeral != 0 || errors.Is(m.Err, drivers.ErrBadVersion)) {
		return
	}
	w := s.contends(a)
	if p.pattern.Tried(w != nil); w == nil {
		return
	}
	r := &w.race
	if r.place != p {
		*r = race{place: p, beaten: r.beaten, acted: r.acted, waits: r.waits}
	}
	r.tries++
	r.instead = s.alsoTold(w)
	switch by := p.winner; {
	case by != nil && by.of != s.of:
		r.winner, by.race.beaten = by, append(by.race.beaten, w)
	default: // the winner's reply may come later
		if len(p.losers) == pattern.MaxSessions || len(p.losers) > 0 && a.now.Sub(p.losers[0].at) > longestRace {
			p.losers = nil // of an earlier race, which nobody has won
		}
		p.losers = append(p.losers, w)
	}
}

// alsoTold returns another notification that the session got just before.
func (s *session) alsoTold(w *wake) *wake {
	for _, in := range s.others {
		if n := in.latest(); n != nil && n.pattern != w.pattern && w.at.Sub(n.at) <= together {
			return n
		}
	}
	return nil
}

// wins records a successful write.
func (s *session) wins(a *Analysis, m *drivers.Message, p *place, atWork bool) {
	w := s.contends(a)
	if m.Op == drivers.OpCreate && m.Mode&drivers.Ephemeral != 0 {
		p.pattern.Tried(w != nil)
	}
	if w != nil && (atWork || w.race.place == p) {
		w.race.acted = true
	}
	losers := p.losers
	if p.winner, p.losers = w, nil; w == nil || m.Op == drivers.OpDelete {
		p.winner = nil
		return
	}
	for _, loser := range losers {
		if loser.of != s.of && loser.race.place == p {
			loser.race.winner, w.race.beaten = w, append(w.race.beaten, loser)
		}
	}
}

// waitsAt records whether the session has armed a watch on the path, or has given one up.
func (s *session) waitsAt(path string, armed bool) {
	if s.woke != nil && s.woke.place.path == path {
		s.woke.race.waits = armed
	}
}

// known records that the cause of the notification is known.
func (w *wake) known() {
	w.outdone()
	for _, loser := range w.race.beaten {
		loser.outdone()
	}
}

// outdone counts the notification if it was a signal to race, and its session has lost to one that the same change
// has woken.
func (w *wake) outdone() {
	r := &w.race
	if !r.over || !r.waits || r.acted || r.tries != 1 || r.winner == nil || w.change == nil || r.winner.change != w.change || r.place.pattern.Watched() > 0 {
		return
	}
	if r.tries = 0; r.instead != nil {
		w.pattern.MaybeOutdone()
		r.instead.pattern.MaybeOutdone()
		return
	}
	w.pattern.Outdone(r.place.pattern)
}
