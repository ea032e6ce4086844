package delivery

import (
	"fmt"
	"math"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// A Checker checks the notifications of sessions that share a service. Its methods and those of its
// sessions must be called by one goroutine at a time, except [Session.Reach]. A nil Checker and its
// sessions, which are nil, check nothing.
type Checker struct {
	checked  int64
	report   func(Violation)
	nodes    map[string]*node
	recent   [keptChanges]*node // that were changed last
	oldest   int                // index in recent
	lastings int                // persistent watches, of all sessions
	told     []*Session         // scratch space of lasting
	// streaming are the sessions with watch streams.
	streaming map[*Session]struct{}
}

// keptChanges is the number of latest changes that are remembered for watches whose arming is seen
// later than the change: the replies came on two connections.
const keptChanges = 1 << 12

// New returns a Checker that reports each violation, and what it could not decide.
func New(report func(Violation)) *Checker {
	return &Checker{report: report, nodes: map[string]*node{}, streaming: map[*Session]struct{}{}}
}

// Checked returns how many notifications have been checked.
func (c *Checker) Checked() int64 {
	if c == nil {
		return 0
	}
	return c.checked
}

// A Kind is a promise that was broken, or that it is not known whether it was.
type Kind uint8

// The kinds of violations.
const (
	Missing    Kind = iota + 1 // the session has had a later reply or event, and not the notification
	Unasked                    // no watch of the session waits for it
	Twice                      // it has come before
	Late                       // it came after a reply that shows the change
	OutOfOrder                 // a notification of a later change came first
	WrongType                  // the watch waits for another change, or the write made another one
	Forgotten                  // missing because the watch was not armed again after a reconnect
	// Undecided is no violation. The connection, or the audit, has ended, and no answer that shows the change has come:
	// the notification may have been on its way.
	Undecided
)

// A Violation is a notification that broke a promise, or that is missing or may be.
type Violation struct {
	Kind    Kind
	Session *Session
	Path    string
	Event   drivers.EventType
	Pos     int64 // position of the change, 0 if it is not known
}

// String says in one clause what is wrong.
func (v Violation) String() string {
	event := fmt.Sprintf("%s of %s", v.Event, v.Path)
	if v.Pos > 0 {
		event += fmt.Sprintf(" at position %d", v.Pos)
	}
	switch v.Kind {
	case Missing:
		return "no notification for " + event + ", though a later answer has come"
	case Forgotten:
		return "no notification for " + event + " after the watch was armed again on a new connection"
	case Twice:
		return "two notifications for " + event
	case Undecided:
		if v.Event == drivers.Rearmed {
			return "the persistent watch on " + v.Path + " was armed again on a new connection, and does not report what has changed meanwhile"
		}
		return "no notification for " + event + ", and no later answer that shows whether it was due"
	case Late:
		return "the notification for " + event + " came after a reply that shows the change"
	case OutOfOrder:
		return "the notification for " + event + " came after that for a later change"
	case WrongType:
		return "a notification for " + event + ", which is not what has happened"
	}
	return "a notification for " + event + ", which the session does not watch"
}

// The two kinds of watches on a node.
const (
	data     = iota // armed by exists and get
	children        // armed by children
)

// A node is a path that is watched or was changed lately.
type node struct {
	path    string
	first   [2]*watch // one-shot watches, by kind
	lasting []*lasting
	changed [2]int64 // position of the latest known change, by the kind of watch that it fires
	events  [2]uint8 // the changes at these positions, a bit each
	told    change   // the latest notification of the node itself that had a position
	by      *Session // that told was sent to
	shown   int64    // position of the latest reply that showed whether the node exists
	exists  bool     // as of shown
	turned  int64    // position by which it is known to have been created or deleted last
	unseen  int64    // position by which its list of children has changed last that no session is known to have made
	kept    int      // its entries in recent
}

// A change is what a notification reports.
type change struct {
	node  *node
	event drivers.EventType
	pos   int64
}

func (c *Checker) node(path []byte) *node {
	n := c.nodes[string(path)]
	if n == nil {
		n = &node{path: string(path)}
		c.nodes[n.path] = n
	}
	return n
}

// keep remembers the node until many others were changed.
func (c *Checker) keep(n *node) {
	if c.recent[(c.oldest+keptChanges-1)%keptChanges] == n {
		return
	}
	old := c.recent[c.oldest]
	c.recent[c.oldest] = n
	c.oldest = (c.oldest + 1) % keptChanges
	n.kept++
	if old != nil {
		old.kept--
		c.tidy(old)
	}
}

func (c *Checker) tidy(n *node) {
	if n.kept == 0 && n.first[data] == nil && n.first[children] == nil && len(n.lasting) == 0 && c.nodes[n.path] == n {
		delete(c.nodes, n.path)
	}
}

// wrote enters what a write has changed, according to its reply.
func (c *Checker) wrote(m *drivers.Message) {
	if len(m.Parts) == 0 {
		c.apply(m.Op, m.Path, m.Pos)
		c.verify(m.Op, m.Path, m.Pos)
		return
	}
	for _, p := range m.Parts {
		c.apply(p.Op, p.Path, m.Pos)
	}
	for _, p := range m.Parts {
		c.verify(p.Op, p.Path, m.Pos)
	}
}

func (c *Checker) apply(op drivers.Op, path []byte, pos int64) {
	c.stream(op, path, pos)
	e := op.Change()
	if e == 0 || len(path) == 0 {
		return
	}
	n := c.node(path)
	c.keep(n)
	if e == drivers.DataChanged {
		c.change(n, e, pos)
		return
	}
	c.turn(n, e, pos)
	c.change(n, e, pos)
	if up := pathname.Parent(path); len(up) > 0 {
		p := c.node(up)
		c.keep(p)
		c.change(p, drivers.ChildrenChanged, pos)
	}
}

// change makes the watches on the node that the change fires owe a notification.
func (c *Checker) change(n *node, e drivers.EventType, pos int64) {
	first, last := kindsOf(e)
	for k := first; k <= last; k++ {
		switch {
		case pos > n.changed[k]:
			n.changed[k] = pos
			n.events[k] = 1 << e
		case pos == n.changed[k]:
			n.events[k] |= 1 << e
		}
		for w := n.first[k]; w != nil; w = w.next {
			w.owe(pos, e)
		}
	}
	if c.lastings > 0 {
		c.changeLasting(change{n, e, pos}, pos)
	}
}

// kindsOf returns the first and the last kind of watches that an event at their node fires.
func kindsOf(e drivers.EventType) (first, last int) {
	switch e {
	case drivers.Created, drivers.DataChanged:
		return data, data
	case drivers.ChildrenChanged:
		return children, children
	}
	return data, children
}

// verify compares a write that has been entered as a whole with the notifications that came before
// its reply.
func (c *Checker) verify(op drivers.Op, path []byte, pos int64) {
	n := c.nodes[string(path)]
	if op.Change() == 0 || n == nil {
		return
	}
	if n.told.pos == pos && n.changed[data] == pos && n.events[data]&(1<<n.told.event) == 0 {
		n.by.violated(WrongType, n.told)
		n.told.pos = 0
	}
	if c.lastings > 0 {
		c.verifyLasting(n, pos)
		if p := c.nodes[string(pathname.Parent(path))]; p != nil {
			c.verifyLasting(p, pos)
		}
	}
}

// turn records that the node was created or deleted.
func (c *Checker) turn(n *node, e drivers.EventType, pos int64) {
	n.turned = max(n.turned, pos)
	if pos > n.shown {
		n.shown, n.exists = pos, e == drivers.Created
	}
}

// unbounded is later than every position. What is owed at it is in doubt: it is not known whether the change has been made.
const unbounded = math.MaxInt64
