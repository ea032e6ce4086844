package drivers

import "context"

// A PersistentWatcher is a Conn whose service has watches that stay armed. Not
// every client library speaks of them.
//
// The Watch is called for every change from then on, in order, until stop is
// called, and with Lost when the session ends, after which it is not called any
// more. It may be called before the arming call has returned. After a disconnect
// it is armed again, and called with Rearmed: changes in between may never be
// told, so read again. If the call returns an error the Watch is never called.
type PersistentWatcher interface {
	Conn
	// WatchNode arms a watch on one node, which need not be there: for its
	// coming and going, its data, and its children's coming and going.
	WatchNode(ctx context.Context, path string, w Watch) (stop func(), err error)
	// WatchTree arms a watch on a node and all that is or will be below it:
	// for each node's coming and going and data. ChildrenChanged is not told,
	// since the child itself is.
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
