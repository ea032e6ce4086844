package pace

import "time"

// A Standing is how an open loop stands while it goes on.
type Standing struct {
	// Counts are those of the arrivals that are past waiting. One for which somebody
	// was free counts when it is finished, since it is handed out before it is due.
	// So none of them ever falls but Unfinished.
	Counts
	Waiting int64         // about how many are due that nobody has had: those that there are on average
	Lag     time.Duration // for how long the first of these has been due
}

// Standing is how the arrivals of the window stand now.
func (p *Pacer) Standing() Standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Standing{Counts: p.count()}
	s.Offered -= p.ahead
	s.Unfinished -= p.ahead
	now := time.Now()
	if over := now.After(p.closes); over || !p.due.Before(now) || p.due.Before(p.opens) {
		return s
	}
	s.Lag = now.Sub(p.due)
	s.Waiting = 1 + int64(p.schedule.rate.Expected(now.Sub(p.opens), p.schedule.total)-p.schedule.count)
	return s
}
