package observe

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/metrics/pathname"
	"github.com/stampede-bench/stampede/metrics/pattern"
	"github.com/stampede-bench/stampede/metrics/polling"
)

// A session is what is known of one client's session, or of one of its connections if sessions have no number.
type session struct {
	*activity
	id          int64  // of the service, 0 if it is not known
	client      string // host:port of its latest connection
	of          *client.Session
	timeout     time.Duration
	anonymous   bool // its connection was joined after the session had been opened
	audited     bool // it is known of which of its watches it is told
	ordered     bool // its service tells of a change before any reply shows it
	counted     bool // among those that are not judged
	connections int
	heard       time.Time // of its latest request
	left        time.Time // end of its latest connection, or when the service heard of it last, if it was silent for its timeout
	opened      time.Time // zero if that was not observed
	rearming    rearming
	probe       *fanout.Session

	notifications int64
	watches       map[watchKey]standingWatch
	keeps         int             // watches, several on one path each
	trees         int             // recursive ones among them
	unassigned    map[int64]*wake // notifications whose cause is not known yet
}

// A watchKey names a watch of a session.
type watchKey struct {
	path     string
	children bool
	lasting  bool // it stays when it fires
}

// recursive reports whether the watch covers all nodes below its path.
func (k watchKey) recursive() bool { return k.children && k.lasting }

// lastingOver returns the keys of the lasting watches that may cover the place.
func (s *session) lastingOver(p *place) []watchKey {
	return []watchKey{{p.path, false, true}, {s.treeOver(p).path, true, true}}
}

// fires records that a notification of the node came by a lasting watch with the number, if there is one, and reports
// whether that has fired before.
func (s *session) fires(a *Analysis, p *place, number int) (further bool) {
	for _, k := range s.lastingOver(p) {
		w, stands := s.watches[k]
		if !stands {
			continue
		}
		if told := w.fired[number]; told != nil {
			told.reused, further = told.reused || told.read || a.now.Sub(told.at) > causality.Patience, true
			continue
		}
		if w.fired == nil {
			w.fired = map[int]*firing{}
			s.watches[k] = w
		}
		of := w.pattern.Op(k.lastingOp())
		of.Fired++
		w.fired[number] = &firing{of: of, at: a.now}
	}
	return further
}

// readsAfter records a read of what lasting watches that have fired cover.
func (s *session) readsAfter(p *place) {
	for _, k := range append(s.lastingOver(p), watchKey{p.path, true, true}) {
		for _, told := range s.watches[k].fired {
			told.read = true
		}
	}
}

// lastingOp returns the operation that arms the lasting watch.
func (k watchKey) lastingOp() drivers.Op {
	if k.children {
		return drivers.OpWatchTree
	}
	return drivers.OpWatchNode
}

// A standingWatch is a watch that is armed.
type standingWatch struct {
	at      time.Time
	pattern *pattern.Pattern
	more    int64 // further watches of the session on the path
	dead    bool  // it was set on a sequential node that was gone, whose name will not come again
	// fired has those that last and have told of a change, by their numbers.
	fired map[int]*firing
}

// A firing is what came after a lasting watch told of a change.
type firing struct {
	of     *pattern.Counts // where it is counted
	at     time.Time
	read   bool // the session has read since
	reused bool // and was told of another change by it then
	spent  bool // the session has given it up, when it had told of one change
}

// spend counts that the session goes on without the watch, once, unless it has used it for more than one change.
func (f *firing) spend() {
	if !f.reused && !f.spent {
		f.spent = true
		f.of.Spent++
	}
}

// maxRaces is how many nodes are remembered for each session that it could not create.
const maxRaces = 32

func (a *Analysis) newSession(c traffic.Connection, of *client.Session) *session {
	s := &session{
		activity: a.newActivity(), client: c.Client, of: of,
		probe: a.meter.Session(), watches: map[watchKey]standingWatch{}, unassigned: map[int64]*wake{},
	}
	a.byMeter[s.probe] = s
	a.all.openSessions++
	a.all.mostSessions = max(a.all.mostSessions, a.all.openSessions)
	return s
}

// session returns the session of a connection, which may have had others before, and nil if there are too
// many.
func (a *Analysis) session(s traffic.Session, t *tap) *session {
	if known := a.sessions[s.ID]; known != nil && s.ID != 0 {
		if known.over {
			a.all.openSessions++
		}
		known.client, known.over = t.c.Client, false
		known.of.Resume()
		t.of.Serve(known.of)
		a.all.resumed++
		known.rearming = rearming{since: a.now}
		known.reconnect()
		if known.connections > 0 { // what the earlier connection still brings may come again
			known.loseSight(a, "")
		}
		return known
	}
	if a.crowded() {
		return nil
	}
	n := a.newSession(t.c, t.of.Begin(true))
	n.id, n.timeout, n.ordered = s.ID, s.Timeout, s.Ordered
	if !s.Resumed {
		n.opened = a.now
		a.all.churn.Opened++
		if s.Ordered {
			n.probe.Audit()
			n.audited = true
			a.all.audited++
		}
	}
	a.sessions[s.ID] = n
	return n
}

// loseSight ends the audit of the session, of which a part is not seen for the cause. What it watches is not judged from now on.
func (s *session) loseSight(a *Analysis, cause traffic.Cause) {
	if s.audited && len(s.watches) > 0 && !cause.Harmless() {
		s.unjudged(a)
	}
	s.stopAudit()
}

// unjudged counts the session, which watches something while it is not known of what it is told.
func (s *session) unjudged(a *Analysis) {
	if s.ordered && !s.counted {
		s.counted = true
		a.all.unjudged++
	}
}

// stopAudit ends the audit of the session. What it watches from now on is not audited.
func (s *session) stopAudit() {
	if s.audited {
		s.audited = false
		s.probe.StopAudit()
	}
}

// crowded reports whether no further session is followed, and counts the one that is not.
func (a *Analysis) crowded() bool {
	if len(a.byMeter) < a.limits.Sessions {
		return false
	}
	a.all.beyond.Sessions++
	return true
}

func (a *Analysis) anonymous(t *tap) *session {
	if a.crowded() {
		return nil
	}
	s := a.newSession(t.c, t.of.Begin(false))
	s.anonymous = true
	s.rearming.since = a.now
	return s
}

// defaultTimeout is how long a session without a known timeout is waited for.
const defaultTimeout = time.Minute

// sweepInterval is how often the sessions without a connection are looked for: thousands of
// connections may end at once, and each look takes time for every session.
const sweepInterval = time.Second

// expire ends the sessions that have had no connection for longer than their timeout.
func (a *Analysis) expire() {
	if a.now.Sub(a.swept) < sweepInterval {
		return
	}
	a.swept = a.now
	maps.DeleteFunc(a.orphans, func(_ string, o *orphan) bool { return a.now.After(o.until) })
	for _, s := range a.byMeter {
		timeout := s.timeout
		if timeout <= 0 {
			timeout = defaultTimeout
		}
		if s.connections == 0 && a.now.Sub(s.left) > timeout {
			if !s.anonymous || s.of.Lapse() {
				a.all.lost++
			}
			a.end(s)
		}
	}
}

// end drops a session.
func (a *Analysis) end(s *session) {
	s.leave(a)
	s.stopAudit()
	s.probe.End()
	if !s.over {
		s.of.End(a.now)
		a.all.openSessions--
	}
	for k := range s.watches {
		a.disarm(s, k)
	}
	delete(a.byMeter, s.probe)
	if len(s.unassigned) > 0 {
		a.ended[s.probe] = s
	}
	if a.sessions[s.id] == s {
		delete(a.sessions, s.id)
	}
	s.watches, s.probe = nil, nil
}

// disconnected records the end of a connection. The service ends a session of which it has not heard for its timeout, and
// closes the connection then.
func (s *session) disconnected(at time.Time) {
	s.left = at
	if !s.anonymous && s.timeout > 0 && !s.heard.IsZero() && at.Sub(s.heard) > s.timeout {
		s.left = s.heard
	}
}

func (s *session) closed(a *Analysis, pos int64) {
	if !s.over {
		a.all.openSessions--
	}
	s.over = true
	s.of.End(a.now)
	a.all.ended++
	if !s.opened.IsZero() {
		a.all.churn.End(a.now.Sub(s.opened), s.timeout)
	}
	s.settle(a)
	s.ownsNoMore(a, 0, pos)
	for k := range s.watches {
		a.disarm(s, k)
	}
}

// ownsNoMore removes the session's ephemeral nodes, of one lease if it is not 0.
func (s *session) ownsNoMore(a *Analysis, lease, pos int64) {
	for path, c := range s.children {
		if lease == 0 || c.lease == lease {
			if lease != 0 {
				c.place.pattern.Revoked++
				pattern.AddTo(&c.place.pattern.Leavers, s.of)
				s.leavesLine(a, c)
				c.leaves()
			}
			delete(s.children, path)
			a.remove(c, pos)
		}
	}
}

// countRequest counts a request.
func (s *session) countRequest(a *Analysis, m *drivers.Message, p *place, r *request) {
	o := &p.pattern.Ops[m.Op]
	o.Requests++
	if m.Op.IsWrite() || m.Op.IsRead() || m.Op.IsWatch() {
		pattern.AddTo(&p.pattern.Ops[m.Op].By, s.of)
	}
	if m.Op == drivers.OpCreate {
		p.pattern.Modes[m.Mode&3]++
	}
	if m.Op == drivers.OpCreate || m.Op == drivers.OpSet {
		s.tried[p.pattern] = true
	}
	c := s.children[p.path]
	if m.Op != drivers.OpCreate && (c == nil || m.Op != drivers.OpDelete) {
		s.rounds.Asked(p.path, pathname.Parent(p.path), m.Op.IsRead() && !m.Watch)
	}
	if c != nil && m.Op == drivers.OpDelete {
		s.leavesLine(a, c)
	}
	r.offers = append(r.offers, s.offers(m, p)...)
	s.beginsToWait(a, m, p)
}

// leavesLine records that the session asks to delete its node, or has revoked the lease of it, and counts that of a line.
func (s *session) leavesLine(a *Analysis, c *child) {
	s.takeTurn(a)
	again := c.leaving
	c.leaving = true
	if w := s.waits[c.line.place.path]; w != nil {
		defer w.enters(a, s, pattern.Leaving)
	}
	if again || c.line.place == c.place { // a single node is no line
		return
	}
	left := &c.place.pattern.Left
	switch {
	case c.turn:
		left.First++
	case c.awaits:
		left.Waiting++
	default:
		left.Behind++
	}
	if !c.watched {
		left.Free++
	}
	if r := s.rounds.Deleted(c.place.path, a.now); r.Requests > 0 {
		c.place.pattern.Rounds.Add(r, !c.turn)
	}
}

// beginsToWait begins the wait that a request begins, and ends those in which the session had its turn:
// it uses it. Notifications that it causes itself come before the reply.
func (s *session) beginsToWait(a *Analysis, m *drivers.Message, p *place) {
	if m.Op.IsWrite() {
		s.takeTurn(a)
		if m.Op == drivers.OpCreate && m.Mode&drivers.Sequential == 0 {
			s.race(p)
		}
		for _, w := range s.waits {
			if w.stage == pattern.Turned {
				w.finishLast(a, s)
			}
		}
	}
	if p.parent == nil {
		return
	}
	switch m.Op {
	case drivers.OpCreate:
		if m.Mode == drivers.Ephemeral|drivers.Sequential {
			s.begin(a, p.parent, pattern.Waiting)
		}
	case drivers.OpSet:
		p.sets++
		w := s.waits[p.parent.path]
		switch {
		case w != nil && w.stage == pattern.Voted && !p.votes():
			s.endWait(a, w)
		case a.lines[p.path] == nil && a.lines[p.parent.path] == nil && p.votes():
			s.begin(a, p.parent, pattern.Voted)
		}
	}
}

// answered counts a reply and follows what the session does after a notification.
func (s *session) answered(a *Analysis, m *drivers.Message, p *place, r *request) {
	o := &p.pattern.Ops[m.Op]
	o.Latency.Add(a.now.Sub(r.at))
	if armed(m) {
		o.Watched++
	}
	atWork := r.work != nil
	switch {
	case m.Op.IsWrite() && m.Err != nil:
		o.Failed++
		s.loses(a, m, p, r.woke.contends(r.at))
		if errors.Is(m.Err, drivers.ErrNodeExists) {
			o.Lost++
			p.raced = p.raced || s.children[p.path] == nil
			if m.Mode&drivers.Sequential == 0 && len(s.races) < maxRaces {
				s.races[p.path] = true
			}
		}
		if w := s.pending(p); w != nil && !errors.Is(m.Err, drivers.ErrUnsupported) { // else another part is the reason
			w.failed = w.failed || w.place.holds(p)
			if atWork {
				w.lost, w.rest, r.work = w.lost+1, a.now, nil // once for a transaction
			}
		}
	case m.Op.IsWrite():
		s.wrote(a, m, p, r)
	case m.Op.IsRead():
		s.read(a, m, p, atWork)
	case m.Op.IsWatch() && m.Err == nil:
		if w := s.pending(p); w != nil {
			if w.rearmed = true; atWork {
				w.rest = a.now
			}
		}
		s.lookAhead(a, m, p)
		a.arm(s, watchKey{p.path, m.Op == drivers.OpWatchTree, true}, p, m)
	}
}

// wrote records a write.
func (s *session) wrote(a *Analysis, m *drivers.Message, p *place, r *request) {
	s.takeTurn(a)
	if w := s.pending(p); w != nil && r.work != nil {
		w.rest = a.now
	}
	for _, w := range s.others {
		switch n := w.latest(); {
		case n == nil || !w.isAbout(p):
		case n.place.holds(p):
			n.late = n.late || n.place == p && !slices.Contains(r.offers, n) // it tells the session what it does itself
			w.wins(a, s)
		default:
			n.beside = true
		}
	}
	for _, w := range r.offers {
		if w.holds(p) {
			w.gets()
		}
	}
	s.wins(a, m, p, r.woke.contends(r.at), r.work != nil)
	if m.Op != drivers.OpDelete {
		p.author = s.serial
	} else if p.author != s.serial {
		pattern.AddTo(&p.pattern.Takers, s.of)
	}
	switch m.Op {
	case drivers.OpCreate:
		delete(s.races, p.path)
		p.sets = 0
		p.raced = p.raced || s.freed == p.path
		a.created(s, m, p)
		if c := s.children[p.path]; c != nil {
			c.lease = r.lease
			if c.line.place != p {
				s.rounds.Created(c.line.place.path, p.path, r.at)
			}
		}
	case drivers.OpDelete:
		s.stock.took(p)
		a.deleted(s, m.Pos, p)
	case drivers.OpSet:
		if m.Mode&drivers.Ephemeral != 0 && s.children[p.path] == nil { // a put with a lease
			a.created(s, m, p)
			if c := s.children[p.path]; c != nil {
				c.lease = r.lease
			}
		}
		s.set(a, p)
	}
}

// set records that the session has set the node of its line: it is in.
func (s *session) set(a *Analysis, p *place) {
	if l := a.lines[p.path]; l != nil {
		if c := s.own(l); c != nil {
			c.entered = true
			if w := s.waits[p.path]; w != nil {
				w.enters(a, s, pattern.Inside)
			}
		}
	}
}

func (s *session) read(a *Analysis, m *drivers.Message, p *place, atWork bool) {
	if m.Err != nil {
		p.pattern.Ops[m.Op].Failed++
	}
	gone := false // whether what it waited for is
	if w := s.readsFor(p); w != nil {
		w.read(a, m, atWork)
		gone = missing(m) && w.event == drivers.Deleted && w.place.path == p.path && !w.failed && !s.tried[p.pattern] // else it may try once more
	}
	s.readsAfter(p)
	for _, in := range s.waitsFor(p) {
		in.answered(a, s)
		if gone && in.other {
			in.finishLast(a, s)
		}
	}
	l := a.lines[p.path]
	if m.Op == drivers.OpChildren && m.Err == nil && l != nil {
		s.takeTurn(a)
		s.rounds.Listed(p.path, a.now)
		s.lists = &listing{line: l, pos: m.Pos}
		if c := s.own(l); c != nil {
			c.awaits, c.watched = false, false
		}
		s.stock = stock{queue: p}
	}
	if m.Op == drivers.OpGet {
		s.stock.tried(p)
	}
	if armed(m) {
		s.lookAhead(a, m, p)
		a.arm(s, watchKey{p.path, m.Op == drivers.OpChildren, false}, p, m)
		return
	}
	s.polled(a, m, p)
}

// polled counts a read without a watch that repeats the session's last one.
func (s *session) polled(a *Analysis, m *drivers.Message, p *place) {
	digest := m.Digest
	if errors.Is(m.Err, drivers.ErrNoNode) {
		digest = ^uint64(0) // that there is no node is an answer like any other
	}
	r := s.polls.Add(a.now, p.path, m.Op, digest, polling.Done{Notified: s.told, Written: s.writes})
	if r.Polls {
		o := &p.pattern.Ops[m.Op]
		o.Repeats++
		o.Looped = o.Looped || o.Again[s.of]
		pattern.AddTo(&o.Again, s.of)
	}
	if r.Unchanged {
		p.pattern.Unchanged++
		p.pattern.Interval.Add(r.After)
	}
}

// arm enters the watch that a reply has armed. It may stand beside another one of the session.
func (a *Analysis) arm(s *session, k watchKey, p *place, m *drivers.Message) {
	s.waitsAt(p.path, true)
	if c := s.standsIn(a, p); c != nil {
		c.awaits, c.watched = true, true
	}
	if !s.audited {
		s.unjudged(a)
	}
	w, again := s.watches[k]
	switch {
	case again && m.Number == 0:
		if !s.anonymous {
			s.rearmedOne(a)
		}
		return
	case a.watches.Now >= int64(a.limits.Watches):
		a.all.unfollowed++
		return
	case again:
		w.more++
		for _, told := range w.fired { // they stand until the service has confirmed their end
			told.spend()
		}
	default:
		w = standingWatch{at: a.now, pattern: p.pattern, dead: missing(m) && p.pattern.Sequential() > 0}
		s.rearmedBroken(a, k, a.now)
		pattern.AddTo(&p.pattern.Watchers, s.of)
		p.pattern.Audited = p.pattern.Audited || s.audited
	}
	s.watches[k] = w
	a.stand(s, k, 1)
}

func (a *Analysis) disarm(s *session, k watchKey) {
	if w, armed := s.watches[k]; armed {
		a.stand(s, k, -1-w.more)
		delete(s.watches, k)
	}
}

// endedKey names the watch that a message ends.
func endedKey(m *drivers.Message) watchKey {
	return watchKey{string(m.Path), m.Removes == drivers.TreeWatch, true}
}

// endedWatch records the end of one watch. It reports whether the session has others of its kind.
func (a *Analysis) endedWatch(s *session, m *drivers.Message) bool {
	k := endedKey(m)
	w := s.watches[k]
	if w.more == 0 {
		s.waitsAt(k.path, false)
		a.disarm(s, k)
		return false
	}
	w.more--
	delete(w.fired, m.Number)
	s.watches[k] = w
	a.stand(s, k, -1)
	return true
}

// stand counts watches of the session that begin or end to stand.
func (a *Analysis) stand(s *session, k watchKey, n int64) {
	w := s.watches[k]
	w.pattern.Watches.Add(n)
	a.watches.Add(n)
	if !w.dead {
		w.pattern.Live.Add(n)
		a.live.Add(n)
	}
	s.keeps += int(n)
	a.all.mostOfSession = max(a.all.mostOfSession, s.keeps)
	if k.recursive() {
		s.trees += int(n)
	}
}

// A stock is a consumer's last list of a queue.
//
// Note: a list that is made although items of the last one were not tried would tell the form that
// lists for each item. It cannot be seen exactly: the position of a list may be later than what
// the list shows.
type stock struct {
	queue *place
	tries int // items of the list that it has tried
}

func (k *stock) tried(item *place) {
	if k.queue != nil && item.parent == k.queue {
		k.tries++
	}
}

// took records that the consumer has removed an item.
func (k *stock) took(item *place) {
	if k.queue != nil && item.parent == k.queue && k.tries > 1 {
		k.queue.pattern.KeptLists++
	}
}
