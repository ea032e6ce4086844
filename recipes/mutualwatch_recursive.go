package recipes

import "github.com/stampede-bench/stampede/drivers"

// A RecursiveMutualWatch is a [MutualWatch] whose members keep one persistent
// recursive watch each, as those of a [RecursiveGroup] do. It names the member
// that has gone, so no member lists the group again, and no read has to arm a
// watch.
// Cost: N clients join, and leave again: N(N−1) notifications, N reads, 2N
// writes; N members keep N standing watches, and a member that joins or leaves
// wakes up to N−1.
type RecursiveMutualWatch struct {
	RecursiveGroup
}

// NewRecursiveMutualWatch returns the members in dir, an existing node.
func NewRecursiveMutualWatch(conn drivers.PersistentWatcher, dir string) *RecursiveMutualWatch {
	return &RecursiveMutualWatch{*NewRecursiveGroup(conn, dir)}
}
