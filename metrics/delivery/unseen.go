package delivery

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// Changes that no request has made: the end of a session deletes its ephemeral nodes, the service removes containers and
// nodes whose time to live is over, and other processes write. What is known of their positions differs.

// Closed enters that the request that closed a session has deleted an ephemeral node, which was created at a position.
func (c *Checker) Closed(path []byte, created, pos int64) {
	if c == nil || c.turnedSince(path, created) {
		return
	}
	n := c.node(path)
	c.keep(n)
	c.turn(n, drivers.Deleted, pos)
	c.change(n, drivers.Deleted, pos)
	if p := c.parentOf(n); p != nil {
		c.change(p, drivers.ChildrenChanged, pos)
	}
}

// turnedSince reports whether the node is known to have been created or deleted after the position.
func (c *Checker) turnedSince(path []byte, pos int64) bool {
	n := c.nodes[string(path)]
	return n != nil && n.turned > pos
}

// parentOf returns the node above, nil for the root.
func (c *Checker) parentOf(n *node) *node {
	up := pathname.Parent(n.path)
	if up == "" {
		return nil
	}
	p := c.node([]byte(up))
	c.keep(p)
	return p
}

// Vanished enters that an ephemeral node, which was created at a position, is deleted, or will be, because its session has
// ended. When is not known, only that its session had a reply at the position after. Whoever watches it or the list in which it
// stands may have to be told.
func (c *Checker) Vanished(path []byte, created, after int64) {
	if c == nil || c.turnedSince(path, created) {
		return
	}
	n := c.node(path)
	c.keep(n)
	c.suspect(n, drivers.Deleted)
	if p := c.parentOf(n); p != nil && p.unseen <= after {
		c.suspect(p, drivers.ChildrenChanged)
	}
}

// suspect makes the watches on the node that the change fires owe a notification, if it has been made.
func (c *Checker) suspect(n *node, e drivers.EventType) {
	for w := range n.firedBy(e) {
		w.owe(unbounded, e)
	}
	if c.lastings > 0 {
		c.changeLasting(change{n, e, unbounded}, unbounded)
	}
}

// firedBy yields the one-shot watches on the node that the event fires.
func (n *node) firedBy(e drivers.EventType) func(yield func(*watch) bool) {
	return func(yield func(*watch) bool) {
		first, last := kindsOf(e)
		for k := first; k <= last; k++ {
			for w := n.first[k]; w != nil; w = w.next {
				if (k == children || w.absent == (e == drivers.Created)) && !yield(w) {
					return
				}
			}
		}
	}
}

// Unseen enters a change that no session is known to have made, and that a notification has shown: it was made at a position
// after after, and at before at the latest. Again says that an earlier notification may have shown the same change.
func (c *Checker) Unseen(path []byte, e drivers.EventType, after, before int64, again bool) {
	if c == nil {
		return
	}
	n := c.node(path)
	c.keep(n)
	c.unseen(n, e, after, before, again)
	if e != drivers.Created && e != drivers.Deleted {
		return
	}
	if n.turned = max(n.turned, before); before == after+1 {
		c.turn(n, e, before)
	}
	if p := c.parentOf(n); p != nil {
		c.unseen(p, drivers.ChildrenChanged, after, before, again)
	}
}

func (c *Checker) unseen(n *node, e drivers.EventType, after, before int64, again bool) {
	k, _ := kindsOf(e)
	if e == drivers.ChildrenChanged {
		n.unseen = max(n.unseen, before)
	}
	if before == after+1 {
		switch {
		case before > n.changed[k] || before == n.changed[k] && n.events[k]&(1<<e) == 0:
			c.change(n, e, before)
		case before < n.changed[k]: // it may have been entered before
			for w := range n.firedBy(e) {
				w.owe(before, e)
			}
		}
		return
	}
	for w := range n.firedBy(e) {
		switch {
		case w.at <= after:
			w.owe(before, e)
		case w.at >= before && w.owed == unbounded: // it is this change that was in doubt
			w.resolve(0)
		}
	}
	if c.lastings > 0 && !again {
		c.changeLasting(change{n, e, unbounded}, before)
	}
}
