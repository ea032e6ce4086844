package observe

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/pattern"
)

// A waitingLine is the sequential children of one node, in the order of their creation. Clients that
// wait for their turn stand in it; the items of a queue do too.
type waitingLine struct {
	place *place
	live  []*child
	told  int      // those of live whose removal a notification has told
	gone  []*child // the latest that were removed
	// writers: a child has stood in it whose name is not a reader's.
	writers bool
}

// A child stands in a line.
type child struct {
	line    *waitingLine
	place   *place
	owner   *activity
	pos     int64 // of the create
	lease   int64 // that it is bound to, 0 if that is its session
	removed int64 // position of the removal, 0 if that is not known
	told    bool  // a notification has told its removal, which is still to be answered
	reads   bool  // its name says that it is a reader's
	own     bool  // it is ephemeral
	turn    bool  // its owner has found no other ahead of it, by a list at position listed
	listed  int64
	entered bool // its owner has set the line's node
	leaving bool // its owner has asked to delete it
	watched bool // its owner has armed a watch in the line since it listed that last
	awaits  bool // and has been told of nothing there since
	kept    bool // it counts among the children that are kept
}

// shares reports whether both hold at the same time: they are readers in a line in which writers stand,
// too. Names alone, as of a lock on reading something, say nothing.
func (c *child) shares(o *child) bool { return c.reads && o.reads && c.line.writers }

// maxGone is how many removed children a line remembers: a list that is answered before the
// removal is seen may be older than the removal or not.
const maxGone = 64

// A listing is a session's list of a line's children that has not been judged yet.
type listing struct {
	line *waitingLine
	pos  int64
}

func (a *Analysis) created(s *session, m *drivers.Message, p *place) {
	if m.Mode == 0 || p.parent == nil {
		return
	}
	if old := s.children[p.path]; old != nil { // its removal was not seen
		delete(s.children, p.path)
		a.remove(old, m.Pos)
	}
	if a.children >= a.limits.Children {
		a.all.beyond.Nodes++
		return
	}
	if m.Mode&drivers.Sequential == 0 { // a single node for which clients race
		s.children[p.path] = a.keep(&child{line: &waitingLine{place: p}, place: p, owner: s.activity, pos: m.Pos, own: true, turn: true})
		return
	}
	p.parent.pattern.Lined = true
	l := a.line(p.parent)
	if l == nil {
		a.all.beyond.Nodes++
		return
	}
	c := &child{line: l, place: p, owner: s.activity, pos: m.Pos, own: m.Mode&drivers.Ephemeral != 0, reads: pattern.IsReader(p.path[len(p.parent.path):])}
	l.writers = l.writers || !c.reads
	i, _ := slices.BinarySearchFunc(l.live, c, func(x, y *child) int { return int(min(max(x.pos-y.pos, -1), 1)) })
	l.live = slices.Insert(l.live, i, a.keep(c))
	for _, later := range l.live[i+1:] {
		later.giveBack()
	}
	if c.own {
		s.children[p.path] = c
	}
}

// line returns the line of the node's children, nil if there are too many lines.
func (a *Analysis) line(p *place) *waitingLine {
	if l := a.lines[p.path]; l != nil {
		return l
	}
	if len(a.lines) >= a.limits.Lines {
		a.dropEmptyLines()
	}
	if len(a.lines) >= a.limits.Lines {
		return nil
	}
	l := &waitingLine{place: p}
	a.lines[p.path] = l
	return l
}

// dropEmptyLines drops the lines in which no child stands. It looks at all lines, so it does that
// no more often than expire.
func (a *Analysis) dropEmptyLines() {
	if a.now.Sub(a.idled) < sweepInterval {
		return
	}
	a.idled = a.now
	maps.DeleteFunc(a.lines, func(_ string, l *waitingLine) bool { return len(l.live) == 0 })
}

// keep counts a child among those that are kept, until release.
func (a *Analysis) keep(c *child) *child {
	c.kept = true
	a.children++
	if up := c.place.parent; c.isMember() && len(up.members) < pattern.MaxSessions {
		up.members = append(up.members, c)
	}
	return c
}

// isMember reports whether the child is a node by itself, below another one.
func (c *child) isMember() bool { return c.line.place == c.place && c.place.parent != nil }

// leaves counts that the owner has ended its node.
func (c *child) leaves() {
	if p := c.place.pattern; !c.isMember() {
		if slices.Index(c.line.live, c) == 0 {
			p.DeletedFirst++
		} else {
			p.DeletedLater++
		}
		return
	}
	all := c.place.parent.members
	older, lower := slices.Index(all, c), 0
	for _, o := range all {
		if o.place.path < c.place.path {
			lower++
		}
	}
	if older >= 0 {
		c.place.pattern.LeftByAge.Add(older, len(all))
		c.place.pattern.LeftByName.Add(lower, len(all))
	}
}

func (a *Analysis) release(c *child) {
	if c.kept {
		c.kept = false
		a.children--
		if up := c.place.parent; c.isMember() {
			if i := slices.Index(up.members, c); i >= 0 {
				up.members = slices.Delete(up.members, i, i+1)
			}
		}
	}
}

// deleted removes the node. s is nil if the session that deleted it is not known.
func (a *Analysis) deleted(s *session, pos int64, p *place) {
	if s != nil {
		if c := s.children[p.path]; c != nil && c.line.place.path == p.path {
			c.leaves()
			delete(s.children, p.path)
			a.release(c)
		}
	}
	if l := a.lines[p.path]; l != nil {
		delete(a.lines, p.path)
		for _, c := range l.live { // their removal was not seen
			delete(c.owner.children, c.place.path)
			a.release(c)
		}
	}
	if p.parent == nil {
		return
	}
	l := a.lines[p.parent.path]
	if l == nil {
		return
	}
	i := slices.IndexFunc(l.live, func(c *child) bool { return c.place.path == p.path })
	if i < 0 {
		return
	}
	c := l.live[i]
	if c.own && s != nil {
		if s.activity != c.owner {
			p.pattern.DeletedByOthers++
		} else {
			c.leaves()
		}
	}
	delete(c.owner.children, p.path)
	a.remove(c, pos)
}

// remove takes the child out of its line.
func (a *Analysis) remove(c *child, pos int64) {
	a.release(c)
	l := c.line
	i := slices.Index(l.live, c)
	if i < 0 {
		return
	}
	l.live = slices.Delete(l.live, i, i+1)
	if c.told {
		l.told--
	}
	c.removed = pos
	l.gone = append(l.gone, c)
	if len(l.gone) > maxGone {
		l.gone = slices.Delete(l.gone, 0, len(l.gone)-maxGone)
	}
}

// tell records that a notification has told the removal of the node. The reply to the request that removed
// it may come later. pos is 0 if the notification has none. One of an earlier node of the same name says nothing of this one.
func (l *waitingLine) tell(path string, pos int64) {
	i := slices.IndexFunc(l.live, func(c *child) bool { return c.place.path == path })
	if i < 0 || l.live[i].told || l.live[i].isYounger(pos) {
		return
	}
	l.live[i].told, l.live[i].removed = true, pos
	l.told++
}

// isYounger reports whether the child was created after position pos, if that is known.
func (c *child) isYounger(pos int64) bool { return pos > 0 && c.pos > pos }

// toldBy reports whether a notification has told that the child was removed at position pos or before.
func (c *child) toldBy(pos int64) bool { return c.told && c.removed > 0 && c.removed <= pos }

// present returns the children whose removal is neither answered nor told.
func (l *waitingLine) present() []*child {
	if l.told == 0 {
		return l.live
	}
	return slices.DeleteFunc(slices.Clone(l.live), func(c *child) bool { return c.told })
}

// own returns the session's ephemeral child in the line, nil if it has none.
func (s *session) own(l *waitingLine) *child {
	for _, c := range s.children {
		if c.line == l {
			return c
		}
	}
	return nil
}

// standsIn returns the session's own child in the line to which the place belongs, nil if it has none.
func (s *session) standsIn(a *Analysis, p *place) *child {
	l := a.lineOf(p)
	if l == nil {
		return nil
	}
	return s.own(l)
}

// lineOf returns the line to which the place belongs, as its node or as one that stands in it, nil if there is none.
func (a *Analysis) lineOf(p *place) *waitingLine {
	if l := a.lines[p.path]; l != nil || p.parent == nil {
		return l
	}
	return a.lines[p.parent.path]
}

// first reports whether at position pos the child waited for no other: none was ahead of it, or,
// if it is a reader's, no writer's.
func (c *child) first(pos int64) bool {
	ahead := func(o *child) bool { return o != c && o.own && o.pos < c.pos && !c.shares(o) }
	for _, o := range c.line.live {
		if ahead(o) && !o.toldBy(pos) {
			return false
		}
	}
	return !slices.ContainsFunc(c.line.gone, func(o *child) bool { return ahead(o) && o.removed > pos })
}

// giveBack has the list that gave the owner its turn judged again: the creation of a node ahead, whose reply came
// late, was not known then.
func (c *child) giveBack() {
	w := c.owner.waits[c.line.place.path]
	if !c.turn || w == nil || w.stage != pattern.Turned {
		return
	}
	c.turn, w.stage, c.owner.lists = false, pattern.Waiting, cmp.Or(c.owner.lists, &listing{c.line, c.listed})
	for _, n := range w.newer {
		n.standing = pattern.Waiting
	}
}

// takeTurn judges the session's latest list: if no other is ahead of its own node, the session has
// its turn, and its latest notification led to it.
func (s *session) takeTurn(a *Analysis) {
	l := s.lists
	if l == nil {
		return
	}
	s.lists = nil
	c, w := s.own(l.line), s.waits[l.line.place.path]
	switch {
	case c == nil && w != nil && l.line.left(s, l.pos):
		s.endWait(a, w)
	case c != nil && !c.turn && c.first(l.pos):
		c.turn, c.listed = true, l.pos
		if w != nil {
			w.stage = pattern.Turned
		}
	}
}

// left reports whether the session had a child in the line and all children were gone at pos: it
// has waited for the others to leave.
func (l *waitingLine) left(s *session, pos int64) bool {
	had := false
	for _, c := range l.live {
		if !c.toldBy(pos) {
			return false
		}
	}
	for _, c := range l.gone {
		if c.removed > pos {
			return false
		}
		had = had || c.owner == s.activity
	}
	return had
}

// lookAhead counts for which place in a line the session watches.
func (s *session) lookAhead(a *Analysis, m *drivers.Message, p *place) {
	if p.parent == nil || m.Op == drivers.OpChildren {
		return
	}
	l := a.lines[p.parent.path]
	if l == nil {
		return
	}
	f := &p.pattern.Ahead
	own, live := s.own(l), l.present()
	i := slices.IndexFunc(live, func(c *child) bool { return c.place.path == p.path })
	if i >= 0 { // of several nodes the session waits with the next one
		if next := slices.IndexFunc(live[i+1:], func(c *child) bool { return c.owner == s.activity }); next >= 0 {
			own = live[i+1+next]
		}
	}
	switch {
	case i < 0:
		f.Missing++
	case own == live[i]:
		f.Own++
	case own == nil, own.told:
		f.None++
	default:
		j := slices.Index(live, own)
		blocking := 0 // between the two
		for _, c := range live[min(i, j)+1 : max(i, j)] {
			if !own.shares(c) {
				blocking++
			}
		}
		switch {
		case i > j:
			f.Behind++
		case i == 0 && blocking == 0:
			f.Only++
		case blocking == 0:
			f.Next++
		case i == 0 || lowestBlocking(live, own) == i:
			f.Lowest++
		default:
			f.Other++
		}
	}
}

// lowestBlocking returns the index of the lowest child for which own may have to wait.
func lowestBlocking(live []*child, own *child) int {
	return slices.IndexFunc(live, func(c *child) bool { return !own.shares(c) })
}
