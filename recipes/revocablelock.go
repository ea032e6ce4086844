package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A RevocableLock is a [SharedLock] whose holders can be asked to release it.
// Each client watches its own node. To revoke the lock, a client writes
// "unlock" to the holder's node, so a request wakes the holder and the clients
// that watch that node to be next. The holder decides whether and when it
// releases the lock. One RevocableLock serves one goroutine, except that any
// goroutine may call Revoke.
// Cost: N writers, one turn each, no requests: 2N−1 notifications, 4N−2 reads,
// 2N writes; a release wakes the next client and the one that released. A
// request while a writer waits behind the holder: 2 notifications, 4 reads, 1
// write.
type RevocableLock struct {
	conn    drivers.Conn
	lock    *SharedLock
	request *drivers.Wait // fires when a client may have asked
	asked   bool
}

// unlock is the data of a request.
const unlock = "unlock"

// NewRevocableLock returns the revocable lock at dir, an existing node.
func NewRevocableLock(conn drivers.Conn, dir string) *RevocableLock {
	return &RevocableLock{conn: drivers.Steady(conn), lock: NewSharedLock(conn, dir)}
}

// AcquireRead is like [SharedLock.AcquireRead].
func (l *RevocableLock) AcquireRead(ctx context.Context) (held context.Context, err error) {
	return l.acquire(ctx, l.lock.read)
}

// AcquireWrite is like [SharedLock.AcquireWrite].
func (l *RevocableLock) AcquireWrite(ctx context.Context) (held context.Context, err error) {
	return l.acquire(ctx, l.lock.write)
}

func (l *RevocableLock) acquire(ctx context.Context, node *protected.Claim) (held context.Context, err error) {
	l.lock.node = node
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire revocable lock %s: %w", l.lock.dir, errors.Join(err, node.Abandon(ctx)))
	}
	held, l.lock.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *RevocableLock) wait(ctx context.Context) error {
	// 1. Create a sequential ephemeral node: this client's place in the line.
	if err := l.lock.node.Create(ctx); err != nil {
		return err
	}
	// 2. Get this client's node, with a watch, to learn of requests.
	if err := l.checkRequest(ctx); err != nil {
		return err
	}
	for {
		// 3. Get the children (the line), without a watch.
		line, err := l.conn.Children(ctx, l.lock.dir, nil)
		if err != nil {
			return err
		}
		// 4. If no node is ahead of a writer's, or no writer's node is ahead of
		// a reader's, this client holds the lock.
		ahead, err := l.lock.ahead(line)
		if err != nil || ahead == "" {
			return err
		}
		// 5. Wait for the nearest of those nodes to be deleted or changed, then
		// go to step 3.
		if err := l.await(ctx, ahead); err != nil {
			return err
		}
	}
}

// await returns when the node is deleted or changes. Meanwhile it handles
// requests.
func (l *RevocableLock) await(ctx context.Context, node string) error {
	var gone drivers.Wait
	_, exists, err := l.conn.Exists(ctx, path.Join(l.lock.dir, node), gone.Fire)
	for err == nil && exists {
		var fired int
		if fired, err = drivers.AwaitAny(ctx, &gone, l.request); err != nil || fired == 0 {
			return err
		}
		err = l.checkRequest(ctx)
	}
	return err
}

// checkRequest checks whether a client has asked this one to release the lock,
// and sets the watch for the next request.
func (l *RevocableLock) checkRequest(ctx context.Context) error {
	request := &drivers.Wait{}
	data, _, err := l.conn.Get(ctx, l.lock.node.Path(), request.Fire)
	if err == nil {
		l.request, l.asked = request, string(data) == unlock
	}
	return err
}

// Revoked is for the holder: it returns when a client has asked the holder to
// release the lock. ErrNoNode means that another client has deleted the
// holder's node, so that it no longer holds the lock.
func (l *RevocableLock) Revoked(ctx context.Context) error {
	for !l.asked {
		_, err := l.request.Await(ctx)
		if err == nil {
			err = l.checkRequest(ctx)
		}
		if err != nil {
			return fmt.Errorf("wait to be asked for revocable lock %s: %w", l.lock.dir, err)
		}
	}
	return nil
}

// Revoke asks all current holders to release the lock.
func (l *RevocableLock) Revoke(ctx context.Context) error {
	line, err := l.conn.Children(ctx, l.lock.dir, nil)
	for _, holder := range holders(line) {
		if err == nil {
			err = l.ask(ctx, path.Join(l.lock.dir, holder.Name))
		}
	}
	if err != nil {
		return fmt.Errorf("revoke lock %s: %w", l.lock.dir, err)
	}
	return nil
}

// ask writes a request in the node, if the node still exists.
func (l *RevocableLock) ask(ctx context.Context, node string) error {
	err := drivers.Repeat(ctx, func() error { // a second request does no harm
		_, err := l.conn.Set(ctx, node, []byte(unlock), drivers.AnyVersion)
		return err
	})
	if errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}

// Token is like [SharedLock.Token].
func (l *RevocableLock) Token() int64 { return l.lock.Token() }

// Release is like [SharedLock.Release].
func (l *RevocableLock) Release(ctx context.Context) error { return l.lock.Release(ctx) }
