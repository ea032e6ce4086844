package openloop

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Options are the user's settings of an open loop.
type Options struct {
	Rate    Rate
	Arrival Arrival // "" means Constant
	// LateLimit is how late an arrival may start: an arrival for which no client
	// was free by then is skipped. 0 means no limit.
	LateLimit time.Duration
}

// Counts are the arrivals that were due in the measured window, by outcome: each is
// completed, failed, unfinished or skipped.
type Counts struct {
	Offered    int64 // all arrivals that were due
	Late       int64 // those that were due when no client was free
	Completed  int64
	Failed     int64 // a client started them but could not complete them, for example because its session was lost
	Skipped    int64 // no client ever started them
	Unfinished int64 // a client has started them, or is waiting until they are due
}

// A Pacer hands out the arrivals of one run.
type Pacer struct {
	opens, closes time.Time // the measured window
	limit         time.Duration
	part          OwnArrivals
	ended         chan struct{} // closed when the pacer hands out no more arrivals

	mu       sync.Mutex // guards all fields below
	schedule *schedule
	due      time.Time // when the next arrival to be handed out is due
	counts   Counts    // without Unfinished
	// held has the tickets with an arrival of the window. Unfinished is the length of held,
	// and not a difference of other counts, so that a lost arrival breaks the sum.
	held    map[*Ticket]struct{}
	wakes   *hdrhistogram.Histogram // how late timers fired for waiting clients, ns
	ahead   int64                   // the tickets in held that took their arrival before it was due
	drained chan struct{}           // if not nil, closed when held is empty
}

// New returns the pacer of a run whose warm-up begins now. The measured window follows the
// warm-up.
func New(o Options, warmup, window time.Duration, seed uint64) *Pacer {
	all := OwnArrivals{Opens: time.Now().Add(warmup), Share: 1, Mine: func() bool { return true }}
	return NewPart(o, all, warmup, window, seed)
}

// OwnArrivals are the arrivals that one process has of a run that several share. All of them draw the same
// arrivals, and each takes its own.
type OwnArrivals struct {
	Opens time.Time // the measured window
	// Mine is called for each arrival, in order, and reports whether it is this process's.
	Mine  func() bool
	Share float64 // of all arrivals, about
}

// NewPart returns a pacer that hands out only the arrivals of a part.
func NewPart(o Options, part OwnArrivals, warmup, window time.Duration, seed uint64) *Pacer {
	p := &Pacer{
		opens: part.Opens, closes: part.Opens.Add(window), limit: o.LateLimit, ended: make(chan struct{}), held: make(map[*Ticket]struct{}),
		wakes:    hdrhistogram.New(1, int64(time.Hour), 3),
		schedule: newSchedule(o.Rate, o.Arrival, warmup, window, seed), part: part,
	}
	p.advance()
	return p
}

// advance draws the next arrival of this process. It looks for one until the window has closed, after which no
// arrival matters.
func (p *Pacer) advance() {
	for {
		p.due = p.opens.Add(p.schedule.next())
		if p.part.Mine() || !p.due.Before(p.closes) {
			return
		}
	}
}

// Counts returns the outcomes of the arrivals so far.
func (p *Pacer) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count()
}

func (p *Pacer) count() Counts {
	c := p.counts
	c.Unfinished = int64(len(p.held))
	return c
}

// Wakes returns how late timers fired for clients that were waiting for an arrival of the
// window, in nanoseconds. Response times do not include this lateness.
func (p *Pacer) Wakes() *hdrhistogram.Histogram {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wakes.Clone()
}

// Opens returns when the window opens.
func (p *Pacer) Opens() time.Time { return p.opens }

// Oldest returns for how long the oldest unfinished arrival has been due, or 0 if there is
// none.
func (p *Pacer) Oldest() (age time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := range p.held {
		age = max(age, time.Since(t.due))
	}
	return age
}

// End stops handing out arrivals. Arrivals that are due by now and that no client took are skipped.
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

// Drain waits until no client has an arrival of the window, or until the context ends.
func (p *Pacer) Drain(ctx context.Context) {
	p.mu.Lock()
	drained := make(chan struct{})
	p.drained = drained
	p.notify()
	p.mu.Unlock()
	select {
	case <-drained:
	case <-ctx.Done():
	}
}

// notify notifies a waiting Drain if no ticket has an arrival of the window.
func (p *Pacer) notify() {
	if p.drained != nil && len(p.held) == 0 {
		close(p.drained)
		p.drained = nil
	}
}

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
