package observe

import (
	"cmp"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// asks counts a request for the event that the session is at work on, or as one at rest.
func (s *session) asks(a *Analysis, m *drivers.Message, r *request) {
	if m.Op == drivers.OpPing {
		a.tracer.CountAtRest(m.Op)
		return
	}
	givesUp := s.givesUp(a, m)
	r.handsOver = givesUp || m.Op == drivers.OpClose
	s.work = a.tracer.Ask(s.work, a.now, m.Op, givesUp, s.purpose(a, m, r.place))
	r.work = s.work
}

// purpose returns what a request has to do with what the session was notified of last. The place is nil for a
// transaction.
func (s *session) purpose(a *Analysis, m *drivers.Message, p *place) causality.Purpose {
	if s.work == nil || s.woke == nil { // it is at rest, whatever it asks for
		return causality.Elsewhere
	}
	near := p != nil && s.isNear(p)
	for _, part := range m.Parts {
		near = near || s.isNear(a.lookUp(part.Path))
	}
	switch {
	case !near:
		return causality.Elsewhere
	case p != nil && !m.Op.IsWrite() && s.pending(p) != nil:
		return causality.Reads
	}
	return causality.Nearby
}

// isNear reports whether the place is beside the one that the session was notified of last, or below it. Those of the root
// have nothing in common.
func (s *session) isNear(p *place) bool {
	up := s.woke.place.parent
	return s.woke.isAbout(p) || up != nil && up.parent != nil && up.isAbove(p)
}

// givesUp reports whether the request gives up a turn: it deletes a node of a line, or one that sessions
// race for.
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
		return slices.ContainsFunc(m.Parts, func(p drivers.TxnOp) bool {
			return p.Op == drivers.OpDelete && turn(string(p.Path))
		})
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
		all = append(all, c.place.pattern.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tag has the meter give the request back with the notifications that the write causes, or the end of its
// session.
func (t *tap) tag(m *drivers.Message, r request, before time.Time) {
	c := &causality.Cause{Op: m.Op, Work: r.work, HandsOver: r.handsOver, Answered: t.a.now, Before: before}
	if m.Op == drivers.OpClose {
		c.Paths = t.s.owned()
	}
	for _, p := range m.Parts {
		if p.Op.IsWrite() {
			if name := t.a.lookUp(p.Path).pattern.Name; !slices.Contains(c.Paths, name) {
				c.Paths = append(c.Paths, name)
			}
		}
	}
	t.s.probe.Tag(c)
}

// eventOf returns the event that a change belongs to, which it may begin.
func (a *Analysis) eventOf(n fanout.Notified, c *change) *causality.Trace {
	by, _ := n.Tag.(*causality.Cause)
	begun := causality.Change{At: c.first, Op: c.op.String(), Paths: []string{cmp.Or(c.written, c.pattern.Name)}}
	if s := a.byMeter[n.Writer]; s != nil {
		begun.Session = s.serial
	}
	if n.Writer != nil {
		return a.tracer.Begin(begun, by, a.now)
	}
	begun.Op, begun.HandsOver = "", n.Event == drivers.Deleted
	o := a.expired(n)
	switch {
	case o == nil:
		return a.tracer.Begin(begun, nil, a.now)
	case o.end == nil:
		begun.Op, begun.Paths, begun.HandsOver = "expire", o.paths, true
		o.end = a.tracer.Begin(begun, nil, a.now)
	default:
		o.end.Extend()
	}
	return o.end
}

// An orphan is a session without a connection that has nodes. They are deleted if it does not come back.
type orphan struct {
	paths []string         // patterns of the nodes
	end   *causality.Trace // nil until it is noticed
	until time.Time
}

// disconnect records that a session has no connection any more.
func (s *session) disconnect(a *Analysis) {
	if len(s.children) == 0 || len(a.orphans)+2*len(s.children) > a.limits.Children {
		return
	}
	s.orphan = &orphan{paths: s.owned(), until: a.now.Add(2*cmp.Or(s.timeout, defaultTimeout) + sweepInterval)}
	for path, c := range s.children {
		a.orphans[path] = s.orphan
		if c.place.parent != nil {
			a.orphans[c.place.parent.path] = s.orphan
		}
	}
}

// reconnect records that a session has a connection again.
func (s *session) reconnect() {
	if s.orphan != nil {
		s.orphan.until, s.orphan = time.Time{}, nil
	}
}

// expired returns the session whose end can be what the notification of an unseen change tells, or nil.
func (a *Analysis) expired(n fanout.Notified) *orphan {
	o := a.orphans[n.Path]
	ends := n.Event == drivers.Deleted || n.Event == drivers.ChildrenChanged
	if o == nil || !ends || a.now.After(o.until) || o.end != nil && o.end.Ended() {
		return nil
	}
	return o
}
