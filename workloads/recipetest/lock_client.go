package recipetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A lockClient is a session with its handle on the trial's lock.
type lockClient struct {
	x       *lockTrial
	conn    drivers.Conn
	lock    workloads.Lock
	spot    drivers.Spot
	tally   tally
	replies atomic.Pointer[func(drivers.Message) bool] // which replies to lose
	asking  *asking                                    // the last Acquire
	calling *asking                                    // the last call of another kind that may block
}

// An asking is one call, usually of Acquire. held and err are valid once done is closed.
type asking struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
	held   context.Context
	err    error
}

var errGivenUp = errors.New("given up")

// client opens a session. Its polls wait for ticks.
func (x *lockTrial) client(ctx context.Context) *lockClient {
	return x.clientWith(ctx, drivers.Options{})
}

func (x *lockTrial) clientWith(ctx context.Context, o drivers.Options) *lockClient {
	x.Helper()
	c := &lockClient{x: x, tally: tally{ledger: &x.ledger}}
	c.spot.Ticks = true
	o.Probe = &c.tally
	o.LoseReply = func(m drivers.Message) bool {
		lose := c.replies.Load()
		return lose != nil && (*lose)(m)
	}
	conn, err := x.service.Dial(ctx, o)
	if err != nil {
		x.Fatalf("opening a session: %v", err)
	}
	c.conn = conn
	x.clients = append(x.clients, c)
	c.lock = x.form.New(conn, x.dir)
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
		clients[i].take(share[i])
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
	s, ok := c.lock.(*side)
	return ok && s.reads
}

// take sets whether the client shares the lock, if the lock can be shared.
func (c *lockClient) take(shares bool) {
	if s, ok := c.lock.(*side); ok {
		s.reads = shares
	}
}

// lose sets which replies are lost from now on.
func (c *lockClient) lose(which func(drivers.Message) bool) { c.replies.Store(&which) }

// ask starts an Acquire.
func (c *lockClient) ask(ctx context.Context) { c.asking = c.begin(ctx, c.lock.Acquire) }

func (c *lockClient) begin(ctx context.Context, call func(context.Context) (context.Context, error)) *asking {
	ctx, cancel := context.WithCancelCause(drivers.WithSpot(ctx, &c.spot))
	a := &asking{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.held, a.err = call(ctx)
	}()
	return a
}

// returned reports whether the call has returned.
func (a *asking) returned() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// giveUp cancels the context of the Acquire and waits for its error.
func (c *lockClient) giveUp(ctx context.Context) {
	c.x.Helper()
	c.asking.cancel(errGivenUp)
	c.failed(ctx, errGivenUp)
}

// holds reports whether the last Acquire has returned without an error.
func (c *lockClient) holds() bool { return c.asking.returned() && c.asking.err == nil }

// granted waits until the Acquire returns, and has the client enter the guard.
func (c *lockClient) granted(ctx context.Context) {
	c.x.Helper()
	c.returned(ctx)
	if c.asking.err != nil {
		c.x.Fatalf("acquire: %v", c.asking.err)
	}
	if err := c.asking.held.Err(); err != nil {
		c.x.Fatalf("the held context has ended before the release: %v", context.Cause(c.asking.held))
	}
	c.x.guard.enter(c)
}

// failed waits until the Acquire fails with the given error.
func (c *lockClient) failed(ctx context.Context, want error) {
	c.x.Helper()
	c.returned(ctx)
	if !errors.Is(c.asking.err, want) {
		c.x.Fatalf("acquire returned %v, want error %v", c.asking.err, want)
	}
}

func (c *lockClient) returned(ctx context.Context) {
	c.x.Helper()
	select {
	case <-c.asking.done:
	case <-ctx.Done():
		c.x.Fatalf("acquire does not return: %v", context.Cause(ctx))
	}
}

// deposed waits until the holder learns that its session is lost.
func (c *lockClient) deposed(ctx context.Context) {
	c.x.Helper()
	select {
	case <-c.asking.held.Done():
	case <-ctx.Done():
		c.x.Fatalf("the held context does not end: %v", context.Cause(ctx))
	}
	if cause := context.Cause(c.asking.held); !errors.Is(cause, drivers.ErrSessionLost) {
		c.x.Fatalf("the held context ended with cause %v, want %v", cause, drivers.ErrSessionLost)
	}
}

// release has the client leave the guard and release the lock.
func (c *lockClient) release(ctx context.Context) {
	c.x.Helper()
	held := c.asking.held
	c.x.guard.leave(c)
	if err := c.lock.Release(ctx); err != nil {
		c.x.Fatalf("release: %v", err)
	}
	if held.Err() == nil {
		c.x.Fatalf("the held context has not ended with the release")
	}
}

// parked reports whether the client is not waiting for a reply: it has made no call, or its
// call has returned or is parked.
func (c *lockClient) parked() bool {
	calls := c.calls()
	switch {
	case !slices.ContainsFunc(calls, func(a *asking) bool { return !a.returned() }):
		return true
	case c.x.form.shipped():
		return c.tally.waits()
	}
	parked, _ := c.spot.Parked()
	return parked
}

// calls returns the client's last calls. At most one of them has not returned.
func (c *lockClient) calls() []*asking {
	return slices.DeleteFunc([]*asking{c.asking, c.calling}, func(a *asking) bool { return a == nil })
}

// fence returns when the session has received all notifications.
func (c *lockClient) fence(ctx context.Context) error {
	select {
	case <-c.conn.Done():
		return nil
	default:
	}
	err := c.conn.(drivers.Fencer).Fence(ctx)
	if errors.Is(err, drivers.ErrSessionLost) || errors.Is(err, drivers.ErrConnectionLoss) {
		return nil
	}
	return err
}
