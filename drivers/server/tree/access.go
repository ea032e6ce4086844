package tree

import (
	"iter"
	"slices"
	"unique"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// An access is a node's ACL. Nodes have few different ACLs, so equal ones share one value. The zero
// access is the open ACL.
type access struct{ first unique.Handle[grant] }

type grant struct {
	wire.ACL
	rest access
}

// accessOf returns the access for a list. It does not keep the list.
func accessOf(list []wire.ACL) (a access) {
	for _, acl := range slices.Backward(list) {
		a = access{unique.Make(grant{acl, a})}
	}
	return a
}

func (a access) isEveryones() bool { return a == access{} }

// all yields the entries in order. The open ACL yields nothing.
func (a access) all() iter.Seq[wire.ACL] {
	return func(yield func(wire.ACL) bool) {
		for !a.isEveryones() {
			g := a.first.Value()
			if !yield(g.ACL) {
				return
			}
			a = g.rest
		}
	}
}
