package observe

import (
	"errors"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/pattern"
)

// Sessions that a change wakes can race for a node: each tries to create it, to set it by its version, or to delete it,
// one succeeds, and the others wait for the next change. The node may be the one that changed, one below it, or one that
// nobody watches: a claim of a task, a lock beside the value that says when it is free. A session that tries again until
// it succeeds was not woken in vain, nor was one that writes something else.

// A race is what a session did about one node after a notification.
type race struct {
	place   *place
	taking  bool    // it is a race to delete the node
	tries   int     // to write it
	winners []*wake // after which other sessions wrote it, the last before the session failed and the first then
	beaten  []*wake // after which other sessions lost to this one
	instead *wake   // another notification of the session that may have been the signal
	acted   bool    // the session has written the node, or another one at work
	waits   bool    // a watch on what was notified is armed again, or lasts
	over    bool    // the session was notified again, or has ended
	won     bool    // the session has won a race that others lost
	lost    bool    // the notification counts as one after which the session lost
}

// contends returns the notification after which a session may race by a request at the time, nil if it was woken by none or
// long before.
func (w *wake) contends(at time.Time) *wake {
	if w == nil || at.Sub(w.at) > causality.Patience {
		return nil
	}
	return w
}

// wakes begins what may be a race, and ends the one before.
func (s *session) wakes(a *Analysis, w *wake) {
	if w.before = s.woke; w.before != nil {
		w.before.before = nil
	}
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

// losing reports whether the failed write lost a race, if another session wrote the node: that the node exists, has another version, or
// is gone.
func losing(m *drivers.Message) bool {
	return errors.Is(m.Err, drivers.ErrNodeExists) || errors.Is(m.Err, drivers.ErrBadVersion) || m.Op == drivers.OpDelete && errors.Is(m.Err, drivers.ErrNoNode)
}

// loses records a failed write after a notification, nil without one.
func (s *session) loses(a *Analysis, m *drivers.Message, p *place, w *wake) {
	if !losing(m) {
		return
	}
	if p.pattern.Tried(w != nil); w == nil {
		s.losesBeside(a, p)
		return
	}
	r, taking := &w.race, m.Op == drivers.OpDelete
	if r.place != p || r.taking != taking {
		*r = race{place: p, taking: taking, beaten: r.beaten, acted: r.acted, waits: r.waits, over: r.over, won: r.won}
	}
	r.tries++
	if !w.holds(p) {
		r.instead = s.alsoTold(w)
	}
	if by := *p.fastest(taking); by != nil && by.of != s.of {
		w.losesTo(by)
	}
	if len(p.losers) == pattern.MaxSessions {
		p.losers = nil
	}
	p.losers = append(p.losers, w) // the winner's reply may come later
}

// losesBeside records a lost race of a session that nothing has woken: another session of its client may have been.
func (s *session) losesBeside(a *Analysis, p *place) {
	if s.told > 0 || len(s.watches) > 0 || a.now.Sub(p.written) > causality.Patience {
		return
	}
	if last := a.idle[s.of.Origin()]; last.at != nil && a.now.Sub(last.when) <= causality.Patience {
		if s.beside == nil {
			s.beside = map[*pattern.Pattern]int64{}
		}
		s.beside[last.at]++
	}
}

// countBeside counts such races of a session that has watched nothing until its end.
func (s *session) countBeside() {
	for p, times := range s.beside {
		if s.told == 0 && len(s.watches) == 0 {
			p.LosesBeside(times)
		}
	}
	s.beside = nil
}

// onlyWatches records that a session was notified that has written nothing.
func (s *session) onlyWatches(a *Analysis, p *place) {
	if s.writes == 0 {
		a.idle[s.of.Origin()] = idle{p.pattern, a.now}
	}
}

// An idle is the latest notification of the sessions of one process or host that have written nothing.
type idle struct {
	at   *pattern.Pattern
	when time.Time
}

// losesTo records that another session has written what the session failed to write.
func (w *wake) losesTo(by *wake) {
	w.race.winners, by.race.beaten = append(w.race.winners, by), append(by.race.beaten, w)
	w.outdone()
}

// holds reports whether a write of the place uses what the notification offers.
func (w *wake) holds(p *place) bool { return w.place.holds(p) || w.over != nil && w.over.isAbove(p) }

// alsoTold returns another notification that the session got just before: either may be the signal.
func (s *session) alsoTold(w *wake) *wake {
	for _, in := range s.others {
		if n := in.latest(); n != nil && n.pattern != w.pattern && w.at.Sub(n.at) <= causality.Pause {
			return n
		}
	}
	return nil
}

// wins records a successful write after a notification, nil without one.
func (s *session) wins(a *Analysis, m *drivers.Message, p *place, w *wake, atWork bool) {
	if m.Op == drivers.OpCreate {
		p.pattern.Tried(w != nil)
	}
	if w != nil && (atWork || w.race.place == p) {
		w.race.acted = true
	}
	losers, taking := p.losers, m.Op == drivers.OpDelete
	p.written = a.now
	if p.losers, p.winner, p.taker = nil, nil, nil; w == nil {
		return
	}
	*p.fastest(taking) = w
	for _, loser := range losers {
		if r := &loser.race; loser.of != s.of && r.place == p && r.taking == taking {
			loser.losesTo(w)
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

// outdone counts the notification if its session has lost a race to one that the same change has woken, or whose writing of the node
// is the change.
func (w *wake) outdone() {
	r := &w.race
	if !r.over || !r.waits || r.acted || r.tries != 1 || r.lost || w.change == nil {
		return
	}
	i := slices.IndexFunc(r.winners, func(by *wake) bool {
		writer := w.change.writer
		return by.change == w.change || writer != nil && writer.of == by.of && w.change.written == r.place.pattern.Name
	})
	if i < 0 {
		return
	}
	if r.lost = true; r.instead != nil {
		w.pattern.MaybeOutdone()
		r.instead.pattern.MaybeOutdone()
		return
	}
	w.pattern.Outdone(r.place.pattern, w.of, 1)
	if by := r.winners[i]; !by.race.won {
		by.race.won = true
		by.pattern.Outdid(r.place.pattern, by.of)
	}
}

// again records that the session tries to set the node that it was notified of. If it lost a race for it before that, it goes on with
// that: it repeats until it succeeds, and has lost nothing so far.
func (w *wake) again(p *place) {
	before := w.before
	if w.before = nil; before == nil || before.race.place != p || before.place != p || w.place != p {
		return
	}
	if r := &before.race; r.lost && r.instead == nil {
		before.pattern.Outdone(p.pattern, before.of, -1)
	} else {
		r.tries = 0
	}
}

// offers returns the notifications that offer what the request writes: it may get that, or be too late. The release of a node of its
// own is no such request.
func (s *session) offers(m *drivers.Message, p *place) (all []*wake) {
	if !m.Op.IsWrite() || m.Mode&drivers.Sequential != 0 || m.Op == drivers.OpDelete && p.author == s.serial {
		return nil
	}
	for _, in := range s.others {
		n := in.latest()
		if sets := m.Op == drivers.OpSet; n != nil && n.holds(p) && (!sets || n.place == p) {
			if n.tried = true; sets {
				n.again(p)
			}
			all = append(all, n)
		}
	}
	return all
}

// gets records that the session has got what the notification offered. Its own change may have told it of more before the reply.
func (w *wake) gets() {
	if w.late || w.won {
		return
	}
	if w.won = true; w.ended && w.role != nil {
		w.role.Gets(w.pattern, w.outcome, w.own)
		w.outcome = pattern.Acted
	}
}
