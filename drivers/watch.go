package drivers

import (
	"context"
	"sync"
)

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
	names := [...]string{Created: "created", Deleted: "deleted", DataChanged: "data changed",
		ChildrenChanged: "children changed", Lost: "lost", Rearmed: "rearmed"}
	if t < Created || int(t) >= len(names) {
		return "no event"
	}
	return names[t]
}

// A Feed waits for a watch that fires repeatedly. Give Fire to the call that arms the
// watch, then call Await any number of times. The zero Feed is ready to use. Only one
// goroutine may await.
type Feed struct {
	mu     sync.Mutex
	events []Event // not yet returned by Await
	next   *Wait   // for the next event, if Await waits
}

// Fire is the [Watch] of this feed.
func (f *Feed) Fire(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
	if f.next != nil {
		f.next.Fire(e)
		f.next = nil
	}
}

// Await blocks until there are events or the context ends, and returns all events since
// the last Await, in order. Once the session is lost, Await returns ErrSessionLost.
func (f *Feed) Await(ctx context.Context) ([]Event, error) {
	if wait := f.wait(); wait != nil {
		if _, err := wait.Await(ctx); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	if events[len(events)-1].Type == Lost {
		return nil, ErrSessionLost // and so does every later Await
	}
	f.events = nil
	return events, nil
}

// wait returns a Wait for the next event, or nil if there are events already.
func (f *Feed) wait() *Wait {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.events) > 0 {
		return nil
	}
	f.next = new(Wait)
	return f.next
}

// A PersistentWatcher is a Conn whose service has watches that stay armed. Not every
// client library supports them.
//
// The watch starts at a moment between the call and its return. From then on the Watch is
// called once for every change, in the order of the changes; changes of one write, such
// as the end of a session with several ephemeral nodes, come in any order. The Watch may
// be called before the call has returned. The call reads nothing: a caller that needs the
// present state reads after the call has returned, and that read may show changes that
// the Watch reports as well. An Event's Path is the node that changed, which for
// ChildrenChanged is the parent.
//
// The watch ends with stop or with the session. When the session ends, the Watch is
// called with Lost, for the last time. After stop has returned, the Watch is not called
// again, not even with Lost. Stop does not wait for the service. It may be called again,
// and after the end of the session, but like the Conn not by a Watch. The context bounds
// only the call. If the call returns an error, the Watch is never called; after
// ErrConnectionLoss the call can be repeated.
//
// After each disconnect the watch is armed again, and the Watch is called with Rearmed,
// once. Changes that the server applied during the disconnect are reported before Rearmed
// or never, later changes are reported, and no change is reported twice. A member of an
// ensemble may apply a change later than the member that answered the writer. So read
// again: every change that a read begun after Rearmed does not show will be reported.
// Rearmed may also come without a disconnect, where the service cannot guarantee the
// order. The Path of Lost and Rearmed is that of the watch, or empty.
//
// Watches do not affect each other, whatever their kinds (one-shot watches included) and
// wherever they overlap: each is called for everything that it covers. The service
// decides how many notifications that takes on the wire. A [Flusher]'s Flush covers these
// watches too.
type PersistentWatcher interface {
	Conn
	// WatchNode arms a watch on one node, for its creation and deletion, changes of its
	// data, and the creation and deletion of its children. Neither the node nor its
	// parent needs to exist.
	//
	// ErrConnectionLoss, ErrSessionLost, ErrUnsupported if the server is too old.
	WatchNode(ctx context.Context, path string, w Watch) (stop func(), err error)
	// WatchTree arms a watch on a node and all nodes that are or will be below it, for
	// the creation and deletion of each node and changes of its data. It does not report
	// ChildrenChanged, because it reports the child itself.
	//
	// ErrConnectionLoss, ErrSessionLost, ErrUnsupported if the server is too old.
	WatchTree(ctx context.Context, path string, w Watch) (stop func(), err error)
}

// A Resumer is a PersistentWatcher whose service keeps its latest changes, so that a watch
// can go on where its connection broke.
type Resumer interface {
	PersistentWatcher
	// ResumeTree is WatchTree, but after a reconnect the Watch is called for every change
	// that it has missed, before later ones, and not with Rearmed. If the service no
	// longer has all of these changes, it is called with Rearmed as usual.
	ResumeTree(ctx context.Context, path string, w Watch) (stop func(), err error)
}

// ResumeTree calls the method of that name if c is a [Resumer], and WatchTree otherwise.
func ResumeTree(ctx context.Context, c PersistentWatcher, path string, w Watch) (stop func(), err error) {
	if r, ok := c.(Resumer); ok {
		return r.ResumeTree(ctx, path, w)
	}
	return c.WatchTree(ctx, path, w)
}

// Persistent returns c with the reads of [Steady] and with persistent watches that, like
// those reads, are requested again after [ErrConnectionLoss].
func Persistent(c PersistentWatcher) PersistentWatcher { return persistent{steady{c}, c} }

type persistent struct {
	steady
	watcher PersistentWatcher
}

func (p persistent) WatchNode(ctx context.Context, path string, w Watch) (stop func(), err error) {
	err = Repeat(ctx, func() (err error) {
		stop, err = p.watcher.WatchNode(ctx, path, w)
		return err
	})
	return stop, err
}

func (p persistent) WatchTree(ctx context.Context, path string, w Watch) (stop func(), err error) {
	err = Repeat(ctx, func() (err error) {
		stop, err = p.watcher.WatchTree(ctx, path, w)
		return err
	})
	return stop, err
}

func (p persistent) ResumeTree(ctx context.Context, path string, w Watch) (stop func(), err error) {
	err = Repeat(ctx, func() (err error) {
		stop, err = ResumeTree(ctx, p.watcher, path, w)
		return err
	})
	return stop, err
}
