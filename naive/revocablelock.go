package naive

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A RevocableLock is a shared lock whose holders can be asked to release it.
// All clients watch one node of the lock. To revoke the lock, a client writes
// "unlock" to that node, so a request wakes all clients, although it concerns
// only the holders. Releases cause no herd: a client watches only the nearest
// node that it waits for. The holder decides whether and when it releases the
// lock. One RevocableLock serves one goroutine, except that any goroutine may
// call Revoke.
// Cost: N writers, one turn each, no requests: N−1 notifications, 4N−2 reads,
// 2N writes; a release wakes 1. A request: up to N notifications, as many
// reads, 1 write.
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
	// 2. Get the lock's node, with a watch, to learn of requests, unless the
	// watch of an earlier turn is still set.
	if l.request == nil || l.request.Fired() {
		if err := l.checkRequest(ctx); err != nil {
			return err
		}
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
			l.asked = false // earlier requests were not for this holder
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

// checkRequest sets the watch for the next request and assumes that there was
// one. A request does not name a holder: it is for every client that holds the
// lock.
func (l *RevocableLock) checkRequest(ctx context.Context) error {
	request := &drivers.Wait{}
	_, _, err := l.conn.Get(ctx, l.lock.dir, request.Fire)
	if err == nil {
		l.request, l.asked = request, true
	}
	return err
}

// Revoked is for the holder: it returns when a client has asked the holder to
// release the lock.
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
	if err := l.ask(ctx, l.lock.dir); err != nil {
		return fmt.Errorf("revoke lock %s: %w", l.lock.dir, err)
	}
	return nil
}

// ask writes a request in the node.
func (l *RevocableLock) ask(ctx context.Context, node string) error {
	return drivers.Repeat(ctx, func() error { // a second request does no harm
		_, err := l.conn.Set(ctx, node, []byte(unlock), drivers.AnyVersion)
		return err
	})
}

// Token is like [SharedLock.Token].
func (l *RevocableLock) Token() int64 { return l.lock.Token() }

// Release is like [SharedLock.Release].
func (l *RevocableLock) Release(ctx context.Context) error { return l.lock.Release(ctx) }
