package tree

import (
	"iter"
	"slices"
	"unique"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// An access is a list of who may do what. Nodes have few different ones, so
// equal ones are one and the same. The zero access is everyone's.
type access struct{ first unique.Handle[grant] }

type grant struct {
	wire.ACL
	rest access
}

// accessOf returns the access of a list, which it does not keep.
func accessOf(list []wire.ACL) (a access) {
	for _, acl := range slices.Backward(list) {
		a = access{unique.Make(grant{acl, a})}
	}
	return a
}

func (a access) isEveryones() bool { return a == access{} }

// all yields what was listed, in order; nothing for everyone's.
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
