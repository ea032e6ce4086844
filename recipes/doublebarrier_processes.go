package recipes

import (
	"cmp"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
)

// processes returns the children that stand for processes, the lowest sequence
// number first. The node ready is not one of them.
func processes(children []drivers.Child) []drivers.Child {
	children = slices.DeleteFunc(children, func(c drivers.Child) bool { return c.Name == "ready" })
	slices.SortFunc(children, func(a, b drivers.Child) int { return cmp.Compare(a.Seq, b.Seq) })
	return children
}
