package openloop

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
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
	Late       int64 // those that were due when no client was free, also those that were skipped
	Completed  int64
	Failed     int64 // a client started them but could not complete them, for example because its session was lost
	Skipped    int64 // no client ever started them
	Unfinished int64 // a client has started them
}

// A Pacer hands out the arrivals of one run.
type Pacer struct {
	window *metrics.Window
	origin time.Time // from which the schedule counts: when its rate begins to be that of the window
	limit  time.Duration
	part   OwnArrivals
	ended  chan struct{} // closed when the pacer hands out no more arrivals

	mu       sync.Mutex // guards all fields below
	schedule *schedule
	due      time.Time // when the next arrival of the schedule is due
	// returned are when arrivals are due that clients took and could not await, the earliest first. They are
	// handed out before the next of the schedule.
	returned []time.Time
	counts   Counts // without Unfinished
	// held has the tickets with an arrival of the window. Unfinished is the length of held,
	// and not a difference of other counts, so that a lost arrival breaks the sum.
	held    map[*Ticket]struct{}
	early   map[*Ticket]struct{}    // the tickets that wait for an arrival that is not due yet
	wakes   *hdrhistogram.Histogram // how late timers fired for waiting clients, ns
	drained chan struct{}           // if not nil, closed when all arrivals of the window are served
}

// OwnArrivals are the arrivals that one process has of a run that several share. All of them draw the same
// arrivals, and each takes its own.
type OwnArrivals struct {
	Origin time.Time // the end of the warm-up, the same in all processes
	// Mine is called for each arrival, in order, and reports whether it is this process's.
	Mine  func() bool
	Share float64 // of all arrivals, about
}

// New returns the pacer of a run whose arrivals begin a warm-up before part.Origin. The schedule is that of
// a run of the given length at the rate. What counts are the arrivals that are due in the window.
func New(o Options, w *metrics.Window, part OwnArrivals, warmup, length time.Duration, seed uint64) *Pacer {
	p := &Pacer{
		window: w, origin: part.Origin, limit: o.LateLimit, ended: make(chan struct{}),
		held: make(map[*Ticket]struct{}), early: make(map[*Ticket]struct{}),
		wakes:    hdrhistogram.New(1, int64(time.Hour), 3),
		schedule: newSchedule(o.Rate, o.Arrival, warmup, length, seed), part: part,
	}
	p.advance()
	return p
}

// advance draws the next arrival of this process. It looks for one until the window has closed, after which
// no arrival matters.
func (p *Pacer) advance() {
	for {
		p.due = p.origin.Add(p.schedule.next())
		if p.part.Mine() || !p.window.ClosesAfter(p.due) {
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

// Expected returns the mean number of arrivals of this process in the window, which must have closed, and the
// largest number by which their actual number may differ from it without a defect of the pacer.
func (p *Pacer) Expected() (mean, off float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	until := func(at time.Time) float64 { return p.schedule.rate.Expected(at.Sub(p.origin), p.schedule.total) }
	opens := p.window.Opens()
	mean = p.part.Share * (until(opens.Add(p.window.Elapsed(time.Now()))) - until(opens))
	return mean, p.schedule.deviation(mean)
}

// Wakes returns how late timers fired for clients that were waiting for an arrival of the
// window, in nanoseconds. Response times do not include this lateness.
func (p *Pacer) Wakes() *hdrhistogram.Histogram {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wakes.Clone()
}

// Origin returns the time from which NextTold counts.
func (p *Pacer) Origin() time.Time { return p.origin }

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

// End stops handing out arrivals, and ends the window unless it has ended. Those of the window that no client
// has started are skipped.
func (p *Pacer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
		return
	default:
	}
	p.window.CloseNow()
	for t := range p.early {
		p.skip(t.due)
	}
	clear(p.early)
	for p.hasMore() {
		p.skip(p.draw())
	}
	close(p.ended)
}

// draw returns when the next arrival to be handed out is due.
func (p *Pacer) draw() (due time.Time) {
	if len(p.returned) > 0 {
		due, p.returned = p.returned[0], p.returned[1:]
		return due
	}
	due = p.due
	p.advance()
	return due
}

// skip counts an arrival that no client serves, if it is due in the window.
func (p *Pacer) skip(due time.Time) {
	if p.window.Contains(due) {
		p.counts.Offered++
		p.counts.Late++
		p.counts.Skipped++
	}
}

// Drain waits until all arrivals that were due in the window have an outcome, or until the context ends. The
// window must have closed.
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

// notify notifies a waiting Drain if all arrivals of the window have an outcome.
func (p *Pacer) notify() {
	if p.drained == nil || len(p.held) > 0 || p.hasMore() {
		return
	}
	for t := range p.early {
		if p.window.ClosesAfter(t.due) {
			return
		}
	}
	close(p.drained)
	p.drained = nil
}

// hasMore reports whether there is an arrival before the end of the window to be handed out.
func (p *Pacer) hasMore() bool {
	select {
	case <-p.ended:
		return false
	default:
		return len(p.returned) > 0 && p.window.ClosesAfter(p.returned[0]) || p.window.ClosesAfter(p.due)
	}
}

// A Progress is the state of an open loop in progress.
type Progress struct {
	// Counts does not include the arrivals that still wait for a client. So no count but Unfinished
	// ever decreases.
	Counts
	Waiting int64         // about how many due arrivals no client has taken: the expected number
	Lag     time.Duration // how long ago the first of these was due
}

// Progress returns the current state of the arrivals in the window.
func (p *Pacer) Progress() Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Progress{Counts: p.count()}
	now := time.Now()
	if !p.hasMore() || !p.due.Before(now) || !p.window.Contains(p.due) {
		return s
	}
	s.Lag = now.Sub(p.due)
	until := p.window.EndOrNow(now)
	due := p.schedule.rate.Expected(until.Sub(p.origin), p.schedule.total)
	s.Waiting = 1 + int64((due-p.schedule.count)*p.part.Share)
	return s
}

// A Ticket gives arrivals to one client, one at a time. Fail, Finish and InWindow accept a nil Ticket, which
// has none.
type Ticket struct {
	pacer    *Pacer
	due      time.Time // when its arrival is due
	started  bool      // the client has been given its arrival
	inWindow bool      // the arrival was due in the window
}

// Ticket returns a ticket without an arrival.
func (p *Pacer) Ticket() *Ticket { return &Ticket{pacer: p} }

// InWindow reports whether the last arrival of the ticket was due in the window; given is false if it has had
// none since the last call of Next. A nil Ticket has none.
func (t *Ticket) InWindow() (is, given bool) {
	if t == nil {
		return false, false
	}
	t.pacer.mu.Lock()
	defer t.pacer.mu.Unlock()
	return t.inWindow, t.started
}

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

// NextTold is Next, and calls taken as soon as it is known when the arrival is due, counted from Origin.
func (t *Ticket) NextTold(ctx context.Context, taken func(due time.Duration)) (due time.Time, ok bool) {
	waits, ok := t.take()
	if ok {
		taken(t.due.Sub(t.pacer.origin))
	}
	if ok && waits {
		due, ok = t.wait(ctx)
	} else {
		due = t.due
	}
	if ok {
		return due, true
	}
	select {
	case <-t.pacer.ended:
	case <-ctx.Done():
	}
	return time.Time{}, false
}

// take takes the next arrival that is due before the window closes, and reports whether the client has to
// wait for it.
func (t *Ticket) take() (waits, ok bool) {
	p := t.pacer
	p.mu.Lock()
	defer p.mu.Unlock()
	t.end((*Counts).fail)
	t.started, t.inWindow = false, false
	defer p.notify()
	for now := time.Now(); p.hasMore(); {
		t.due = p.draw()
		late := now.Sub(t.due)
		switch {
		case late <= 0:
			p.early[t] = struct{}{}
			return true, true
		case p.limit > 0 && late > p.limit:
			p.skip(t.due)
		default:
			t.start(1)
			return false, true
		}
	}
	return false, false
}

// start gives the client its arrival, which is due now or was due before. Whether it was due in the window
// is decided by now: a window opens or closes in the present or the future. late is 1 if it has waited for a
// client.
func (t *Ticket) start(late int64) {
	p := t.pacer
	t.started, t.inWindow = true, p.window.Contains(t.due)
	if t.inWindow {
		p.counts.Offered++
		p.counts.Late += late
		p.held[t] = struct{}{}
	}
}

// wait waits until the ticket's arrival is due. If the run or the window ends first, there is none.
func (t *Ticket) wait(ctx context.Context) (woke time.Time, ok bool) {
	p := t.pacer
	timer := time.NewTimer(time.Until(t.due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ended:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.notify()
	_, waits := p.early[t]
	delete(p.early, t)
	now := time.Now()
	switch {
	case !waits: // End has counted it
		return now, false
	case ctx.Err() != nil: // another client may serve it
		p.returned = append(p.returned, t.due)
		slices.SortFunc(p.returned, time.Time.Compare)
		return now, false
	case !p.window.ClosesAfter(t.due):
		return now, false
	}
	if t.start(0); t.inWindow {
		late := min(int64(now.Sub(t.due)), p.wakes.HighestTrackableValue())
		_ = p.wakes.RecordValue(late) // the value is in range
	}
	return now, true
}

// Finish completes the ticket's arrival, if it has one.
func (t *Ticket) Finish() { t.giveBack((*Counts).complete) }

// Fail counts the ticket's arrival, if it has one, as failed.
func (t *Ticket) Fail() { t.giveBack((*Counts).fail) }

func (c *Counts) complete() { c.Completed++ }
func (c *Counts) fail()     { c.Failed++ }

func (t *Ticket) giveBack(as func(*Counts)) {
	if t == nil {
		return
	}
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
	p.notify()
}
