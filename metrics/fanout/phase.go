package fanout

import (
	"sync"
	"sync/atomic"
)

// A phase is what a client does while it waits for one thing, for example its turn at a lock. The last
// notification that can have led to the end of the phase was useful, the others were wasted. A notification that
// says only that something has changed leads to nothing before the client reads. So one that comes after the
// client's last read of the phase does not belong to the phase: the client already had what it waited for.
type phase struct {
	unread atomic.Bool // whether newer is not 0

	mu             sync.Mutex
	open           bool
	woken          bool      // by a notification of the phase
	latest         *wakeup   // that notification, nil if it is not followed
	newer          int64     // notifications since then, after which the client has read nothing
	marked         []*wakeup // those of newer that are followed
	useful, wasted int64
}

// begin begins a phase. One that is still open was given up, so its last notification was wasted.
func (p *phase) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open {
		p.heed()
		p.conclude(Wasted, &p.wasted)
	}
	p.open = true
}

// end ends the phase.
func (p *phase) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conclude(Useful, &p.useful)
	p.open = false
}

// conclude counts the last notification of the phase and forgets those after it.
func (p *phase) conclude(o Outcome, count *int64) {
	if p.woken {
		*count++
		p.latest.setOutcome(o)
	}
	p.woken, p.latest, p.newer, p.marked = false, nil, 0, nil
	p.unread.Store(false)
}

// notified counts a notification. One that tells what has become of a node needs no read.
func (p *phase) notified(tells bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		return
	}
	p.newer++
	if tells {
		p.heed()
	} else {
		p.unread.Store(true)
	}
}

// follow marks the notification that was counted last.
func (p *phase) follow(w *wakeup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.newer > 0:
		p.marked = append(p.marked, w)
	case p.woken:
		p.latest.setOutcome(Wasted) // it came before
		p.latest = w
	}
}

// read records a reply to a read: the notifications before it belong to the phase.
func (p *phase) read() {
	if !p.unread.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heed()
}

// heed adds the newer notifications to the phase. All before the last of them have turned out to be wasted. They are
// counted now, not at the end of the phase, because a starving client never ends its phase.
func (p *phase) heed() {
	if p.newer == 0 {
		return
	}
	if p.woken {
		p.wasted++
		p.latest.setOutcome(Wasted)
	}
	p.wasted += p.newer - 1
	p.woken, p.latest, p.newer = true, nil, 0
	for i, w := range p.marked {
		if i == len(p.marked)-1 {
			p.latest = w
		} else {
			w.setOutcome(Wasted)
		}
	}
	p.marked = nil
	p.unread.Store(false)
}

// counts returns the numbers of useful and wasted notifications.
func (p *phase) counts() (useful, wasted int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.useful, p.wasted
}
