package delivery

import (
	"errors"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// A Session is one session of a client. What it writes counts for the watches of all sessions. Its
// own notifications are checked while it is audited.
type Session struct {
	Name string // in messages

	checker *Checker
	audited bool
	closing bool                // it has asked to be closed
	last    atomic.Int64        // position of the latest reply
	owed    atomic.Int64        // lowest position of a notification that is owed
	event   int64               // highest position of a notification on this connection
	latest  change              // the latest notification of a one-shot watch
	watches [2]map[*node]*watch // by kind
	owing   []*watch            // some of which owe nothing any more
	spare   *watch              // for the next watch: most sessions arm one again when it has fired
	rearms  [][]*watch          // in requests to arm them again that are in flight

	streams  map[int64]*streamed // by the watch's number, on the current connection; nil before the first
	now      int64               // from which on the latest watch from now must report events
	lasting  []*lasting
	expected []change       // owed by persistent watches, see resolve
	early    []change       // notifications of persistent watches with a position, whose write is not known
	unplaced map[change]int // those without a position, by node and event
	forgot   int64          // highest position of those of them that are no longer kept
	done     [16]change     // latest notifications of persistent watches whose write is known
	blind    bool           // notifications have no positions
	wrong    bool           // the latest notification broke a promise
	left     int64          // position of the latest reply before the latest cut
	nextDone int
}

// Session returns one more session.
func (c *Checker) Session() *Session {
	if c == nil {
		return nil
	}
	s := &Session{checker: c, watches: [2]map[*node]*watch{{}, {}}}
	s.owed.Store(unbounded)
	return s
}

// Audit begins to check the session's notifications. It must be seen from its beginning, and its service
// must promise what ZooKeeper promises.
func (s *Session) Audit() {
	if s != nil {
		s.audited = true
	}
}

// Abandon ends the audit: a part of what the session sends or gets is not seen.
func (s *Session) Abandon() {
	if s != nil {
		s.audited = false
		s.forget(Undecided)
	}
}

// Reach records a reply that arms no watch and writes nothing. It reports whether notifications may be
// missing: then the caller must pass the message to [Session.Message]. It may be called at any time.
func (s *Session) Reach(pos int64) (due bool) {
	if s == nil {
		return false
	}
	if pos > s.last.Load() {
		s.last.Store(pos)
	}
	return s.owed.Load() <= pos
}

// Message checks one packet.
func (s *Session) Message(m *drivers.Message) {
	switch {
	case s == nil:
	case m.Kind == drivers.Request:
		s.request(m)
	case m.Kind == drivers.Reply:
		s.reply(m)
	case m.Kind == drivers.Notification:
		s.Notified(m)
	case m.Kind == drivers.Cut:
		s.cut()
	}
}

func (s *Session) request(m *drivers.Message) {
	switch m.Op {
	case drivers.OpClose:
		s.closing = true
	case drivers.OpOpen:
		s.closing = false
	case drivers.OpRearm:
		if s.audited {
			s.asksAgain(m)
		}
	}
}

func (s *Session) reply(m *drivers.Message) {
	switch {
	case m.Op.IsWrite():
		if m.Err == nil && m.Pos > 0 {
			s.checker.wrote(m)
		}
	case m.Op == drivers.OpClose && s.closing && m.Err == nil:
		s.reached(m.Pos)
		s.forget(0) // what changes later is not owed any more
	case m.Op == drivers.OpOpen && m.Err != nil, m.Op == drivers.OpClose && s.closing:
		s.forget(Undecided)
	case !s.audited:
	case m.Op == drivers.OpRearm:
		s.rearmed(m)
	case m.Op == drivers.OpUnwatch && m.Err == nil && len(m.Path) > 0:
		s.reached(m.Pos)
		s.removed(s.checker.node(m.Path), m.Removes)
	case m.Op.IsWatch() && m.Err == nil:
		s.reached(m.Pos)
		s.armLasting(m)
	case m.Watch && m.Op.IsRead() && (m.Err == nil || missing(m)):
		s.arm(m)
	}
	s.reached(m.Pos)
}

// reached reports what was owed up to the position of a reply and has not come.
func (s *Session) reached(pos int64) {
	s.Reach(pos)
	s.settle()
}

// missing reports whether the reply to an exists found no node.
func missing(m *drivers.Message) bool {
	return m.Op == drivers.OpExists && errors.Is(m.Err, drivers.ErrNoNode)
}

func (s *Session) cut() {
	if s.closing {
		s.forget(Undecided)
		return
	}
	s.disconnect(Undecided)
	s.left = s.last.Load() // what one-shot watches owe may come when they are armed again
	for _, watches := range s.watches {
		for _, w := range watches {
			w.stale = true
		}
	}
	for _, k := range s.lasting {
		k.stale = true
	}
}

// disconnect ends what persistent watches and streams owe on the connection: it never comes on another one.
func (s *Session) disconnect(k Kind) {
	s.endStreams()
	s.resolve(func(c change) (Kind, bool) { return k.ending(c.pos), true })
	s.early, s.forgot, s.rearms, s.event, s.latest = s.early[:0], 0, nil, 0, change{}
	clear(s.unplaced)
	s.settle()
}

// ending returns the kind of what ends a debt at the position. Even where nothing later is owed, it is not known whether a change
// that is in doubt came before, nor whether a notification was lost with an earlier connection.
func (k Kind) ending(pos int64) Kind {
	if pos == unbounded {
		return Undecided
	}
	return k
}

// forget ends all watches, and what is owed to them as the kind says.
func (s *Session) forget(k Kind) {
	for _, w := range s.owing {
		if w.stale {
			w.resolve(Undecided)
		}
		w.resolve(k.ending(w.owed))
	}
	s.disconnect(k)
	for _, watches := range s.watches {
		for _, w := range watches {
			w.leave()
		}
	}
	for _, k := range s.lasting {
		k.leave()
	}
	s.lasting = nil
}

func (s *Session) violated(k Kind, c change) {
	s.wrong = s.wrong || k == Unasked || k == Twice || k == Late || k == OutOfOrder || k == WrongType
	if c.doubts() {
		c.pos = 0
	}
	s.checker.report(Violation{Kind: k, Session: s, Path: c.node.path, Event: c.event, Pos: c.pos})
}

// A watch is a one-shot watch of a session: on a node, or on the list of its children.
type watch struct {
	node       *node
	kind       int // data or children
	session    *Session
	prev, next *watch            // of the same kind on the same node
	at         int64             // position of the reply that armed it
	absent     bool              // the node did not exist then
	stale      bool              // it was armed on an earlier connection
	lapsed     bool              // nothing more is owed to it: it has been reported, or what the server does is not promised
	over       bool              // it has fired
	owing      bool              // it is in the session's list
	owed       int64             // position of the earliest change that it must report, 0 for none: see resolve
	event      drivers.EventType // of that change
}

func (w *watch) judged() bool { return !w.stale && !w.lapsed }

// watch begins a watch.
func (s *Session) watch(n *node, kind int) *watch {
	first, w := n.first[kind], s.spare
	if w == nil {
		w = new(watch)
	}
	*w, s.spare = watch{node: n, kind: kind, session: s, next: first}, nil
	if first != nil {
		first.prev = w
	}
	n.first[kind] = w
	s.watches[kind][n] = w
	return w
}

// leave ends the watch, to which nothing is owed any more.
func (w *watch) leave() {
	n := w.node
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		n.first[w.kind] = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.over = nil, nil, true
	s := w.session
	delete(s.watches[w.kind], n)
	s.checker.tidy(n)
	w.release()
}

// release keeps the watch for the next one of the session if it has left and is in no list.
func (w *watch) release() {
	if s := w.session; w.over && !w.owing && len(s.rearms) == 0 {
		s.spare = w
	}
}

// resolve ends what is owed to the watch. That is reported as the kind says, 0 if it has come or is known not to be
// due. Nothing else ends a debt.
func (w *watch) resolve(k Kind) {
	if k != 0 && w.owed != 0 {
		w.session.violated(k, change{w.node, w.event, w.owed})
	}
	w.owed = 0
}

// lapse makes the watch owe nothing more. What it owes already may still come; if it does not, that proves nothing.
func (w *watch) lapse() {
	if w != nil {
		w.lapsed = true
	}
}

// arm enters the watch that a reply has armed. One that is armed stays as it is.
func (s *Session) arm(m *drivers.Message) {
	n := s.checker.node(m.Path)
	kind := data
	if m.Op == drivers.OpChildren {
		kind = children
	}
	w := s.watches[kind][n]
	if w == nil || w.stale || w.lapsed {
		switch {
		case w == nil:
			w = s.watch(n, kind)
		case w.stale: // what it owed was not asked for again
			w.resolve(Undecided)
		}
		s.reached(m.Pos)
		w.at, w.absent, w.stale = m.Pos, m.Err != nil, false
		w.lapsed = len(n.lasting) > 0 && s.standsBeside(n)
		if pos := n.changed[kind]; pos > m.Pos {
			w.owe(pos, n.latest(kind))
		}
	}
	n.show(w, m.Err == nil, m.Pos)
}

// latest returns the event of the latest change that fires a kind of watches.
func (n *node) latest(kind int) drivers.EventType {
	for e := drivers.Created; e <= drivers.DataChanged; e++ {
		if n.events[kind]&(1<<e) != 0 {
			return e
		}
	}
	return drivers.ChildrenChanged
}

// show enters what the reply that armed the watch says about the existence of the node. If a reply at
// another position says the contrary, the node was created or deleted between them.
func (n *node) show(w *watch, exists bool, pos int64) {
	w.contradict(pos, exists)
	switch {
	case pos < n.shown:
		w.contradict(n.shown, n.exists)
		return
	case n.shown > 0 && n.exists != exists:
		for _, o := range n.first {
			for ; o != nil; o = o.next {
				o.contradict(pos, exists)
			}
		}
	}
	n.shown, n.exists = pos, exists
}

// contradict makes the watch owe a notification if the contrary of what it was armed with holds at the
// position.
func (w *watch) contradict(pos int64, exists bool) {
	switch {
	case w.absent != exists:
	case exists:
		w.owe(pos, drivers.Created)
	default:
		w.owe(pos, drivers.Deleted)
	}
}

// owe records that the watch must report a change at the position.
func (w *watch) owe(pos int64, e drivers.EventType) {
	if w.at >= pos || !w.judged() || w.owed != 0 && w.owed <= pos {
		return
	}
	if e == drivers.Created && !w.absent { // the write that deleted the node before is not known yet
		e = drivers.Deleted
	}
	s := w.session
	w.owed, w.event = pos, e
	if !w.owing {
		w.owing = true
		s.owing = append(s.owing, w)
	}
	s.due(pos)
}

// due records that a notification is owed at the position.
func (s *Session) due(pos int64) {
	if pos < s.owed.Load() {
		s.owed.Store(pos)
	}
	if s.last.Load() >= pos {
		s.settle()
	}
}

// settle reports what is owed and has not come before the latest reply.
func (s *Session) settle() {
	last := s.last.Load()
	if s.owed.Load() > last {
		return
	}
	low := int64(unbounded)
	owing := s.owing[:0]
	for _, w := range s.owing {
		switch {
		case w.owed == 0:
			w.owing = false
			w.release()
		case w.stale:
			owing = append(owing, w)
		case w.owed <= last:
			w.owing = false
			if w.lapsed {
				w.resolve(Undecided)
			} else {
				w.miss(Missing)
			}
			w.release()
		default:
			low = min(low, w.owed)
			owing = append(owing, w)
		}
	}
	clear(s.owing[len(owing):])
	s.owing = owing
	s.owed.Store(min(low, s.settleLasting(last)))
}

// miss reports that the watch has not fired. If the same packet was owed to the session's other watch on the
// node, that is reported with it.
func (w *watch) miss(k Kind) {
	if o := w.session.watches[1-w.kind][w.node]; o != nil && w.event == drivers.Deleted && o.at < w.owed && !o.owesBefore(w) {
		o.resolve(0)
		o.lapse()
	}
	w.resolve(k)
	w.lapse()
}

// owesBefore reports whether the watch owes another packet than that of the deletion of its node which the other owes. The
// positions of a deletion that replies have shown differ.
func (w *watch) owesBefore(other *watch) bool {
	return w.owed != 0 && (w.owed <= other.at || w.event != drivers.Deleted && w.owed < other.owed)
}

// Notified checks a notification. It reports whether that shows a change: nothing is known to be wrong with it.
func (s *Session) Notified(m *drivers.Message) (sound bool) {
	if s == nil || m.Event == 0 || len(m.Path) == 0 {
		return false
	}
	s.wrong = false
	if s.audited {
		s.notified(m)
	}
	return !s.wrong
}

func (s *Session) notified(m *drivers.Message) {
	c := s.checker
	c.checked++
	n := c.node(m.Path)
	c.keep(n)
	is := change{n, m.Event, m.Pos}
	once, judged := s.fire(is)
	switch {
	case s.fireLasting(is):
		judged = judged || !once
	case once:
	case is == s.latest:
		s.violated(Twice, is)
	case !s.closing:
		s.violated(Unasked, is)
		judged = true
	}
	if m.Pos > 0 && judged {
		s.compare(is)
	}
}

// compare checks a notification with a position against what the connection has carried, and against the
// write if that is known.
func (s *Session) compare(is change) {
	switch n := is.node; {
	case is.pos <= s.last.Load():
		s.violated(Late, is)
	case is.pos < s.event:
		s.violated(OutOfOrder, is)
	case is.event == drivers.ChildrenChanged:
	case n.changed[data] == is.pos && n.events[data]&(1<<is.event) == 0:
		s.violated(WrongType, is)
	case n.changed[data] < is.pos:
		n.told, n.by = is, s
	}
	s.event = max(s.event, is.pos)
}

// fire removes the one-shot watches that the notification fires. It reports whether there were any, and whether one of
// them cannot have fired for an earlier change, as to catch up after a reconnect.
func (s *Session) fire(is change) (fired, judged bool) {
	fires := make([]*watch, 0, 2)
	first, last := kindsOf(is.event)
	for _, watches := range s.watches[first : last+1] {
		if w := watches[is.node]; w != nil {
			fires = append(fires, w)
		}
	}
	if len(fires) == 2 && len(s.rearms) > 0 { // the server catches up with each of them on its own
		switch {
		case fires[1].stale:
			fires = fires[:1]
		case fires[0].stale:
			fires = fires[1:]
		}
	}
	for _, w := range fires {
		if w.judged() && len(s.rearms) == 0 {
			judged = true
			w.match(is)
		}
		w.resolve(0)
		w.leave()
		s.latest = is
	}
	return len(fires) > 0, judged
}

// match compares a notification with what the watch waits for.
func (w *watch) match(is change) {
	if w.kind == data && (is.event == drivers.Created) != w.absent {
		w.session.violated(WrongType, is)
	} else if w.owed != 0 && w.owed < is.pos {
		w.miss(Missing)
	}
}

// asksAgain enters a request to arm watches on a new connection. Those that are not in it remain stale.
func (s *Session) asksAgain(m *drivers.Message) {
	var all []*watch
	for _, p := range m.Parts {
		n := s.checker.node(p.Path)
		if p.Op.IsWatch() {
			s.againLasting(n, p.Op == drivers.OpWatchTree)
			continue
		}
		kind := data
		if p.Op == drivers.OpChildren {
			kind = children
		}
		w := s.watches[kind][n]
		if w == nil { // the client believes that it has one
			w = s.watch(n, kind)
			w.lapsed = true
		}
		all = append(all, w)
	}
	s.rearms = append(s.rearms, all)
}

// rearmed enters the reply to the earliest such request. The server has compared the nodes with what the
// client knew.
func (s *Session) rearmed(m *drivers.Message) {
	if len(s.rearms) == 0 {
		return
	}
	all := s.rearms[0]
	s.rearms = s.rearms[1:]
	if m.Err != nil {
		return
	}
	for _, w := range all {
		if w.over {
			continue
		}
		at, pos := w.at, w.node.changed[w.kind]
		w.stale, w.at = false, max(at, m.Pos)
		switch shown := w.node.shown; {
		case w.lapsed:
			w.resolve(Undecided)
		case w.owed == unbounded: // it may still come
		case w.absent && w.owed != 0 && w.owed <= m.Pos && (!w.node.exists || shown > m.Pos): // a node that is missing again has not changed
			w.resolve(0)
		case w.absent && w.owed != 0 && w.owed <= m.Pos:
			w.miss(Forgotten)
		case pos > m.Pos:
			w.owe(pos, w.node.latest(w.kind))
		case pos > at && !w.absent:
			w.event, w.owed = w.node.latest(w.kind), pos
			w.miss(Forgotten)
		case w.owed != 0 && w.owed <= m.Pos:
			w.miss(Forgotten)
		}
	}
	for _, k := range s.lasting {
		if !k.again {
			continue
		}
		k.again, k.stale, k.at = false, false, max(k.at, m.Pos)
		if m.Pos > s.left { // what has changed meanwhile the service does not tell
			s.violated(Undecided, change{node: k.node, event: drivers.Rearmed})
		}
	}
}

// removed enters that the service has removed watches of the kinds on the node at the position that the session has reached.
// What changes later is not owed to them.
func (s *Session) removed(n *node, kinds drivers.WatchKinds) {
	for kind, removes := range [...]drivers.WatchKinds{data: drivers.DataWatch, children: drivers.ChildrenWatch} {
		if w := s.watches[kind][n]; w != nil && kinds.Has(removes) {
			w.resolve(0)
			w.lapse()
		}
	}
	s.endLasting(true, func(k *lasting) bool { return k.node == n && kinds.Has(k.armedBy()) })
	if kinds&(drivers.NodeWatch|drivers.TreeWatch) == 0 { // a server before 3.9 takes a part of a persistent watch for one of these
		s.excuseLasting(n)
	}
}
