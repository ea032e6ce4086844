package tree

// children can be found by name. Their order depends only on the transactions. The zero value is
// empty.
type children struct {
	list  []*Node
	table table // places in list, by name
	below int   // number of descendants of the parent
	history
}

// A history is the part of a node's stat that depends on the creation and deletion of children.
type history struct {
	pzxid   int64 // zxid of the last creation or deletion of a child, or the node's czxid
	creates int32 // number of children ever created; wraps
}

// find returns the child with the name, or nil.
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

// add appends n. No other child may have its name.
func (c *children) add(n *Node) {
	n.place = int32(len(c.list))
	c.list = append(c.list, n)
	c.enter(n)
}

// remove removes n and moves the last child to its place. n keeps its place for putBack.
func (c *children) remove(n *Node) {
	c.table.remove(hashOf(n.name), n.place)
	last := len(c.list) - 1
	if moved := c.list[last]; moved != n {
		c.move(moved, n.place)
	}
	c.list[last] = nil
	c.list = c.list[:last]
}

// putBack undoes remove. All later changes must have been undone before.
func (c *children) putBack(n *Node) {
	last := int32(len(c.list))
	c.list = append(c.list, n)
	if n.place != last {
		c.move(c.list[n.place], last)
		c.list[n.place] = n
	}
	c.enter(n)
}

// enter adds n, which is in the list, to the table.
func (c *children) enter(n *Node) {
	if c.table.full(len(c.list)) {
		c.table = c.table.grown()
	}
	c.table.add(slotOf(hashOf(n.name), n.place))
}

// move moves n to another place and overwrites the child there.
func (c *children) move(n *Node, place int32) {
	hash := hashOf(n.name)
	c.table[c.table.find(hash, n.place)] = slotOf(hash, place)
	c.list[place], n.place = n, place
}
