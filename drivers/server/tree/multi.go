package tree

import "github.com/stampede-bench/stampede/drivers/wire"

// A change holds the information that undoes one operation of a multi.
type change struct {
	kind    Kind
	node    *Node
	saved   Node // the previous state of the node or, for Create and Delete, of the parent
	history history
	life    int64
}

// record saves the state before an operation on n, for the snapshot in progress and for an undo.
func (t *Tree) record(kind Kind, n, saved *Node) {
	t.keep(n)
	t.keep(saved)
	if t.multi {
		t.journal = append(t.journal, change{kind, n, *saved, saved.history(), t.mortal[n]})
	}
}

// applyMulti applies all operations or none. If one fails, its result has the error, results before
// it have none, and results after it have ErrRuntimeInconsistency.
func (t *Tree) applyMulti(x *Txn) []OpResult {
	t.multi, t.results = true, t.results[:0]
	digest := t.digest
	for i := range x.Ops {
		r := t.applyOp(x, &x.Ops[i])
		t.results = append(t.results, r)
		if r.Err != wire.OK {
			t.abort(len(x.Ops) - i - 1)
			t.digest = digest
			break
		}
	}
	clear(t.journal)
	t.multi, t.journal = false, t.journal[:0]
	return t.results
}

func (t *Tree) abort(untried int) {
	for i := len(t.journal) - 1; i >= 0; i-- {
		t.undo(&t.journal[i])
	}
	t.events = t.events[:0]
	clear(t.results[:len(t.results)-1])
	for range untried {
		t.results = append(t.results, OpResult{Err: wire.ErrRuntimeInconsistency})
	}
}

func (t *Tree) undo(c *change) {
	n := c.node
	switch c.kind {
	case SetData:
		t.size.Bytes -= int64(n.data.len - c.saved.data.len)
		n.data, n.version = c.saved.data, c.saved.version
		n.mzxid, n.mtime = c.saved.mzxid, c.saved.mtime
		return
	case SetACL:
		n.access, n.aversion = c.saved.access, c.saved.aversion
		return
	case Create:
		t.disown(n)
		t.detach(n)
	case Delete:
		t.reattach(n, c.life)
		t.reown(n)
	}
	n.parent.children.history = c.history
}
