package tree

// children are found by name and listed in an order that depends on nothing but
// the transactions. The zero children are none.
type children struct {
	list  []*Node
	table table // of the places in list
	below int   // how many nodes are below the one whose children they are
	history
}

// A history is what a node remembers of children that came and went.
type history struct {
	pzxid   int64 // of the last that did; before the first the node's own czxid
	creates int32 // ever; wraps
}

// find returns the child of the name, or nil.
func (c *children) find(name string) *Node {
	if len(c.list) == 0 {
		return nil
	}
	hash := hashOf(name)
	for i := c.table.home(hash); c.table[i].used(); i = c.table.next(i) {
		if c.table[i].hash != hash {
			continue
		}
		if n := c.list[c.table[i].place()]; n.name == name {
			return n
		}
	}
	return nil
}

// add puts n last. No child may have its name.
func (c *children) add(n *Node) {
	n.place = int32(len(c.list))
	c.list = append(c.list, n)
	c.enter(n)
}

// remove takes n away, which still knows where it was; the last takes its place.
func (c *children) remove(n *Node) {
	c.table.remove(hashOf(n.name), n.place)
	last := len(c.list) - 1
	if moved := c.list[last]; moved != n {
		c.move(moved, n.place)
	}
	c.list[last] = nil
	c.list = c.list[:last]
}

// putBack undoes remove, if all that was done since is undone.
func (c *children) putBack(n *Node) {
	last := int32(len(c.list))
	c.list = append(c.list, n)
	if n.place != last {
		c.move(c.list[n.place], last)
		c.list[n.place] = n
	}
	c.enter(n)
}

// enter makes n, which is in the list, be found.
func (c *children) enter(n *Node) {
	if c.table.full(len(c.list)) {
		c.table = c.table.grown()
	}
	c.table.add(slotOf(hashOf(n.name), n.place))
}

// move gives n another place; what was there is lost.
func (c *children) move(n *Node, place int32) {
	hash := hashOf(n.name)
	c.table[c.table.find(hash, n.place)] = slotOf(hash, place)
	c.list[place], n.place = n, place
}
