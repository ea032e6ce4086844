package metrics

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A lasting watch is a persistent one of a session: it tells every change that
// it covers, in order, so that those before told have been told or never will be.
// One write may be several changes: the end of a session with several nodes.
//
// Note: where a session has several that cover one change and each has its own
// notification, as on etcd, the first is taken for all of them.
type lasting struct {
	node *node
	tree bool
	told int64    // position; at first of the reply that armed it
	at   []*table // of the changes at told that have been told, each time
}

// keep enters a persistent watch. Arming what is armed is one watch.
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

// drop ends the session's persistent watches.
func (l *ledger) drop(a *account) {
	for _, k := range a.lasting {
		k.node.lasting = slices.DeleteFunc(k.node.lasting, func(o *lasting) bool { return o == k })
		l.tidy(k.node)
	}
	l.lasting -= len(a.lasting)
	a.lasting = nil
}

// covers tells whether changes in the table's log fire the watch: one on a tree is
// not told of changed children, since it is told of the child.
func (k *lasting) covers(t *table) bool {
	own := t == t.node.tables[data]
	if k.node == t.node {
		return own || !k.tree
	}
	return k.tree && own && within(t.node.path, k.node.path)
}

// within tells whether a node is below another.
func within(path, above string) bool {
	return above == "/" || strings.HasPrefix(path, above) && len(path) > len(above) && path[len(above)] == '/'
}

// upTo is the position up to which the watch has told of the table.
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

// tell says that the watch has told of a change at pos in the table.
func (k *lasting) tell(t *table, pos int64) {
	switch {
	case pos > k.told:
		k.told, k.at = pos, append(k.at[:0], t)
	case pos == k.told:
		k.at = append(k.at, t)
	}
}

// tells are the session's persistent watches that tell of the table.
func (a *account) tells(t *table) (all []*lasting) {
	for _, k := range a.lasting {
		if k.covers(t) {
			all = append(all, k)
		}
	}
	return all
}

// untold is the position up to which all persistent watches have told of the
// table. They are those on its node and on the nodes above.
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
