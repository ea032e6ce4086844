package drivers

// A Watch is the function that a call arms as a watch; nil arms none.
//
// If the call returns nil (for Exists, also if the node is missing), the Watch is called
// exactly once: with the first change after the read that armed it, or with Lost when the
// session ends. If the call returns an error, the Watch is never called. It may be called
// before the arming call has returned.
//
// The context bounds the call, not the watch: an abandoned wait leaves a harmless watch
// behind. A Watch must not block and must not call the Conn.
type Watch func(Event)

// An Event is the change that fired a watch.
type Event struct {
	Type EventType
	Path string
	// Pos is the position of the write that fired the watch, or 0 if the backend does not
	// report it (ZooKeeper before 3.9, and Lost).
	Pos int64
}

// An EventType is a kind of change.
type EventType uint8

const (
	// Created, Deleted and DataChanged are changes of the watched node.
	Created EventType = iota + 1
	Deleted
	DataChanged
	// ChildrenChanged means that a child of the watched node was created or deleted.
	ChildrenChanged
	// Lost means that the session has ended: no change will be reported any more.
	Lost
	// Rearmed means that a [PersistentWatcher]'s watch was not armed for a while, in
	// which any change may have happened.
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
