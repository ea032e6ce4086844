package metrics

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A lasting watch is a persistent watch of a session. It reports every change that it covers,
// in order, so the notifications of all changes before told have come or will never come. One
// write can be several changes: a session that ends deletes all its ephemeral nodes.
//
// Note: where several persistent watches of a session cover one change and each has its own
// notification, as on etcd, the first notification is taken for all of them.
type lasting struct {
	node *node
	tree bool
	told int64    // position of the latest reported change; at first of the reply that armed the watch
	at   []*table // tables of the changes at position told that were reported, once per change
}

// keep enters a persistent watch. Arming the same watch again changes nothing.
func (l *ledger) keep(a *account, m *drivers.Message) {
	n, tree := l.node(m.Path), m.Op == drivers.OpWatchTree
	if slices.ContainsFunc(a.lasting, func(k *lasting) bool { return k.node == n && k.tree == tree }) {
		return
	}
	k := &lasting{node: n, tree: tree, told: m.Pos}
	n.lasting = append(n.lasting, k)
	a.lasting = append(a.lasting, k)
	l.lasting++
}

// drop removes the session's persistent watches.
func (l *ledger) drop(a *account) {
	for _, k := range a.lasting {
		k.node.lasting = slices.DeleteFunc(k.node.lasting, func(o *lasting) bool { return o == k })
		l.tidy(k.node)
	}
	l.lasting -= len(a.lasting)
	a.lasting = nil
}

// covers reports whether changes in the table's log fire the watch. A watch on a tree does not
// report changed children, since it reports the child itself.
func (k *lasting) covers(t *table) bool {
	own := t == t.node.tables[data]
	if k.node == t.node {
		return own || !k.tree
	}
	return k.tree && own && within(t.node.path, k.node.path)
}

// within reports whether path is below above.
func within(path, above string) bool {
	return above == "/" || strings.HasPrefix(path, above) && len(path) > len(above) && path[len(above)] == '/'
}

// upTo returns the position up to which the watch has reported the changes in the table.
func (k *lasting) upTo(t *table) int64 {
	i := t.after(k.told - 1)
	if len(k.at) == 0 || i == len(t.log) || t.log[i].pos > k.told {
		return k.told
	}
	told := 0
	for _, at := range k.at {
		if at == t {
			told++
		}
	}
	if told < t.log[i].times {
		return k.told - 1
	}
	return k.told
}

// tell records that the watch has reported a change at pos in the table.
func (k *lasting) tell(t *table, pos int64) {
	switch {
	case pos > k.told:
		k.told, k.at = pos, append(k.at[:0], t)
	case pos == k.told:
		k.at = append(k.at, t)
	}
}

// tells returns the session's persistent watches that cover the table.
func (a *account) tells(t *table) (all []*lasting) {
	for _, k := range a.lasting {
		if k.covers(t) {
			all = append(all, k)
		}
	}
	return all
}

// untold returns the position up to which all persistent watches have reported the changes in
// the table. These are watches on the table's node and on the nodes above it.
func (l *ledger) untold(t *table) int64 {
	pos := int64(unbounded)
	if l.lasting == 0 {
		return pos
	}
	for path := []byte(t.node.path); path != nil; path = parent(path) {
		n := l.nodes[string(path)]
		if n == nil {
			continue
		}
		for _, k := range n.lasting {
			if k.covers(t) {
				pos = min(pos, k.upTo(t))
			}
		}
	}
	return pos
}
