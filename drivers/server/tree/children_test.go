package tree

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// Random additions and removals, and their undoing, have the same effect on children as on a map
// and a list.
func TestChildrenAreAMapAndAList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c children
	m := modelOfChildren{byName: map[string]*Node{}}
	largest := 0
	for range 300 {
		var undo []func()
		before := m.clone()
		for range r.IntN(40) {
			name := strconv.Itoa(r.IntN(300))
			n := c.find(name)
			if n != m.byName[name] {
				t.Fatalf("found %v at %q, want %v", n, name, m.byName[name])
			}
			if n == nil {
				n = &Node{name: name}
				c.add(n)
				m.add(n)
				undo = append(undo, func() { c.remove(n) })
			} else {
				c.remove(n)
				m.remove(n)
				undo = append(undo, func() { c.putBack(n) })
			}
			m.want(t, &c)
		}
		if r.IntN(3) == 0 {
			for _, f := range slices.Backward(undo) {
				f()
			}
			m = before
			m.want(t, &c)
		}
		largest = max(largest, len(c.list))
	}
	if largest < 100 {
		t.Errorf("never more than %d children: the test tried too little", largest)
	}
}

type modelOfChildren struct {
	byName map[string]*Node
	list   []*Node
}

func (m *modelOfChildren) clone() modelOfChildren {
	return modelOfChildren{maps.Clone(m.byName), slices.Clone(m.list)}
}

func (m *modelOfChildren) add(n *Node) {
	m.byName[n.name] = n
	m.list = append(m.list, n)
}

func (m *modelOfChildren) remove(n *Node) {
	delete(m.byName, n.name)
	last := len(m.list) - 1
	m.list[slices.Index(m.list, n)] = m.list[last]
	m.list = m.list[:last]
}

func (m *modelOfChildren) want(t *testing.T, c *children) {
	t.Helper()
	if !slices.Equal(c.list, m.list) {
		t.Fatalf("listed %v, want %v", c.list, m.list)
	}
	for i, n := range c.list {
		if int(n.place) != i || c.find(n.name) != n {
			t.Fatalf("%q is at %d and says at %d; it is found: %v", n.name, i, n.place, c.find(n.name) == n)
		}
	}
}
