package openloop

import "time"

// A Progress is the state of an open loop in progress.
type Progress struct {
	// Counts does not include the arrivals that still wait for a client. An arrival that a
	// client takes before it is due counts only when it is finished. So no count but
	// Unfinished ever decreases.
	Counts
	Waiting int64         // about how many due arrivals no client has taken: the expected number
	Lag     time.Duration // how long ago the first of these was due
}

// Progress returns the current state of the arrivals in the window.
func (p *Pacer) Progress() Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Progress{Counts: p.count()}
	s.Offered -= p.ahead
	s.Unfinished -= p.ahead
	now := time.Now()
	if over := now.After(p.closes); over || !p.due.Before(now) || p.due.Before(p.opens) {
		return s
	}
	s.Lag = now.Sub(p.due)
	s.Waiting = 1 + int64((p.schedule.rate.Expected(now.Sub(p.opens), p.schedule.total)-p.schedule.count)*p.part.Share)
	return s
}
