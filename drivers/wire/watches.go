package wire

import "github.com/stampede-bench/stampede/drivers"

// A WatchKind is which of the server's one-shot watches it is, or a set of them.
// A [SetWatchesRequest] has a list of paths for each.
type WatchKind uint8

// Kinds of watches.
const (
	DataWatch  WatchKind = 1 << iota // of a node that exists
	ExistWatch                       // of a node that does not
	ChildWatch
)

// FiredBy is the kinds of watches that a change fires. Client libraries have to
// agree with the server about it: it is they who arm what has not fired again
// after a reconnect.
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
