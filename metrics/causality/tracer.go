package causality

import (
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A session is at rest after a notification once it pauses for longer than Pause. Where a session
// has ended or given up its turn, others take over, and pause for up to Patience, all pauses together:
// they ask each other who is ahead, or start a server, as Patroni's members do, before they ask for what was given up or
// take it. So may each session before it reads what has changed. Who ends its session after a pause, or asks for something
// elsewhere, was at rest.
const (
	// Pause is the longest one of a program that goes on with the same work: some round trips, beside other work of a machine.
	Pause = 50 * time.Millisecond
	// Patience is how long it takes at most until a session acts on what it was told. Patroni's members need 1.3 s.
	Patience = 2 * time.Second
)

// maxSame is how often a session can make the same change in an event in which others take over. In other
// events it can do so once, and no session can do what the event began with. All else are causes of their
// own: programs that write again and again what they watch themselves would never be at rest.
const maxSame = 4

// maxDeeds is how many different changes of sessions an event distinguishes. Further ones are causes of
// their own.
const maxDeeds = 1 << 12

// maxCauses is how many causes of events are distinguished.
const maxCauses = 1 << 10

// A Tracer adds events up. It must be used by one goroutine at a time, with times that do not decrease by
// much.
type Tracer struct {
	limit                   int      // of events that have not ended
	live                    []*Trace // in the order in which they were last checked
	atRest                  tally
	requests, notifications metrics.Tally     // of events
	largest                 map[string]*Event // by cause
	early                   int64
}

// New returns a Tracer that follows at most limit events at once.
func New(limit int) *Tracer {
	return &Tracer{
		limit: limit, requests: metrics.Tally{}, notifications: metrics.Tally{}, largest: map[string]*Event{},
	}
}

// A tally counts requests.
type tally struct {
	requests, reads, writes, failed int64
	flying                          int       // without a reply
	rest                            time.Time // of the last reply or notification
}

// count adds n requests of one kind.
func (t *tally) count(op drivers.Op, n int64) {
	t.requests += n
	switch {
	case op.IsRead():
		t.reads += n
	case op.IsWrite():
		t.writes += n
	}
}

func (t *tally) extend(to time.Time) {
	if to.After(t.rest) {
		t.rest = to
	}
}

// A Trace is an event that may not have ended.
type Trace struct {
	tally
	begun         Change
	several       bool // sessions were notified at more than one pattern
	changes       int64
	notifications int64
	pattern       string         // of the first notification
	woken         map[int64]bool // sessions
	made          map[deed]int   // changes by sessions at work
	open          int            // changes of which notifications may still come
	working       int            // sessions that were woken last by it, and are not known to be at rest
	checked       time.Time      // when it was last found not to have ended
	done          bool           // it has been counted
}

// A deed is what a session has changed.
type deed struct {
	session  int64
	op, path string
}

// A Work is what a session does after a notification until it is notified again, or at rest.
type Work struct {
	tally               // until the event is known
	trace *Trace        // nil until the cause of the notification is known
	last  time.Time     // when it was notified, asked, or was answered
	idle  time.Duration // in which nothing of it was without a reply, until last
	asked bool
	ended bool // the session was notified again, or is at rest
}

// NewWork returns the work of a session that is notified.
func NewWork(now time.Time) *Work { return &Work{last: now} }

// counts returns where its requests are counted.
func (w *Work) counts() *tally {
	if w.trace != nil {
		return &w.trace.tally
	}
	return &w.tally
}

// pause returns how long it has paused until now.
func (w *Work) pause(now time.Time) time.Duration {
	if w.flying > 0 {
		return 0
	}
	return now.Sub(w.last)
}

// End records that the session is notified again, or is at rest. The work may be nil.
func (w *Work) End() {
	if w == nil || w.ended {
		return
	}
	w.ended = true
	if w.trace != nil {
		w.trace.working--
	}
}

// atRest reports whether the session is at rest when it sends a request.
func (w *Work) atRest(now time.Time, to Purpose) bool {
	pause := w.pause(now)
	patient := !w.asked && to == Reads || to != Elsewhere && w.trace != nil && w.trace.begun.HandsOver
	return pause > Pause && !patient || w.idle+pause > Patience || w.trace != nil && w.trace.done
}

// A Purpose says what a request has to do with what its session was notified of last.
type Purpose int

// The purposes.
const (
	Elsewhere Purpose = iota // nothing
	Nearby                   // it is about a node beside it
	Reads                    // it asks for what has changed
)

// Ask counts a request that a session sends, and returns its work, nil if it is at rest. What a session
// does to hand its turn over is always a cause of its own: it did not do it because it had once been
// woken. Else a busy lock would be one event without end.
func (t *Tracer) Ask(w *Work, now time.Time, op drivers.Op, handsOver bool, to Purpose) *Work {
	if w == nil || handsOver || w.atRest(now, to) {
		w.End()
		t.CountAtRest(op)
		return nil
	}
	w.idle, w.last, w.asked = w.idle+w.pause(now), now, true
	w.counts().count(op, 1)
	w.await(1)
	return w
}

// CountAtRest counts a request that has nothing to do with what woke its session.
func (t *Tracer) CountAtRest(op drivers.Op) { t.atRest.count(op, 1) }

// await adds to the requests without a reply.
func (w *Work) await(n int) {
	w.flying += n
	if w.trace != nil {
		w.trace.flying += n
	}
}

// Answered records the reply to a request of the work, or that none will come. It returns the time of the
// reply before. The work may be nil.
func (w *Work) Answered(now time.Time, failed bool) (before time.Time) {
	if w == nil {
		return before
	}
	w.await(-1)
	before, w.last = w.counts().rest, now
	w.counts().extend(now)
	if failed {
		w.counts().failed++
	}
	return before
}

// A Cause is a request that may begin an event: a write, or the end of a session.
type Cause struct {
	Op        drivers.Op
	Work      *Work     // that Ask returned
	HandsOver bool      // it ends its session, or gives up a turn
	Paths     []string  // patterns of what a transaction, or the end of a session, has changed
	Answered  time.Time // when it was answered
	Before    time.Time // what Answered returned
}

// A Change is a change that causes notifications.
type Change struct {
	At        time.Time // of the first notification
	Session   int64     // that made it, 0 if it is not known
	Op        string    // see Event.Op
	Paths     []string  // patterns
	HandsOver bool      // a session ends, or gives up a turn
}

// Begin returns the event that a change belongs to, which it may begin. Its request is nil if it is not
// known.
func (t *Tracer) Begin(c Change, by *Cause, now time.Time) *Trace {
	if by != nil && by.Work != nil && by.Work.trace.continues(c) {
		return by.Work.trace
	}
	e := &Trace{changes: 1, checked: now, woken: map[int64]bool{}, open: 1}
	if by != nil { // its request belongs to what it causes
		from := &t.atRest
		if by.Work != nil {
			from = by.Work.counts()
		}
		if by.Work == nil || by.Work.trace == nil || !by.Work.trace.done {
			from.count(by.Op, -1)
			e.count(by.Op, 1)
		}
		if from.rest.Equal(by.Answered) {
			from.rest = by.Before
		}
		c.HandsOver = by.HandsOver
		if len(by.Paths) > 0 {
			c.Paths = by.Paths
		}
		if len(by.Paths) > 1 {
			c.Op = by.Op.String()
		}
	}
	e.begun = c
	t.prune(now, t.limit-1)
	t.live = append(t.live, e)
	return e
}

// continues adds a change that a session made at work, and reports whether it belongs to the event.
func (e *Trace) continues(c Change) bool {
	if e == nil || e.done || c.Session == 0 {
		return false
	}
	d, most := deed{c.Session, c.Op, c.Paths[0]}, 1
	if e.begun.HandsOver {
		most = maxSame
	}
	again := c.Op == e.begun.Op && slices.Equal(c.Paths, e.begun.Paths)
	if n := e.made[d]; again || n >= most || n == 0 && len(e.made) >= maxDeeds {
		return false
	}
	if e.made == nil {
		e.made = map[deed]int{}
	}
	e.made[d]++
	e.Extend()
	return true
}

// Extend adds a change to the event.
func (e *Trace) Extend() { e.changes, e.open = e.changes+1, e.open+1 }

// Complete records that no further notification of one of its changes can come.
func (e *Trace) Complete() { e.open-- }

// Ended reports whether all its sessions are at rest.
func (e *Trace) Ended() bool { return e.done }

// Notify adds a notification of the session at a path pattern that one of its changes has caused. It
// begins the work.
func (e *Trace) Notify(session int64, at time.Time, pattern string, w *Work) {
	if e.notifications == 0 {
		e.pattern = pattern
	}
	e.notifications++
	e.woken[session] = true
	e.several = e.several || pattern != e.pattern
	if at.Before(e.begun.At) {
		e.begun.At = at
	}
	e.extend(at)
	o := w.tally
	w.tally, w.trace = tally{flying: o.flying}, e
	e.requests, e.reads = e.requests+o.requests, e.reads+o.reads
	e.writes, e.failed = e.writes+o.writes, e.failed+o.failed
	e.flying += o.flying
	e.extend(o.rest)
	if !w.ended {
		e.working++
	}
}

// Prune counts the events that have ended. It takes constant time for each event.
func (t *Tracer) Prune(now time.Time) { t.prune(now, t.limit) }

// Finish counts all events as ended.
func (t *Tracer) Finish() {
	for _, e := range t.live {
		t.end(e)
	}
	t.live = nil
}

// Early returns how many events were counted before all their sessions were at rest, because there were
// too many.
func (t *Tracer) Early() int64 { return t.early }

// prune counts the events in which all sessions are at rest, and of more than most others the oldest.
func (t *Tracer) prune(now time.Time, most int) {
	for len(t.live) > 0 && now.Sub(t.live[0].checked) > Patience {
		e := t.live[0]
		t.live[0], t.live = nil, t.live[1:]
		if e.flying > 0 || e.open > 0 || now.Sub(e.rest) <= Patience {
			e.checked = now
			t.live = append(t.live, e)
		} else {
			t.end(e)
		}
	}
	if len(t.live) <= most {
		return
	}
	t.live = slices.DeleteFunc(t.live, func(e *Trace) bool { return !e.canGrow() && t.end(e) })
	for len(t.live) > most/2 { // so that it is long until the next time
		t.early++
		t.end(t.live[0])
		t.live[0], t.live = nil, t.live[1:]
	}
}

// canGrow reports whether the event may get further requests or notifications.
func (e *Trace) canGrow() bool { return e.flying+e.open+e.working > 0 }

// end counts an event. It returns true.
func (t *Tracer) end(e *Trace) bool {
	e.done = true
	t.requests[e.requests]++
	t.notifications[e.notifications]++
	r, cause := e.describe(), e.begun.Op+" "+strings.Join(e.begun.Paths, " ")
	e.woken, e.made = nil, nil
	same := t.largest[cause]
	switch {
	case same == nil && len(t.largest) >= maxCauses:
		return true
	case same == nil:
		r.Times = 1
	case compare(r, *same) < 0:
		r.Times = same.Times + 1
	default:
		same.Times++
		return true
	}
	t.largest[cause] = &r
	return true
}
