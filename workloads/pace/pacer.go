package pace

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Options are what a person chooses of an open loop.
type Options struct {
	Rate    Rate
	Arrival Arrival // "" means Constant
	// LateLimit is how late an arrival may be: one for which nobody was free
	// by then is skipped. 0 means that it may be as late as it gets.
	LateLimit time.Duration
}

// Counts are the arrivals that were due in the measured window, by what became of
// them: each is completed, failed, unfinished or skipped.
type Counts struct {
	Offered    int64 // all of them
	Late       int64 // those for which no client was free when they were due
	Completed  int64
	Failed     int64 // a client started them and lost them, with its session for instance
	Skipped    int64 // no client ever started them
	Unfinished int64 // a client has started them, or waits until they are due
}

// A Pacer hands out the arrivals of one run.
type Pacer struct {
	opens, closes time.Time // the window
	limit         time.Duration
	ended         chan struct{} // closed when no arrival is handed out any more

	mu       sync.Mutex // guards all below
	schedule *schedule
	due      time.Time // of the arrival that is handed out next
	counts   Counts    // without Unfinished
	// held are the tickets that have an arrival of the window. Unfinished is counted
	// here, and not by difference, so that an arrival that is lost breaks the sum.
	held    map[*Ticket]struct{}
	wakes   *hdrhistogram.Histogram // by how much timers were late for which a client waited, ns
	ahead   int64                   // of these: a client was free when they were due, or is until they are
	drained chan struct{}           // closed when no ticket has an arrival, if somebody waits for that
}

// New returns the pacer of a run that warms up from now on and is measured for
// window then.
func New(o Options, warmup, window time.Duration, seed uint64) *Pacer {
	opens := time.Now().Add(warmup)
	p := &Pacer{
		opens: opens, closes: opens.Add(window), limit: o.LateLimit, ended: make(chan struct{}), held: make(map[*Ticket]struct{}),
		wakes:    hdrhistogram.New(1, int64(time.Hour), 3),
		schedule: newSchedule(o.Rate, o.Arrival, warmup, window, seed),
	}
	p.advance()
	return p
}

func (p *Pacer) advance() { p.due = p.opens.Add(p.schedule.next()) }

// Counts are what became of the arrivals so far.
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

// Wakes is by how much the timers of arrivals in the window were late for which a client
// was waiting, in nanoseconds. Response times do not include it.
func (p *Pacer) Wakes() *hdrhistogram.Histogram {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wakes.Clone()
}

// Oldest is for how long the first of the unfinished arrivals has been due; 0 without
// any.
func (p *Pacer) Oldest() (age time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := range p.held {
		age = max(age, time.Since(t.due))
	}
	return age
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
	if p.drained != nil && len(p.held) == 0 {
		close(p.drained)
		p.drained = nil
	}
}
