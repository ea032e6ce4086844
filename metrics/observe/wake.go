package observe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/delivery"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/pathname"
	"github.com/stampede-bench/stampede/metrics/pattern"
)

// A wake is one notification of a session and what came of it.
type wake struct {
	pattern  *pattern.Pattern
	place    *place
	event    drivers.EventType
	at       time.Time
	rest     time.Time // of the last reply of the session's work
	of       *client.Session
	change   *change // nil while the cause is not known
	reads    int64   // of the work
	lost     int64   // failed writes of the work
	asked    bool    // the session has read since, at work or later
	failed   bool    // it has lost a race since
	rearmed  bool    // armed a watch again
	fresh    bool    // read what the notification reported as changed
	standing pattern.Standing
	over     *place // the node with the recursive watch that fired, nil for another watch
	ofLine   bool   // it came by a recursive watch of the line in which the session stands
	inLine   bool   // it is about the line or the votes of which the session is a part
	further  bool   // as of a pattern
	writes   int64  // of the session before it
	beside   bool   // the session has written a node beside it since
	late     bool   // the session had done what it waited for
	raced    bool   // the session has asked for a single node there since
	tried    bool   // the session has tried to get what it offers
	own      bool   // it counts as one of the session's own change
	won      bool   // and got it
	ended    bool   // the outcome is known
	outcome  pattern.Outcome
	role     *pattern.Role   // in which it is counted, nil if in none
	before   *wake           // the notification of the session before it
	work     *causality.Work // of the session, which it begins
	race     race
}

// isAbout reports whether the place concerns what the notification told.
func (w *wake) isAbout(p *place) bool {
	return w.place.concerns(p) || w.over != nil && w.over.isAbove(p)
}

// tells reports whether the notification tells what has become of a node, so that it need not be read. Who stands in a
// line and watches all of it lists it again.
func (w *wake) tells() bool {
	return !w.ofLine && (w.event == drivers.Created || w.event == drivers.Deleted)
}

// notified begins a wake.
func (s *session) notified(a *Analysis, m *drivers.Message, p *place) {
	s.takeTurn(a)
	s.notifications++
	s.told++
	s.onlyWatches(a, p)
	if s.of.Told() {
		a.unite(s)
		a.lone.Add(s.of)
		p.pattern.Lone.Add(s.of)
	}
	s.rounds.Told(p.path, pathname.Parent(p.path))
	if c := s.standsIn(a, p); c != nil {
		c.awaits = false
	}
	if w := s.waits[p.path]; w != nil && m.Event == drivers.Deleted { // where it waited is gone
		s.endWait(a, w)
	}
	w := &wake{of: s.of, pattern: p.pattern, place: p, event: m.Event, at: a.now, rest: a.now, standing: s.standing(a, m.Event, p)}
	s.work.End()
	s.work = causality.NewWork(a.now)
	w.work = s.work
	s.waitsElsewhere(a, m, p)
	in := s.waitFor(a, m.Event, p)
	if in.tree {
		w.over = in.dir
	}
	w.inLine, w.writes = !in.other, s.writes
	w.ofLine = w.inLine && in.stage != pattern.Voted && s.treeOver(p) == in.dir
	w.further = s.fires(a, p, m.Number)
	in.notified(a, s, w)
	s.wakes(a, w)
	s.unassigned[s.notifications] = w
	p.pattern.Events[m.Event]++
	if m.Event == drivers.Created && w.over == nil && !w.ofLine && p.pattern.Ops[drivers.OpWatchNode].Requests == 0 && !s.races[p.path] { // what it waited for exists
		in.finishLast(a, s)
	}
	for _, k := range []watchKey{{path: p.path}, {path: p.path, children: true}} { // not those that last
		if m.Event == drivers.Deleted || k.children == (m.Event == drivers.ChildrenChanged) {
			a.disarm(s, k)
		}
	}
	if m.Event == drivers.Deleted {
		s.freed = p.path
		a.deletedUnseen(m.Pos, p)
	}
}

// deletedUnseen records the removal of a node that a notification tells. It removes the node if no
// reply will: its owner has closed, or has no connection and has expired.
func (a *Analysis) deletedUnseen(pos int64, p *place) {
	if p.parent == nil {
		return
	}
	if l := a.lines[p.parent.path]; l != nil {
		for _, c := range l.live {
			if c.place.path == p.path && c.owner.gone() && !c.isYounger(pos) {
				delete(c.owner.children, p.path)
				a.remove(c, pos)
				return
			}
		}
		l.tell(p.path, pos)
	}
}

// standing returns the session's own place where it is notified.
func (s *session) standing(a *Analysis, event drivers.EventType, p *place) pattern.Standing {
	if w := s.inLine(p); w.takes(event, p) {
		return w.stage
	}
	for _, c := range s.children {
		if c.turn && (c.place.path == p.path || c.line.place == c.place && c.place.parent != nil && c.place.parent.path == p.path) {
			return pattern.Turned // it has the node, or the one below that it won
		}
	}
	if p.path == s.before {
		return pattern.Outside
	}
	l := a.lineOf(p)
	if l == nil {
		return pattern.Waiting
	}
	switch c := s.own(l); {
	case c == nil, c.leaving:
		return pattern.Outside
	case c.entered:
		return pattern.Inside
	case c.turn:
		return pattern.Turned
	}
	return pattern.Waiting
}

// read counts a read after the notification. What its session does when it is at rest says what it waits
// for, and is no consequence.
func (w *wake) read(a *Analysis, m *drivers.Message, atWork bool) {
	w.asked = true
	if atWork {
		w.reads, w.rest = w.reads+1, a.now
	}
	if m.Err == nil && (w.event == drivers.DataChanged && m.Op == drivers.OpGet || w.event == drivers.ChildrenChanged && m.Op == drivers.OpChildren) {
		w.fresh = true
	}
	if armed(m) && !missing(m) {
		w.rearmed = true
	}
}

// superseded returns the outcome of a notification after which the session has read, and was notified again.
func (s *session) superseded(w *wake) pattern.Outcome {
	switch {
	case w.rearmed, w.failed, s.races[w.place.path]: // it has not won the node since
		return pattern.Waited
	case w.fresh:
		return pattern.Read
	case !w.asked && !w.beside && w.over != nil: // another one came before it did anything, and it waits on
		return pattern.Waited
	}
	return w.done()
}

// done returns the outcome of a notification after which the session waits no more.
func (w *wake) done() pattern.Outcome {
	if !w.asked && !w.tells() {
		return pattern.Unread
	}
	return pattern.Acted
}

func (s *session) finish(a *Analysis, w *wake, o pattern.Outcome) {
	if w.late {
		o = pattern.Unread
	}
	if w.won = w.won && !w.late; w.won {
		o = pattern.Acted
	}
	w.ended, w.outcome = true, o
	p := w.pattern
	if s.isApart(w) {
		w.standing = pattern.Apart
		w.role = p.RoleOf(s.of)
		w.role.Add(o, w.further, w.tried, w.won)
		w.countOwn()
	}
	p.Woken[w.standing][o]++
	if w.further {
		p.Further[w.standing][o]++
	}
	w.close(a)
}

// countOwn counts the notification as one of the session's own change, as soon as its cause and its outcome are known.
func (w *wake) countOwn() {
	if c := w.change; c != nil && w.role != nil && c.writer != nil && c.writer.of == w.of {
		w.own = true
		w.role.Own(w.outcome, w.won)
	}
}

// isApart reports whether the session takes no part in a line or a vote that the notification is about. Who has or had a node in the
// line is told of what it waits for, or waited for before.
func (s *session) isApart(w *wake) bool {
	if w.inLine || w.standing != pattern.Waiting && w.standing != pattern.Outside {
		return false
	}
	for p := range s.tried {
		inLine := p.Parent == w.pattern && p.Sequential() > 0 || p.Parent == w.pattern.Parent && w.pattern.Sequential() > 0
		if inLine || w.standing == pattern.Outside && (p == w.pattern || p.Parent == w.pattern) {
			return false
		}
	}
	return true
}

// close adds what came of the notification to its change, if that is known, and so is the outcome, and nothing of the
// work is to come. It is called whenever one of these changes.
func (w *wake) close(a *Analysis) {
	if c := w.change; c != nil && w.ended && w.race.over {
		c.ended(w)
		if c.open--; c.open == 0 && c.counted {
			a.rested(c)
		}
	}
}

// A change is one write with the notifications that it caused.
type change struct {
	trigger fanout.Trigger
	pattern *pattern.Pattern // of the path that the first notification named
	by      []pattern.Share
	n       int64 // notifications
	first   time.Time
	rest    time.Time // the last of the sessions that it woke came to rest then
	reads   int64
	lost    int64
	waited  client.Set        // sessions that waited again after one of its notifications
	effects []*pattern.Effect // that it was added to
	op      drivers.Op
	writer  *session // nil if it is not known
	written string   // pattern
	event   *causality.Trace
	open    int  // sessions that it woke and that are not at rest
	counted bool // no further notification comes
}

// woken returns the sessions that got the notifications.
func (c *change) woken() client.Set {
	all := client.Set{}
	for _, s := range c.by {
		maps.Copy(all, s.Woken)
	}
	return all
}

// ended adds what came of a notification.
func (c *change) ended(w *wake) {
	c.reads += w.reads
	c.lost += w.lost
	if w.outcome == pattern.Waited {
		c.waited.Add(w.of)
	}
	if w.rest.After(c.rest) {
		c.rest = w.rest
	}
}

// listener gets the causes from the meter, which calls it while the Analysis is locked.
type listener struct{ a *Analysis }

func (l listener) Caused(n fanout.Notified) {
	a := l.a
	s := cmp.Or(a.byMeter[n.Session], a.ended[n.Session])
	if s == nil {
		return
	}
	w := s.unassigned[n.Nth]
	if delete(s.unassigned, n.Nth); len(s.unassigned) == 0 {
		delete(a.ended, n.Session)
	}
	if w == nil {
		return
	}
	c := a.changes[n.Trigger]
	if c == nil {
		c = a.newChange(n, w)
	}
	c.n++
	w.change = c
	w.known()
	w.countOwn()
	c.event.Notify(s.serial, w.at, w.pattern.Name, w.work)
	if w.at.Before(c.first) {
		c.first = w.at
	}
	i := slices.IndexFunc(c.by, func(s pattern.Share) bool { return s.Pattern == w.pattern })
	if i < 0 {
		c.by = append(c.by, pattern.Share{Pattern: w.pattern, Woken: client.Set{}})
		i = len(c.by) - 1
	}
	c.by[i].Woken.Add(s.of)
	c.open++
	w.close(a)
}

func (a *Analysis) newChange(n fanout.Notified, w *wake) *change {
	for len(a.changes) >= a.limits.Changes {
		a.flushOldest()
	}
	c := &change{trigger: n.Trigger, pattern: w.pattern, first: w.at, rest: w.at, op: n.Op}
	if n.Writer != nil {
		if by := a.byMeter[n.Writer]; by != nil {
			c.writer = by
		}
		c.written = pathname.Fold(n.Written)
	} else {
		a.all.foreign++
	}
	c.event = a.eventOf(n, c)
	a.changes[n.Trigger] = c
	a.oldest = append(a.oldest, c)
	return c
}

// flushOldest counts the change that began first as complete, because there are too many.
func (a *Analysis) flushOldest() {
	for len(a.oldest) > 0 {
		c := a.oldest[0]
		a.oldest[0], a.oldest = nil, a.oldest[1:]
		if !c.counted {
			delete(a.changes, c.trigger)
			a.all.beyond.Early++
			a.flush(c)
			return
		}
	}
}

// Undelivered counts a notification that is missing or may be, or that belongs to no watch, unless not all watches
// are followed.
func (l listener) Undelivered(v delivery.Violation) {
	a := l.a
	if a.all.unfollowed > 0 {
		return
	}
	for _, u := range []*pattern.Undelivered{&a.all.Undelivered, &a.place([]byte(v.Path)).pattern.Undelivered} {
		switch v.Kind {
		case delivery.Missing, delivery.Forgotten, delivery.Late:
			u.Missed++
		case delivery.Undecided:
			u.Unproven++
		case delivery.Unasked, delivery.Twice, delivery.WrongType:
			u.Unasked++
		}
	}
}

func (l listener) Complete(t fanout.Trigger) {
	if c := l.a.changes[t]; c != nil {
		delete(l.a.changes, t)
		l.a.flush(c)
		if len(l.a.oldest) > 2*len(l.a.changes)+64 {
			l.a.oldest = slices.DeleteFunc(l.a.oldest, func(c *change) bool { return c.counted })
		}
	}
}

// flush counts a change to which no further notification belongs. How long it took is known when
// all sessions that it woke are at rest.
func (a *Analysis) flush(c *change) {
	if c.counted {
		return
	}
	c.counted = true
	c.event.Complete()
	a.all.triggers++
	woken := c.woken()
	woken.WokenTogether()
	a.all.fanout[int64(woken.Count())]++
	apart := false
	if c.effects, apart = a.patterns.Affect(c.by); apart {
		a.all.beyond.Early++
	}
	if c.open == 0 {
		a.rested(c)
	}
}

// rested adds a change of which everything is known.
func (a *Analysis) rested(c *change) {
	for _, e := range c.effects {
		e.Rested(c.reads, c.lost, c.rest.Sub(c.first))
	}
	a.rank(c)
}

// maxRanked is how many of the largest changes are kept.
const maxRanked = 10

// A ranked change is one of the largest. The process of its writer may be found later.
type ranked struct {
	observation.Change
	by *client.Session // nil if it is not known
}

// rank keeps the change if it is among the largest. Which changes are kept does not depend on the order
// in which they became known.
func (a *Analysis) rank(c *change) {
	woke := int64(c.woken().Count())
	if len(a.largest) == maxRanked {
		if last := a.largest[maxRanked-1]; last.Woke > woke || last.Woke == woke && last.At.Before(c.first) {
			return
		}
	}
	r := observation.Change{
		At: c.first, Path: cmp.Or(c.written, c.pattern.Name), Woke: woke, Notifications: c.n,
		Waited: int64(c.waited.Count()),
		Reads:  c.reads, Lost: c.lost, Settled: c.rest.Sub(c.first),
	}
	if c.op != drivers.OpOther {
		r.Op = c.op.String()
	}
	var by *client.Session
	if c.writer != nil {
		r.Writer, by = c.writer.client, c.writer.of
	}
	a.largest = append(a.largest, ranked{r, by})
	slices.SortFunc(a.largest, func(x, y ranked) int { return observation.CompareChanges(x.Change, y.Change) })
	a.largest = a.largest[:min(len(a.largest), maxRanked)]
}
