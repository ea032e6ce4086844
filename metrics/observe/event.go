package observe

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// An event is one cause with all that follows, over all paths: a change, or the end of a session, that no
// session made because it had been woken; the sessions that it wakes; what these ask and change until they are
// at rest; whom that wakes, and so on.
//
// Giving up a turn, by deleting a node of a line or one that sessions race for, is always a cause of its own: the
// holder did not do it because it had once been woken. Else a busy lock would be one event without end.
type event struct {
	tally
	op            string // see Event.Op
	handsOver     bool   // it began with the end of a session or of a turn
	paths         []string
	at            time.Time // of the first notification
	pattern       *pattern  // of the first notification
	several       bool      // there are notifications of other patterns
	changes       int64
	notifications int64
	woken         map[int64]bool // sessions, by serial
	made          map[deed]int   // changes by sessions at work
	open          int            // changes of which notifications may still come
	checked       time.Time      // when it was last found not to have ended
	done          bool           // it has been counted
}

// A session is at rest after a notification once it pauses for longer than shortPause. Where a session has
// ended or given up its turn, others take over, and pause for up to restAfter, all pauses together: they ask each
// other who is ahead, or start a server, as Patroni's members do. So may each session before it reads what has
// changed.
const (
	shortPause = 50 * time.Millisecond
	restAfter  = 2 * time.Second
)

// maxSame is how often a session can make the same change in an event in which others take over. In other events
// it can do so once, and no session can do what the event began with. All else are causes of their own: programs
// that write again and again what they watch themselves would never be at rest.
const maxSame = 4

// maxDeeds is how many different changes of sessions an event distinguishes. Further ones are causes of their own.
const maxDeeds = 1 << 12

// A deed is what a session has changed.
type deed struct {
	session int64
	op      drivers.Op
	pattern string
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

func (t *tally) lasts(until time.Time) {
	if until.After(t.rest) {
		t.rest = until
	}
}

// A work is what a session does after a notification until it is notified again, or at rest.
type work struct {
	tally               // until the event is known
	event *event        // nil until the cause of the notification is known
	last  time.Time     // when it was notified, asked, or was answered
	idle  time.Duration // in which nothing of it was without a reply, until last
	asked bool
}

// counts returns where its requests are counted.
func (w *work) counts() *tally {
	if w.event != nil {
		return &w.event.tally
	}
	return &w.tally
}

// pause returns how long it has paused until now.
func (w *work) pause(now time.Time) time.Duration {
	if w.flying > 0 {
		return 0
	}
	return now.Sub(w.last)
}

// over reports whether the session is at rest when it sends a request, which may be the read of what has changed.
func (w *work) over(now time.Time, reads bool) bool {
	pause := w.pause(now)
	patient := !w.asked && reads || w.event != nil && w.event.handsOver
	return pause > shortPause && !patient || w.idle+pause > restAfter || w.event != nil && w.event.done
}

// joins adds the work to the event that has woken the session.
func (w *work) joins(e *event) {
	t := w.tally
	w.tally, w.event = tally{flying: t.flying}, e
	e.requests, e.reads, e.writes, e.failed = e.requests+t.requests, e.reads+t.reads, e.writes+t.writes, e.failed+t.failed
	e.flying += t.flying
	e.lasts(t.rest)
}

// asks counts a request for the event that the session is at work on, or as one at rest.
func (s *session) asks(a *Analysis, m *drivers.Message, r *request) {
	gives := s.givesUp(a, m)
	w := s.work
	reads := r.place != nil && !m.Op.IsWrite() && s.pending(r.place) != nil
	if w != nil && m.Op != drivers.OpPing && (gives || w.over(a.now, reads)) {
		s.work, w = nil, nil
	}
	r.handsOver = gives || m.Op == drivers.OpClose
	if w == nil || m.Op == drivers.OpPing {
		a.events.atRest.count(m.Op, 1)
		return
	}
	w.idle, w.last, w.asked = w.idle+w.pause(a.now), a.now, true
	w.counts().count(m.Op, 1)
	w.await(1)
	r.work = w
}

// await adds to the requests without a reply.
func (w *work) await(n int) {
	w.flying += n
	if w.event != nil {
		w.event.flying += n
	}
}

// answered records the reply to a request of the work, or that none will come. It returns when the work had its
// latest reply before.
func (w *work) answered(now time.Time, failed bool) (before time.Time) {
	if w == nil {
		return before
	}
	w.await(-1)
	before, w.last = w.counts().rest, now
	w.counts().lasts(now)
	if failed {
		w.counts().failed++
	}
	return before
}

// givesUp reports whether the request gives up a turn.
func (s *session) givesUp(a *Analysis, m *drivers.Message) bool {
	turn := func(path string) bool {
		if c := s.children[path]; c != nil && c.line.place != c.place {
			return true
		}
		p := a.paths[path]
		return p != nil && p.raced
	}
	switch m.Op {
	case drivers.OpDelete:
		return turn(string(m.Path))
	case drivers.OpMulti:
		return slices.ContainsFunc(m.Parts, func(p drivers.TxnOp) bool { return p.Op == drivers.OpDelete && turn(string(p.Path)) })
	case drivers.OpClose:
		for path := range s.children {
			if turn(path) {
				return true
			}
		}
	}
	return false
}

// owned returns the patterns of the session's nodes.
func (s *session) owned() (all []string) {
	for _, c := range s.children {
		all = append(all, c.place.pattern.name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A cause is a write, or the end of a session, that may begin an event.
type cause struct {
	request
	paths            []string  // patterns of what a transaction or the end of a session has changed
	before, answered time.Time // the latest reply of its work before its own, and its own
}

// wrote has the meter give the request back with the notifications that it causes.
func (t *tap) wrote(m *drivers.Message, r request, before time.Time) {
	c := &cause{request: r, before: before, answered: t.a.now}
	if m.Op == drivers.OpClose {
		c.paths = t.s.owned()
	}
	for _, p := range m.Parts {
		if p.Op.IsWrite() {
			if name := t.a.lookUp(p.Path).pattern.name; !slices.Contains(c.paths, name) {
				c.paths = append(c.paths, name)
			}
		}
	}
	t.s.probe.Tag(c)
}

// An orphan is a session without a connection that has nodes. They are deleted if it does not come back.
type orphan struct {
	paths []string // patterns of the nodes
	event *event   // its end, nil until it is noticed
	until time.Time
}

// leaves records that a session has lost its connection.
func (a *Analysis) leaves(s *session) {
	if len(s.children) == 0 || len(a.orphans)+2*len(s.children) > a.limits.Children {
		return
	}
	o := &orphan{paths: s.owned(), until: a.now.Add(2*cmp.Or(s.timeout, defaultTimeout) + sweepInterval)}
	s.orphan = o
	for path, c := range s.children {
		a.orphans[path] = o
		if c.place.parent != nil {
			a.orphans[c.place.parent.path] = o
		}
	}
}

// returns records that a session has a connection again.
func (s *session) returns() {
	if s.orphan != nil {
		s.orphan.until, s.orphan = time.Time{}, nil
	}
}

// expired returns the session whose end can be what the notification of an unseen change tells, or nil.
func (a *Analysis) expired(n fanout.Notified) *orphan {
	o := a.orphans[n.Path]
	ends := n.Event == drivers.Deleted || n.Event == drivers.ChildrenChanged
	if o == nil || !ends || a.now.After(o.until) || o.event != nil && o.event.done {
		return nil
	}
	return o
}

// events adds up.
type events struct {
	live                    []*event // in the order in which they were last checked
	atRest                  tally
	requests, notifications metrics.Tally
	largest                 map[string]*Event // by cause
}

func newEvents() events {
	return events{requests: metrics.Tally{}, notifications: metrics.Tally{}, largest: map[string]*Event{}}
}

// eventOf returns the event that a change belongs to, which it may begin.
func (a *Analysis) eventOf(n fanout.Notified, c *change) *event {
	by, _ := n.Tag.(*cause)
	if by != nil && by.work != nil && by.work.event != nil && by.work.event.goesOn(a.byMeter[n.Writer], c) {
		return by.work.event
	}
	e := &event{op: c.op.String(), paths: []string{c.written}, at: c.first, pattern: c.pattern}
	switch {
	case n.Writer == nil:
		e.op, e.paths, e.handsOver = "", []string{c.pattern.name}, n.Event == drivers.Deleted
		if o := a.expired(n); o != nil {
			if o.event != nil {
				o.event.changes++
				return o.event
			}
			e.op, e.paths, e.handsOver, o.event = "expire", o.paths, true, e
		}
	case by != nil && len(by.paths) > 0:
		e.paths = by.paths
		if len(by.paths) > 1 && by.op == drivers.OpMulti {
			e.op = by.op.String()
		}
	}
	if strings.Join(e.paths, "") == "" { // which nodes the session had is not known
		e.paths = []string{c.pattern.name}
	}
	if by != nil { // its request belongs to what it causes
		from := &a.events.atRest
		if by.work != nil {
			from = by.work.counts()
		}
		e.handsOver = by.handsOver
		from.count(by.op, -1)
		if from.rest.Equal(by.answered) {
			from.rest = by.before
		}
		e.count(by.op, 1)
	}
	e.changes, e.checked, e.woken = 1, a.now, map[int64]bool{}
	a.endEvents(a.limits.Changes - 1)
	a.events.live = append(a.events.live, e)
	return e
}

// goesOn adds a change that a session made at work, and reports whether it belongs to the event.
func (e *event) goesOn(s *session, c *change) bool {
	if e.done || s == nil {
		return false
	}
	d, most := deed{s.serial, c.op, c.written}, 1
	if e.handsOver {
		most = maxSame
	}
	again := c.op.String() == e.op && slices.Equal(e.paths, []string{c.written})
	if n := e.made[d]; again || n >= most || n == 0 && len(e.made) >= maxDeeds {
		return false
	}
	if e.made == nil {
		e.made = map[deed]int{}
	}
	e.made[d]++
	e.changes++
	return true
}

// notified adds a notification that one of its changes has caused.
func (e *event) notified(s *session, w *wake) {
	e.notifications++
	e.woken[s.serial] = true
	e.several = e.several || w.pattern != e.pattern
	if w.at.Before(e.at) {
		e.at = w.at
	}
	e.lasts(w.at)
	w.work.joins(e)
}

// endEvents counts the events in which all sessions are at rest, and the oldest of those of which more than most
// have not ended.
func (a *Analysis) endEvents(most int) {
	for len(a.events.live) > 0 {
		e := a.events.live[0]
		early := len(a.events.live) > most
		if !early && a.now.Sub(e.checked) <= restAfter {
			return
		}
		a.events.live[0], a.events.live = nil, a.events.live[1:]
		if !early && (e.flying > 0 || e.open > 0 || a.now.Sub(e.rest) <= restAfter) {
			e.checked = a.now
			a.events.live = append(a.events.live, e)
			continue
		}
		if early && most > 0 {
			a.all.beyond.Early++
		}
		a.events.add(e)
	}
}

func (es *events) add(e *event) {
	e.done = true
	es.requests[e.requests]++
	es.notifications[e.notifications]++
	r := Event{At: e.at, Op: e.op, Paths: e.paths, Changes: e.changes, Notifications: e.notifications, Woke: int64(len(e.woken)),
		Requests: e.requests, Reads: e.reads, Writes: e.writes, FailedWrites: e.failed, Lasted: max(e.rest.Sub(e.at), 0), Several: e.several || e.changes > 1}
	e.woken, e.made = nil, nil
	cause := e.op + " " + strings.Join(e.paths, " ")
	same := es.largest[cause]
	switch {
	case same == nil && len(es.largest) >= maxCauses:
		return
	case same == nil:
		r.Times = 1
	case r.before(*same):
		r.Times = same.Times + 1
	default:
		same.Times++
		return
	}
	es.largest[cause] = &r
}

// maxCauses is how many causes of events are distinguished.
const maxCauses = 1 << 10

// Events are causes with all that followed over all paths, and what sessions asked for without a cause.
type Events struct {
	Count            int64 `json:"count"`
	NotificationsP50 int64 `json:"notifications_p50"` // of an event
	NotificationsMax int64 `json:"notifications_max"`
	RequestsP50      int64 `json:"requests_p50"` // of an event, with the one that began it
	RequestsMax      int64 `json:"requests_max"`
	// AtRest are the requests that belong to no event, and AtRestPerS those in a second of the whole observation.
	AtRest     int64   `json:"requests_at_rest"`
	AtRestPerS float64 `json:"requests_at_rest_per_s"`
	// Largest has the largest event of each cause, by notifications and requests together, at most ten.
	Largest []Event `json:"largest"`
}

// An Event is one change, or the end of a session, with all that followed until all sessions were at rest.
type Event struct {
	At time.Time `json:"at"` // of the first notification
	// Op is the operation that began it; "close" is the end of a session by its client, "expire" that by the
	// service, and "" a change that another process made.
	Op    string   `json:"operation"`
	Paths []string `json:"paths"` // patterns of the paths that it changed
	Times int64    `json:"times"` // events of this cause; the following is of the largest

	Changes       int64         `json:"changes"` // that caused notifications, the first one and those of woken sessions
	Notifications int64         `json:"notifications"`
	Woke          int64         `json:"woke"`     // sessions
	Requests      int64         `json:"requests"` // of the sessions that it woke, and the one that began it
	Reads         int64         `json:"reads"`
	Writes        int64         `json:"writes"`
	FailedWrites  int64         `json:"failed_writes"`
	Lasted        time.Duration `json:"lasted_ns"` // from the first notification to the last reply
	// Several says that the event is more than one change, or woke sessions at more than one path pattern.
	Several bool `json:"several"`
}

func (e Event) before(o Event) bool { return compareEvents(e, o) < 0 }

// compareEvents puts the event that cost most first, and of equal ones the earliest.
func compareEvents(x, y Event) int {
	return cmp.Or(cmp.Compare(y.Notifications+y.Requests, x.Notifications+x.Requests), x.At.Compare(y.At),
		cmp.Compare(x.Op, y.Op), slices.Compare(x.Paths, y.Paths))
}

// report describes the events that have ended.
func (es *events) report(lasted time.Duration) Events {
	r := Events{
		Count: es.requests.Count(), NotificationsP50: es.notifications.Quantile(50), NotificationsMax: es.notifications.Max(),
		RequestsP50: es.requests.Quantile(50), RequestsMax: es.requests.Max(), AtRest: es.atRest.requests,
		Largest: []Event{},
	}
	if s := lasted.Seconds(); s > 0 {
		r.AtRestPerS = float64(r.AtRest) / s
	}
	for _, e := range es.largest {
		r.Largest = append(r.Largest, *e)
	}
	slices.SortFunc(r.Largest, compareEvents)
	r.Largest = r.Largest[:min(len(r.Largest), maxRanked)]
	return r
}
