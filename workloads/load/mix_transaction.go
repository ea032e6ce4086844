package load

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/history"
)

// A transaction sets several keys, all or none. A conditional one reads them first, one after the other.
type transaction struct {
	parts []mixPart
	sets  []drivers.Call // the calls of the parts
	read  int            // how many parts have been read
}

// A mixPart is a set of one key in a transaction.
type mixPart struct {
	key      int
	over     int32 // the version that the key must have
	before   int32
	recorded *history.Op
}

// choose chooses the keys at random. A key that is already one of the parts gives way to the next one.
func (c *mixClient) choose() {
	c.parts = c.parts[:0]
	for range c.TxnOps {
		key := c.draw()
		for slices.ContainsFunc(c.parts, func(p mixPart) bool { return p.key == key }) {
			key = (key + 1) % c.Keys
		}
		c.parts = append(c.parts, mixPart{key: key, over: drivers.AnyVersion})
	}
}

// transact sets the parts, or reads the first one of a conditional transaction.
func (c *mixClient) transact() {
	if !c.Conditional {
		c.setAll()
		return
	}
	c.read, c.key = 0, c.parts[0].key
	c.look()
}

// hasRead continues a conditional transaction.
func (c *mixClient) hasRead(version int32) {
	c.parts[c.read].over = version
	if c.read++; c.read == len(c.parts) {
		c.setAll()
		return
	}
	c.key = c.parts[c.read].key
	c.look()
}

func (c *mixClient) setAll() {
	c.sets = c.sets[:0]
	for i := range c.parts {
		p := &c.parts[i]
		p.recorded, p.before = c.recordWrite(p.key, p.over), c.Known(p.key)
		c.sets = append(c.sets, drivers.Call{Op: drivers.OpSet, Path: c.paths[p.key], Data: c.newValue(), Version: p.over})
	}
	c.call = drivers.Call{Op: drivers.OpMulti, Sets: c.sets}
}

// committed handles the answer to a transaction that set all keys.
func (c *mixClient) committed(stats []drivers.Stat) {
	for i, p := range c.parts {
		if p.recorded != nil {
			c.operations.Returned(p.recorded, history.Write{Over: int64(p.over), Version: int64(stats[i].Version)})
		}
		c.SetReturned(p.key, p.before, stats[i].Version, p.over)
	}
}

// rejectedAll records that a transaction set no key. Which key had another version is not known of each, so that
// the history gets nothing to judge.
func (c *mixClient) rejectedAll() {
	for _, p := range c.parts {
		if p.recorded != nil {
			c.operations.Returned(p.recorded, history.Unread())
		}
	}
}
