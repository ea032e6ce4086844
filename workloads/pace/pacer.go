package pace

import (
	"context"
	"sync"
	"time"
)

// Options are what a person chooses of an open loop.
type Options struct {
	Rate    Rate
	Arrival Arrival // "" means Constant
	// LateLimit is how late an arrival may be: one for which nobody was free
	// by then is skipped. 0 means that it may be as late as it gets.
	LateLimit time.Duration
}

// Counts are what became of the arrivals that were due in the measured window.
type Counts struct {
	Offered    int64 // that were due
	Late       int64 // for which nobody was free when they were due
	Skipped    int64 // that nobody ever had
	Unfinished int64 // that somebody had and did not finish
}

// A Pacer hands out the arrivals of one run.
type Pacer struct {
	opens, closes time.Time // the window
	limit         time.Duration
	ended         chan struct{} // closed when no arrival is handed out any more

	mu       sync.Mutex // guards all below
	schedule *schedule
	due      time.Time // of the arrival that is handed out next
	counts   Counts
	ahead    int64         // of Unfinished: somebody was free for them when they were due, or is until they are
	drained  chan struct{} // closed when nobody has an arrival, if somebody waits for that
}

// New returns the pacer of a run that warms up from now on and is measured for
// window then.
func New(o Options, warmup, window time.Duration, seed uint64) *Pacer {
	opens := time.Now().Add(warmup)
	p := &Pacer{
		opens: opens, closes: opens.Add(window), limit: o.LateLimit, ended: make(chan struct{}),
		schedule: newSchedule(o.Rate, o.Arrival, warmup, window, seed),
	}
	p.advance()
	return p
}

func (p *Pacer) advance() { p.due = p.opens.Add(p.schedule.next()) }

// Counts are what became of the arrivals so far. Unfinished are those that
// somebody has.
func (p *Pacer) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// End hands out nothing any more. What was due by now and nobody had is skipped.
func (p *Pacer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
		return
	default:
	}
	close(p.ended)
	if now := time.Now(); now.Before(p.closes) {
		p.closes = now
	}
	for ; p.due.Before(p.closes); p.advance() {
		if !p.due.Before(p.opens) {
			p.counts.Offered++
			p.counts.Skipped++
		}
	}
}

// Drain waits until nobody has an arrival of the window, or the context ends.
func (p *Pacer) Drain(ctx context.Context) {
	p.mu.Lock()
	drained := make(chan struct{})
	p.drained = drained
	p.tell()
	p.mu.Unlock()
	select {
	case <-drained:
	case <-ctx.Done():
	}
}

// tell tells who drains, if it is so far.
func (p *Pacer) tell() {
	if p.drained != nil && p.counts.Unfinished == 0 {
		close(p.drained)
		p.drained = nil
	}
}

// A Ticket is with what one client has one arrival after the other.
type Ticket struct {
	pacer   *Pacer
	counted bool // what it has is of the window
	ahead   bool // it was there before that was due
}

// Ticket returns one that has no arrival.
func (p *Pacer) Ticket() *Ticket { return &Ticket{pacer: p} }

// Next gives back the arrival that the ticket has, and waits until the next one
// is due, which it returns; or for the end, and returns false.
func (t *Ticket) Next(ctx context.Context) (due time.Time, ok bool) {
	t.Finish()
	due, ok = t.take()
	if !ok {
		select {
		case <-t.pacer.ended:
		case <-ctx.Done():
		}
		return time.Time{}, false
	}
	if wait := time.Until(due); wait > 0 && !t.wait(ctx, wait) {
		return time.Time{}, false
	}
	return due, true
}

// take returns when the next arrival is due, of those before the window closes.
func (t *Ticket) take() (due time.Time, ok bool) {
	p := t.pacer
	p.mu.Lock()
	defer p.mu.Unlock()
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
			t.counted, t.ahead = counted, counted && late <= 0
			if t.ahead {
				p.ahead++
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
		c.Unfinished++
	default:
		c.Unfinished++
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
	if t.counted {
		t.pacer.mu.Lock()
		t.pacer.counts.Offered--
		t.pacer.mu.Unlock()
	}
	t.Finish()
	return false
}

// Finish gives back the arrival that the ticket has, if any.
func (t *Ticket) Finish() {
	if !t.counted {
		return
	}
	t.counted = false
	p := t.pacer
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.Unfinished--
	if t.ahead {
		p.ahead--
	}
	p.tell()
}
