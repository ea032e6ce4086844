package fanout

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A notification is a packet that reports a change. It may not be assigned to a write yet.
//
// Before the change that it reports, the session had seen the state up to positions after and
// since. A later reply on the same connection, at position before, includes the change.
type notification struct {
	state      *sessionState
	nth        int64 // among the session's
	path       string
	event      drivers.EventType
	pos        int64 // of the change, or 0
	at         time.Time
	due        serial             // serial of the next write request when it came: earlier ones were in flight or answered
	armed      *table             // where its watch was armed
	after      int64              // position of the reply that armed its watch
	since      int64              // position of the latest reply before it
	surely     int64              // after is at least that, also if earlier notifications of a persistent watch were of other writes
	before     int64              // position of the next reply, 0 until there is one
	rearmed    bool               // the server may have sent it to catch up after a reconnect
	persistent []*persistentWatch // the session's persistent watches that it came from
	unmatched  bool               // it belongs to no write of this Meter's sessions
	sound      bool               // it was delivered as promised, as far as that is checked
	wakeup     *wakeup            // nil if there was no follower when it came
}

// unbounded is later than every position.
const unbounded = math.MaxInt64

// bound records that a reply at pos followed the session's notifications so far.
func (l *ledger) bound(s *sessionState, pos int64) {
	for _, n := range s.open {
		n.before = pos
		if n.unmatched {
			l.assignForeign(n)
		}
	}
	l.open -= len(s.open)
	s.open = s.open[:0]
	s.hasOpen.Store(false)
}

// resolve assigns the notifications for which all possible causes are known.
func (l *ledger) resolve() {
	for len(l.waiting) > 0 && l.waiting[0].due <= l.inFlight.first {
		l.assign(l.waiting[0])
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
	}
}

// assign assigns a notification to its write. It is called in the order in which notifications
// came.
func (l *ledger) assign(n *notification) {
	n.armed.fired = n.armed.fired[1:]
	w := l.causeOf(n)
	switch {
	case w != nil:
		l.notify(&w.trigger, n)
	case n.pos > 0:
		w = l.writeAt(n.pos, true)
		l.record(w, []byte(n.path), n.event)
		l.notify(&w.trigger, n)
	case n.before > 0:
		l.assignForeign(n)
	default:
		n.unmatched = true // until bound
	}
	if w != nil {
		if w.foreign {
			l.shows(n, n.pos-1, n.pos, false)
		}
		for _, k := range n.persistent {
			k.report(n.armed, w.pos)
		}
	}
	l.trim(n.armed)
}

// shows lets the notification show the other watchers of the node that this was changed, by no session that is known.
func (l *ledger) shows(n *notification, after, before int64, again bool) {
	if n.sound && n.due <= l.inFlight.first { // else a write in flight may turn out to be its cause
		l.delivery.Unseen([]byte(n.path), n.event, after, before, again)
	}
}

// causeOf returns the known write that caused the notification, or nil.
func (l *ledger) causeOf(n *notification) *write {
	if n.pos > 0 {
		return l.writes[n.pos]
	}
	for _, k := range n.persistent {
		n.after = max(n.after, k.upTo(n.armed)) // earlier ones have been assigned
	}
	log := n.armed.log
	i := n.armed.indexAfter(n.after)
	if i == len(log) {
		return nil
	}
	t := log[i]
	// The first write after the arming fires the watch with the event type of its change, unless the
	// server compared states after a reconnect. Its position is at most that of the next reply.
	// If either does not hold, another change fired the watch earlier.
	if !t.fires(n.event, len(n.persistent) > 0) && !n.rearmed || n.before > 0 && t.pos > n.before {
		return nil
	}
	return t.write
}

// A phase is what a client does while it waits for one thing, for example its turn at a lock. The last
// notification that can have led to the end of the phase was useful, the others were wasted. A notification
// that says only that something has changed leads to nothing before the client reads. So one that comes
// after the client's last read of the phase does not belong to the phase: the client already had what it
// waited for.
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

// heed adds the newer notifications to the phase. All before the last of them have turned out to be wasted.
// They are counted now, not at the end of the phase, because a starving client never ends its phase.
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
