package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// Copies checks the copies that clients keep of the nodes below one node, which one client at a
// time changes. Changes are numbered from 1, and a node's data is the number of the change that
// wrote it and the node's name.
//
// A copy must have no node with data that was never written to it, and no older state of a node
// after a newer one in the same session. When changes stop, every copy must equal the tree: the
// same nodes, with the same data and versions.
type Copies struct {
	tell func(change string)

	mu      sync.Mutex
	tree    map[string]Node // what the acknowledged changes have left
	changes string          // the name of the node that is being changed; "" for none
	values  map[string]int  // the number of each name in steps
	clients []*Copy
	steps   *Steps
	judge   UpdateJudge
	safety  metrics.Safety
}

// A Node is one node's state: the number of the change that wrote its data, and its version.
type Node struct {
	Number  int64
	Version int32
}

// A Copy is what one client has of the tree in one session.
type Copy struct {
	nodes map[string]Node
	least map[string]Node // what a node's state must not be older than, also once it is gone
	at    time.Time       // when it last changed
	err   error           // why it does not change any more
	// moved has an element when something has changed.
	moved chan struct{}
}

// NodeData returns the data of a node that a change writes.
func NodeData(number int64, name string) []byte {
	return append(strconv.AppendInt(nil, number, 10), " "+name...)
}

// NewCopies returns the copies of the clients of one process of a tree with these nodes, which
// change 0 has written. later are the names of further nodes. tell passes the changes of this
// process to other processes, whose Learn they reach in this order.
func NewCopies(clients int, names, later []string, steps *Steps, tell func(change string)) *Copies {
	c := &Copies{tell: tell, tree: map[string]Node{}, values: map[string]int{}, clients: make([]*Copy, clients), steps: steps}
	for i, name := range slices.Concat(names, later) {
		c.values[name] = i
	}
	for _, name := range names {
		c.tree[name] = Node{}
	}
	steps.JudgeBy(c.judge.Take)
	for i := range clients {
		c.OpenCopy(i)
	}
	return c
}

// OpenCopy starts a client's copy from scratch, with a new session.
func (c *Copies) OpenCopy(client int) *Copy {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := &Copy{nodes: map[string]Node{}, least: map[string]Node{}, moved: make(chan struct{}, 1)}
	c.clients[client] = own
	return own
}

// Begins records that a change of a node is about to be made.
func (c *Copies) Begins(name string, number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes = name
	c.steps.Record(Step{Kind: Updating, Client: noOne, Turn: number, Value: int64(c.values[name])})
}

// A made change is one that the service has acknowledged, in the form in which processes tell it.
type made struct {
	Name string
	Node *Node // what the change has left there; nil if it has deleted the node
}

// Made records that a change was made, and what it left at the node: nil if it has deleted the node.
func (c *Copies) Made(name string, left *Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, err := json.Marshal(made{name, left})
	if err != nil {
		panic(err) // it has no field that JSON cannot represent
	}
	c.tell(string(text))
	c.made(name, left)
}

func (c *Copies) made(name string, left *Node) {
	c.changes = ""
	if left == nil {
		delete(c.tree, name)
	} else {
		c.tree[name] = *left
	}
	for _, own := range c.clients {
		own.move()
	}
}

// Learn records a change that another process has made.
func (c *Copies) Learn(text string) {
	var m made
	if json.Unmarshal([]byte(text), &m) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made(m.Name, m.Node)
}

// Saw records that a client's copy has this data at the name. A node that is gone has the zero Stat.
func (c *Copies) Saw(client int, own *Copy, name string, data []byte, stat drivers.Stat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.safety.Checked++
	own.at = time.Now()
	defer own.move()
	if stat == (drivers.Stat{}) {
		if was, held := own.nodes[name]; held {
			delete(own.nodes, name)
			own.least[name] = Node{Number: was.Number + 1}
		}
		return
	}
	prefix, of, _ := bytes.Cut(data, []byte(" "))
	number, err := strconv.ParseInt(string(prefix), 10, 64)
	value, known := c.values[name]
	if err != nil || number < 0 || string(of) != name || !known {
		c.addViolation("client %d saw %q at %s, which was never written there", client+1, data, name)
		return
	}
	now, least := Node{number, stat.Version}, own.least[name]
	switch {
	case number < least.Number:
		c.addViolation("client %d saw change %d of %s after a later one", client+1, number, name)
	case number == least.Number && now.Version < least.Version:
		c.addViolation("client %d saw version %d of %s after version %d", client+1, now.Version, name, least.Version)
	}
	if own.nodes[name].Number != number {
		c.steps.RecordAt(own.at, Step{Kind: Saw, Client: client, Turn: number, Value: int64(value)})
	}
	own.nodes[name], own.least[name] = now, now
}

// Stopped records that the copy will not change any more.
func (c *Copies) Stopped(own *Copy, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own.err = err
	own.move()
}

func (own *Copy) move() {
	select {
	case own.moved <- struct{}{}:
	default:
	}
}

// Await returns when the copy equals the tree, with the time since when it does. The node that is
// being changed may be in either state.
func (c *Copies) Await(ctx context.Context, own *Copy) (time.Time, error) {
	for {
		c.mu.Lock()
		at, wrong, err := own.at, c.wrong(own), own.err
		c.mu.Unlock()
		if wrong == "" {
			return at, nil
		}
		if err != nil {
			return time.Time{}, err
		}
		select {
		case <-own.moved:
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// wrong describes the first difference of a copy from the tree; "" if there is none.
func (c *Copies) wrong(own *Copy) string {
	if c.changes == "" && maps.Equal(own.nodes, c.tree) {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		has, held := own.nodes[name]
		want, exists := c.tree[name]
		switch {
		case name == c.changes || has == want && held == exists:
		case !held:
			return fmt.Sprintf("has no %s, which change %d wrote", name, want.Number)
		case !exists:
			return fmt.Sprintf("has %s, which was deleted", name)
		default:
			return fmt.Sprintf("has version %d of %s by change %d, and not version %d by change %d", has.Version, name, has.Number, want.Version, want.Number)
		}
	}
	return ""
}

// CheckClient checks a client whose copy differs from the tree although changes have stopped.
func (c *Copies) CheckClient(client int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.safety.Checked++
	if wrong := c.wrong(c.clients[client]); wrong != "" {
		c.addViolation("client %d %s", client+1, wrong)
	}
}

// CheckAll checks that every copy equals the tree.
func (c *Copies) CheckAll() {
	for client := range c.clients {
		c.CheckClient(client)
	}
}

func (c *Copies) addViolation(format string, args ...any) {
	AddFinding(&c.safety, false, fmt.Sprintf(format, args...))
}

// Verdict returns all findings.
func (c *Copies) Verdict() metrics.Safety {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.safety.Add(c.judge.Verdict(), MaxDetails)
}
