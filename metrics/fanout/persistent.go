package fanout

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A persistentWatch is a persistent watch of a session. It reports every change that it covers,
// in order, so the notifications of all changes before reported have come or will never come. One
// write can be several changes: a session that ends deletes all its ephemeral nodes.
//
// Note: where several persistent watches of a session cover one change and each has its own
// notification, as on etcd, the first notification is taken for all of them.
type persistentWatch struct {
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
	k := &persistentWatch{node: n, tree: tree, reported: m.Pos}
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
	return k.tree && own && isBelow(t.node.path, k.node.path)
}

// isBelow reports whether path is below above.
func isBelow(path, above string) bool {
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
// the table. These are watches on the table's node and on the nodes above it.
func (l *ledger) unreported(t *table) int64 {
	pos := int64(unbounded)
	if l.persistent == 0 {
		return pos
	}
	for path := []byte(t.node.path); path != nil; path = parent(path) {
		n := l.nodes[string(path)]
		if n == nil {
			continue
		}
		for _, k := range n.persistent {
			if k.covers(t) {
				pos = min(pos, k.upTo(t))
			}
		}
	}
	return pos
}
