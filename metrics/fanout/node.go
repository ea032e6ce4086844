package fanout

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
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
	event drivers.EventType
	times int // number of changes: a session's end may remove several children
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

// parent returns the path of the parent node, or nil for the root.
func parent(path []byte) []byte {
	switch i := bytes.LastIndexByte(path, '/'); {
	case i > 0:
		return path[:i]
	case i == 0 && len(path) > 1:
		return path[:1]
	}
	return nil
}

// after returns the index of the first change later than pos.
func (t *table) after(pos int64) int {
	i, _ := slices.BinarySearchFunc(t.log, pos+1, func(e tableChange, pos int64) int {
		return cmp.Compare(e.pos, pos)
	})
	return i
}

// enter puts w in the table's log once, and counts repeated changes.
func (t *table) enter(w *write, e drivers.EventType) {
	i := t.after(w.pos - 1)
	if i < len(t.log) && t.log[i].write == w {
		t.log[i].times++
		return
	}
	t.log = slices.Insert(t.log, i, tableChange{w, e, 1})
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
		if i := t.after(armed); i < n {
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
