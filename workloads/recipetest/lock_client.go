package recipetest

import (
	"context"
	"errors"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A lockClient is a client with its handle on the trial's lock.
type lockClient struct {
	*client
	x       *lockTrial
	lock    recipe.Lock
	acquire *call           // the last Acquire
	held    context.Context // its result, valid once it has returned
}

func (x *lockTrial) client(ctx context.Context) *lockClient {
	x.Helper()
	return x.clientWith(ctx, drivers.Options{})
}

func (x *lockTrial) clientWith(ctx context.Context, o drivers.Options) *lockClient {
	x.Helper()
	c := &lockClient{client: x.trial.clientWith(ctx, o), x: x}
	c.lock = x.form.New(c.conn, x.dir)
	return c
}

// line opens n sessions. Each in turn asks for the lock and comes to rest, so that the first
// holds the lock and the others wait in this order.
func (x *lockTrial) line(ctx context.Context, n int) []*lockClient {
	x.Helper()
	return x.lineOf(ctx, make([]bool, n))
}

// lineOf is line for clients that share the lock or not, as given.
func (x *lockTrial) lineOf(ctx context.Context, share []bool) []*lockClient {
	x.Helper()
	clients := make([]*lockClient, len(share))
	for i := range clients {
		clients[i] = x.client(ctx)
		clients[i].share(share[i])
	}
	for _, c := range clients {
		c.ask(ctx)
		x.rest(ctx)
	}
	clients[0].granted(ctx)
	return clients
}

// shares reports whether the client shares the lock with others.
func (c *lockClient) shares() bool {
	s, ok := c.lock.(*sharedAsLock)
	return ok && s.reads
}

// share sets whether the client shares the lock, if the lock can be shared.
func (c *lockClient) share(shares bool) {
	if s, ok := c.lock.(*sharedAsLock); ok {
		s.reads = shares
	}
}

// ask starts an Acquire.
func (c *lockClient) ask(ctx context.Context) {
	c.acquire = c.begin(ctx, func(ctx context.Context) (err error) {
		c.held, err = c.lock.Acquire(ctx)
		return err
	})
}

// holds reports whether the last Acquire has returned without an error.
func (c *lockClient) holds() bool { return c.acquire.succeeded() }

// granted waits until the Acquire returns, and has the client enter the guard.
func (c *lockClient) granted(ctx context.Context) {
	c.x.Helper()
	c.acquire.fails(ctx, nil)
	if err := c.held.Err(); err != nil {
		c.x.Fatalf("the held context has ended before the release: %v", context.Cause(c.held))
	}
	c.x.guard.enter(c)
}

// deposed waits until the holder learns that its session is lost.
func (c *lockClient) deposed(ctx context.Context) {
	c.x.Helper()
	c.x.await(ctx, c.held.Done())
	if cause := context.Cause(c.held); !errors.Is(cause, drivers.ErrSessionLost) {
		c.x.Fatalf("the held context ended with cause %v, want %v", cause, drivers.ErrSessionLost)
	}
}

// release has the client leave the guard and release the lock.
func (c *lockClient) release(ctx context.Context) {
	c.x.Helper()
	held := c.held
	c.x.guard.leave(c)
	if err := c.lock.Release(ctx); err != nil {
		c.x.Fatalf("release: %v", err)
	}
	if held.Err() == nil {
		c.x.Fatalf("the held context has not ended with the release")
	}
}
