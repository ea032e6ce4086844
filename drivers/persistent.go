package drivers

import "context"

// A PersistentWatcher is a Conn whose service has watches that stay armed. Not
// every client library speaks of them.
//
// From a moment between the call and its return on, the Watch is called once for
// every change, in the order of the changes; those of one write, such as the end
// of a session with several ephemeral nodes, come in any order. It may be called
// before the call has returned. The call reads nothing: who wants to know what
// there was reads after it has returned, and may read what is told as well. An
// Event's Path is the node that changed, which for ChildrenChanged is the parent.
//
// It ends with stop, or with the session: then the Watch is called with Lost, and
// not any more. When stop has returned the Watch is not called again, nor with
// Lost. Stop does not wait for the service, may be called again and after the
// session's end, but like the Conn not by a Watch. The context bounds the call
// only. If the call returns an error the Watch is never called; after
// ErrConnectionLoss it can be made again.
//
// After each disconnect the watch is armed again and called with Rearmed, once.
// What changed while it was away is told before that or never, and nothing is told
// twice; what changes afterwards is told. So read again: whatever a read begun
// after Rearmed does not show will be told. Rearmed may come without a disconnect
// too, where the service cannot vouch for the order. The Path of Lost and Rearmed
// is that of the watch, or empty.
//
// Watches do not get in each other's way, of whatever kind and wherever they
// overlap, one-shot ones included: each is called for all that it covers. How many
// notifications that takes on the wire is left to the service. A [Fencer]'s Fence
// covers them as well.
type PersistentWatcher interface {
	Conn
	// WatchNode arms a watch on one node, for its coming and going, its data,
	// and its children's coming and going. Neither it nor its parent needs to be
	// there.
	//
	// ErrConnectionLoss, ErrSessionLost, ErrUnsupported by a server that is too old.
	WatchNode(ctx context.Context, path string, w Watch) (stop func(), err error)
	// WatchTree arms a watch on a node and all that is or will be below it:
	// for each node's coming and going and data. ChildrenChanged is not told,
	// since the child itself is.
	//
	// ErrConnectionLoss, ErrSessionLost, ErrUnsupported by a server that is too old.
	WatchTree(ctx context.Context, path string, w Watch) (stop func(), err error)
}

// Persistent returns c with the reads of [Steady] and persistent watches that
// are armed again like these.
func Persistent(c PersistentWatcher) PersistentWatcher { return persistent{steady{c}, c} }

type persistent struct {
	steady
	watcher PersistentWatcher
}

func (p persistent) WatchNode(ctx context.Context, path string, w Watch) (stop func(), err error) {
	err = Repeat(func() (err error) {
		stop, err = p.watcher.WatchNode(ctx, path, w)
		return err
	})
	return stop, err
}

func (p persistent) WatchTree(ctx context.Context, path string, w Watch) (stop func(), err error) {
	err = Repeat(func() (err error) {
		stop, err = p.watcher.WatchTree(ctx, path, w)
		return err
	})
	return stop, err
}
