package openloop

import (
	"context"
	"time"
)

// A Ticket gives arrivals to one client, one at a time.
type Ticket struct {
	pacer *Pacer
	due   time.Time // when its arrival is due
	ahead bool      // the client took the arrival before it was due
}

// Ticket returns a ticket without an arrival.
func (p *Pacer) Ticket() *Ticket { return &Ticket{pacer: p} }

// Next waits until the next arrival is due, and returns the time from which its response
// time counts. If there are no more arrivals, it waits until End or until the context ends,
// and returns false. If the ticket still has an arrival, Next counts it as failed.
//
// If no client was free when the arrival was due, the returned time is when it was due.
// Otherwise the client was waiting for it. A timer that fires late is then the generator's
// delay and not the service's: the returned time is when the client woke, and the delay
// goes into Wakes.
func (t *Ticket) Next(ctx context.Context) (due time.Time, ok bool) {
	return t.NextTold(ctx, func(time.Duration) {})
}

// NextTold is Next, and calls taken as soon as it is known when the arrival is due, counted from when the window
// opens.
func (t *Ticket) NextTold(ctx context.Context, taken func(due time.Duration)) (due time.Time, ok bool) {
	due, ok = t.take()
	if ok {
		taken(due.Sub(t.pacer.opens))
	}
	if !ok {
		select {
		case <-t.pacer.ended:
		case <-ctx.Done():
		}
		return time.Time{}, false
	}
	if !t.ahead {
		return due, true
	}
	if !t.wait(ctx, time.Until(due)) {
		return time.Time{}, false
	}
	return t.woke(time.Now()), true
}

// woke records how late the timer of the arrival fired.
func (t *Ticket) woke(now time.Time) time.Time {
	p := t.pacer
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, counted := p.held[t]; counted {
		_ = p.wakes.RecordValue(min(int64(now.Sub(t.due)), p.wakes.HighestTrackableValue())) // the value is in range
	}
	return now
}

// take takes the next arrival that is due before the window closes, and returns when it is
// due.
func (t *Ticket) take() (due time.Time, ok bool) {
	p := t.pacer
	p.mu.Lock()
	defer p.mu.Unlock()
	t.end((*Counts).fail)
	now := time.Now()
	for p.due.Before(p.closes) {
		due = p.due
		p.advance()
		counted := !due.Before(p.opens)
		late := now.Sub(due)
		skipped := p.limit > 0 && late > p.limit
		if counted {
			p.counts.note(late > 0, skipped)
		}
		if !skipped {
			t.due, t.ahead = due, late <= 0
			if counted {
				p.hold(t)
			}
			return due, true
		}
	}
	return time.Time{}, false
}

func (c *Counts) note(late, skipped bool) {
	c.Offered++
	switch {
	case skipped:
		c.Skipped++
	case late:
		c.Late++
	}
}

func (p *Pacer) hold(t *Ticket) {
	p.held[t] = struct{}{}
	if t.ahead {
		p.ahead++
	}
}

// wait waits until an arrival is due. If the run ends first, the arrival does not count.
func (t *Ticket) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.pacer.ended:
	case <-ctx.Done():
	}
	t.giveBack((*Counts).withdraw)
	return false
}

// Finish completes the ticket's arrival, if it has one.
func (t *Ticket) Finish() { t.giveBack((*Counts).complete) }

// Fail counts the ticket's arrival, if it has one, as failed.
func (t *Ticket) Fail() { t.giveBack((*Counts).fail) }

func (c *Counts) complete() { c.Completed++ }
func (c *Counts) fail()     { c.Failed++ }
func (c *Counts) withdraw() { c.Offered-- }

func (t *Ticket) giveBack(as func(*Counts)) {
	t.pacer.mu.Lock()
	defer t.pacer.mu.Unlock()
	t.end(as)
}

// end takes the arrival of the window from the ticket, if it has one, and counts its
// outcome.
func (t *Ticket) end(as func(*Counts)) {
	p := t.pacer
	if _, has := p.held[t]; !has {
		return
	}
	delete(p.held, t)
	as(&p.counts)
	if t.ahead {
		p.ahead--
	}
	p.notify()
}
