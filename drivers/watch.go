package drivers

// A Watch is how a call arms a watch; nil arms none.
//
// If the call returns nil (for Exists, also when the node is missing) the Watch
// is called exactly once: with the first change after the read that armed it, or
// with Lost when the session ends. If the call returns an error it is never
// called. It may be called before the arming call has returned.
//
// The context bounds the call, not the watch; an abandoned wait leaves a
// harmless watch behind. A Watch must not block and must not call the Conn.
type Watch func(Event)

// An Event is what fired a watch.
type Event struct {
	Type EventType
	Path string
	// Pos is the position of the write that fired it, or 0 where the backend
	// does not say (ZooKeeper before 3.9, and Lost).
	Pos int64
}

// An EventType is a kind of change.
type EventType uint8

const (
	// Created, Deleted and DataChanged are changes of the watched node.
	Created EventType = iota + 1
	Deleted
	DataChanged
	// ChildrenChanged is a child of the watched node come or gone.
	ChildrenChanged
	// Lost is the end of the session: no change will be told any more.
	Lost
	// Rearmed says of a [PersistentWatcher]'s watch that it was not armed for
	// a while, in which there may have been any change.
	Rearmed
)

func (t EventType) String() string {
	switch t {
	case Created:
		return "created"
	case Deleted:
		return "deleted"
	case DataChanged:
		return "data changed"
	case ChildrenChanged:
		return "children changed"
	case Lost:
		return "lost"
	case Rearmed:
		return "rearmed"
	}
	return "no event"
}
