package wire

import "github.com/stampede-bench/stampede/drivers"

// A WatchKind is a kind of one-shot watch on the server, or a set of kinds. A
// [SetWatchesRequest] has a list of paths for each kind.
type WatchKind uint8

// Kinds of watches.
const (
	DataWatch  WatchKind = 1 << iota // of a node that exists
	ExistWatch                       // of a node that does not exist
	ChildWatch
)

// FiredBy returns the kinds of watches that a change fires. Clients have to agree with the
// server about this: after a reconnect, the client arms the watches that have not fired.
func FiredBy(e drivers.EventType) WatchKind {
	switch e {
	case drivers.Created:
		return ExistWatch
	case drivers.DataChanged:
		return ExistWatch | DataWatch
	case drivers.ChildrenChanged:
		return ChildWatch
	case drivers.Deleted:
		return ExistWatch | DataWatch | ChildWatch
	}
	return 0
}
