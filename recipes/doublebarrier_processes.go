package recipes

import (
	"cmp"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
)

// processes are the clients inside a double barrier, by the children of its
// node, the lowest first. The node ready is none.
func processes(children []drivers.Child) []drivers.Child {
	children = slices.DeleteFunc(children, func(c drivers.Child) bool { return c.Name == "ready" })
	slices.SortFunc(children, func(a, b drivers.Child) int { return cmp.Compare(a.Seq, b.Seq) })
	return children
}
