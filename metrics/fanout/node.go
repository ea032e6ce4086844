package fanout

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// A node is the ledger's state of one path: its watchers, and the writes to it that a watch may
// still refer to.
type node struct {
	path       string
	tables     [2]*table
	owner      *sessionState // of an ephemeral node whose creation the Meter saw
	created    int64         // position of that creation
	persistent []*persistentWatch
}

// The two watch tables of a path, as on the server: exists and get arm in data, children arms
// in children.
const (
	data = iota
	children
)

// A table is one of a node's two watch tables.
type table struct {
	node  *node
	armed map[*sessionState]int64 // position of the reply that armed the watch
	log   []tableChange           // by position
	fired []*notification         // notifications of its watches that are not assigned yet
}

// A tableChange is one write as the watchers of one table see it.
type tableChange struct {
	*write
	event  drivers.EventType // of its first change, which fires a one-shot watch
	events uint8             // of all its changes, a bit each: a transaction may create a node and delete it
	times  int               // number of changes: a session's end may remove several children
}

// fires reports whether the write can have fired a watch with the event. A persistent one reports each of its changes.
func (c tableChange) fires(e drivers.EventType, persistent bool) bool {
	return c.event == e || persistent && c.events&(1<<e) != 0
}

func newNode(path string) *node {
	n := &node{path: path}
	for i := range n.tables {
		n.tables[i] = &table{node: n}
	}
	return n
}

func (n *node) idle() bool {
	for _, t := range n.tables {
		if len(t.armed)+len(t.log)+len(t.fired) > 0 {
			return false
		}
	}
	return n.owner == nil && len(n.persistent) == 0
}

// covers returns the tables of n whose watches an event at n fires.
func (n *node) covers(e drivers.EventType) []*table {
	switch e {
	case drivers.Created, drivers.DataChanged:
		return n.tables[data:children]
	case drivers.ChildrenChanged:
		return n.tables[children:]
	}
	return n.tables[:]
}

// indexAfter returns the index of the first change later than pos.
func (t *table) indexAfter(pos int64) int {
	i, _ := slices.BinarySearchFunc(t.log, pos+1, func(e tableChange, pos int64) int {
		return cmp.Compare(e.pos, pos)
	})
	return i
}

// enter puts w in the table's log once, and counts further changes.
func (t *table) enter(w *write, e drivers.EventType) {
	i := t.indexAfter(w.pos - 1)
	if i < len(t.log) && t.log[i].write == w {
		t.log[i].times++
		t.log[i].events |= 1 << e
		return
	}
	t.log = slices.Insert(t.log, i, tableChange{w, e, 1 << e, 1})
	w.tables = append(w.tables, t)
	w.refs++
}

// wanted marks which of the first n changes a watch still refers to. These are the first change
// after each armed or just fired watch was armed, and all changes after unreported, which a
// persistent watch has not reported yet.
func (t *table) wanted(n int, unreported int64) []bool {
	wanted := make([]bool, n)
	for i := range wanted {
		wanted[i] = t.log[i].pos > unreported
	}
	mark := func(armed int64) {
		if i := t.indexAfter(armed); i < n {
			wanted[i] = true
		}
	}
	for _, pos := range t.armed {
		mark(pos)
	}
	for _, fired := range t.fired {
		mark(fired.after)
	}
	return wanted
}

// The ledger derives what a session's close deletes from the session's creates: the ephemeral
// nodes that were not deleted earlier. The Meter may see replies of several sessions in another
// order than the service made the writes. So a create or delete seen before the reply to the
// close of the owner's session may still be later than the close.
//
// Note: one case is not detected: another session deletes the node, the owner's session then
// closes, and the reply to the close is seen first. The node then counts as deleted twice.

// ownedBy records that the create at pos made n an ephemeral node of the session.
func (n *node) ownedBy(s *sessionState, pos int64) {
	if n.changed(pos, unbounded) && !s.closing {
		return // already deleted
	}
	s.ephemerals[n.path] = pos
	if pos > n.created {
		n.owner, n.created = s, pos
	}
}

// endEphemeral records that an ephemeral node created before pos no longer exists at pos.
func (l *ledger) endEphemeral(n *node, pos int64) {
	o := n.owner
	if o == nil || pos < n.created {
		return
	}
	if !o.closing || pos <= o.last.Load() { // else the session's close may have deleted the node first
		delete(o.ephemerals, n.path)
	}
	n.owner = nil
}

// recordDeletesOfClose enters the session's close w in the logs of the nodes that it deleted, which are nobody's then.
func (l *ledger) recordDeletesOfClose(s *sessionState, w *write) {
	for path, created := range s.ephemerals {
		if n := l.node([]byte(path)); !n.changed(created, w.pos) {
			l.record(w, []byte(path), drivers.Deleted)
			if s.closing {
				l.delivery.Closed([]byte(path), created, w.pos)
			}
		}
	}
	l.releaseEphemerals(s)
}

// releaseEphemerals removes the session as owner of its ephemeral nodes.
func (l *ledger) releaseEphemerals(s *sessionState) {
	for path := range s.ephemerals {
		if n := l.nodes[path]; n != nil {
			if n.owner == s {
				n.owner = nil
			}
			l.tidy(n)
		}
	}
	clear(s.ephemerals)
}

// changed reports whether n is known to have been created or deleted between the two positions.
func (n *node) changed(after, before int64) bool {
	t := n.tables[data]
	return slices.ContainsFunc(t.log[t.indexAfter(after):], func(e tableChange) bool {
		return e.pos < before && e.events&^(1<<drivers.DataChanged) != 0
	})
}

// A persistentWatch is a persistent watch of a session. It reports every change that it covers,
// in order, so the notifications of all changes before reported have come or will never come. One
// write can be several changes: a session that ends deletes all its ephemeral nodes.
//
// Note: where several persistent watches of a session cover one change and each has its own
// notification, as on etcd, the first notification is taken for all of them.
type persistentWatch struct {
	state    *sessionState
	node     *node
	tree     bool
	reported int64    // position of the latest reported change; at first of the reply that armed the watch
	at       []*table // tables of the changes at position reported, once per change
}

// addPersistent enters a persistent watch. Arming the same watch again changes nothing.
func (l *ledger) addPersistent(s *sessionState, m *drivers.Message) {
	n, tree := l.node(m.Path), m.Op == drivers.OpWatchTree
	if slices.ContainsFunc(s.persistent, func(k *persistentWatch) bool { return k.node == n && k.tree == tree }) {
		return
	}
	k := &persistentWatch{state: s, node: n, tree: tree, reported: m.Pos}
	n.persistent = append(n.persistent, k)
	s.persistent = append(s.persistent, k)
	l.persistent++
}

// removePersistent removes the session's persistent watches.
func (l *ledger) removePersistent(s *sessionState) {
	for _, k := range s.persistent {
		k.node.persistent = slices.DeleteFunc(k.node.persistent, func(o *persistentWatch) bool { return o == k })
		l.tidy(k.node)
	}
	l.persistent -= len(s.persistent)
	s.persistent = nil
}

// covers reports whether changes in the table's log fire the watch. A watch on a tree does not
// report changed children, since it reports the child itself.
func (k *persistentWatch) covers(t *table) bool {
	own := t == t.node.tables[data]
	if k.node == t.node {
		return own || !k.tree
	}
	return k.tree && own && IsBelow(t.node.path, k.node.path)
}

// IsBelow reports whether path is below above. All paths are below the root.
func IsBelow(path, above string) bool {
	return above == "/" || strings.HasPrefix(path, above) && len(path) > len(above) && path[len(above)] == '/'
}

// upTo returns the position up to which the watch has reported the changes in the table.
func (k *persistentWatch) upTo(t *table) int64 {
	i := t.indexAfter(k.reported - 1)
	if len(k.at) == 0 || i == len(t.log) || t.log[i].pos > k.reported {
		return k.reported
	}
	reported := 0
	for _, at := range k.at {
		if at == t {
			reported++
		}
	}
	if reported < t.log[i].times {
		return k.reported - 1
	}
	return k.reported
}

// report records that the watch has reported a change at pos in the table.
func (k *persistentWatch) report(t *table, pos int64) {
	switch {
	case pos > k.reported:
		k.reported, k.at = pos, append(k.at[:0], t)
	case pos == k.reported:
		k.at = append(k.at, t)
	}
}

// persistentOn returns the session's persistent watches that cover the table.
func (s *sessionState) persistentOn(t *table) (all []*persistentWatch) {
	for _, k := range s.persistent {
		if k.covers(t) {
			all = append(all, k)
		}
	}
	return all
}

// unreported returns the position up to which all persistent watches have reported the changes in
// the table.
func (l *ledger) unreported(t *table) int64 {
	pos := int64(unbounded)
	for _, k := range l.persistentOver(t) {
		pos = min(pos, k.upTo(t))
	}
	return pos
}

// persistentOver returns the persistent watches that cover the table: on its node and on the nodes above it.
func (l *ledger) persistentOver(t *table) (all []*persistentWatch) {
	if l.persistent == 0 {
		return nil
	}
	for path := []byte(t.node.path); len(path) > 0; path = pathname.Parent(path) {
		n := l.nodes[string(path)]
		if n == nil {
			continue
		}
		for _, k := range n.persistent {
			if k.covers(t) {
				all = append(all, k)
			}
		}
	}
	return all
}
