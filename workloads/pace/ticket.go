package pace

import (
	"context"
	"time"
)

// A Ticket gives one client one arrival after the other.
type Ticket struct {
	pacer *Pacer
	due   time.Time // of the arrival that it has
	ahead bool      // it was there before the arrival was due
}

// Ticket returns one that has no arrival.
func (p *Pacer) Ticket() *Ticket { return &Ticket{pacer: p} }

// Next waits until the next arrival is due, and returns from when on its response
// time counts; or it waits for the end, and returns false. An arrival that the ticket
// still has is given up.
//
// That is when the arrival was due, if no client was free then. Else the client was
// waiting for it, and a timer that fires late is the generator's lateness and not the
// service's: the response time counts from when the client woke up, and the rest is
// part of Wakes.
func (t *Ticket) Next(ctx context.Context) (due time.Time, ok bool) {
	due, ok = t.take()
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

// woke notes by how much the timer of the arrival was late.
func (t *Ticket) woke(now time.Time) time.Time {
	p := t.pacer
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, counted := p.held[t]; counted {
		_ = p.wakes.RecordValue(min(int64(now.Sub(t.due)), p.wakes.HighestTrackableValue())) // in range
	}
	return now
}

// take returns when the next arrival is due, of those before the window closes.
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

// wait waits for an arrival to be due. One that is not when there are no more is
// as if it had never been.
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

// Finish completes the arrival that the ticket has, if any.
func (t *Ticket) Finish() { t.giveBack((*Counts).complete) }

// Fail gives up the arrival that the ticket has, if any: it will not be completed.
func (t *Ticket) Fail() { t.giveBack((*Counts).fail) }

func (c *Counts) complete() { c.Completed++ }
func (c *Counts) fail()     { c.Failed++ }
func (c *Counts) withdraw() { c.Offered-- }

func (t *Ticket) giveBack(as func(*Counts)) {
	t.pacer.mu.Lock()
	defer t.pacer.mu.Unlock()
	t.end(as)
}

// end takes the arrival of the window from the ticket, if it has one, and counts what
// became of it.
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
	p.tell()
}
