package recipetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// A client is a session in a trial, with its calls.
type client struct {
	trial   *trial
	conn    drivers.Conn
	tally   tally
	replies atomic.Pointer[func(drivers.Message) bool] // which replies to lose
	calls   []*call
}

// A call is a call of a client, which may block. err is valid once done is closed.
type call struct {
	trial  *trial
	spot   drivers.Spot
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error
}

// client opens a session. Its polls wait for ticks.
func (x *trial) client(ctx context.Context) *client {
	x.Helper()
	return x.clientWith(ctx, drivers.Options{})
}

func (x *trial) clientWith(ctx context.Context, o drivers.Options) *client {
	x.Helper()
	c := &client{trial: x, tally: tally{ledger: &x.ledger}}
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
	return c
}

// several opens n sessions.
func (x *trial) several(ctx context.Context, n int) []*client {
	x.Helper()
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = x.client(ctx)
	}
	return clients
}

// lose sets which replies are lost from now on.
func (c *client) lose(which func(drivers.Message) bool) { c.replies.Store(&which) }

// begin starts a call.
func (c *client) begin(ctx context.Context, do func(context.Context) error) *call {
	a := &call{trial: c.trial, done: make(chan struct{})}
	a.spot.Ticks = true
	ctx, a.cancel = context.WithCancelCause(drivers.WithSpot(ctx, &a.spot))
	c.calls = append(c.calls, a)
	go func() {
		defer close(a.done)
		a.err = do(ctx)
	}()
	return a
}

// last returns the call that began last.
func (c *client) last() *call { return c.calls[len(c.calls)-1] }

// returned reports whether the call has returned.
func (a *call) returned() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// succeeded reports whether the call has returned without an error.
func (a *call) succeeded() bool { return a.returned() && a.err == nil }

// wait waits until the call returns.
func (a *call) wait(ctx context.Context) {
	a.trial.Helper()
	select {
	case <-a.done:
	case <-ctx.Done():
		a.trial.Fatalf("a call does not return: %v", context.Cause(ctx))
	}
}

// fails waits until the call returns, and fails the case unless it returns the error, or no
// error if want is nil.
func (a *call) fails(ctx context.Context, want error) {
	a.trial.Helper()
	a.wait(ctx)
	if !errors.Is(a.err, want) {
		a.trial.Fatalf("a call returned %v, want error %v", a.err, want)
	}
}

// isCanceled cancels the context of the call and waits for its error.
func (a *call) isCanceled(ctx context.Context) {
	a.trial.Helper()
	a.cancel(errCanceled)
	a.fails(ctx, errCanceled)
}

// expectReturned fails the case unless, once everything is at rest, all these clients' last
// calls have returned without an error, or, if returned is false, none of them has returned.
func (x *trial) expectReturned(ctx context.Context, returned bool, clients ...*client) {
	x.Helper()
	x.settle(ctx)
	for i, c := range clients {
		if a := c.last(); a.returned() && a.err != nil || a.returned() != returned {
			x.Fatalf("the call of client %d of %d has returned: %v (error %v), want %v", i+1, len(clients), a.returned(), a.err, returned)
		}
	}
}

// inTurn starts a call of each client, one after the other, each once the others are at rest.
func (x *trial) inTurn(ctx context.Context, clients []*client, do func(c *client) func(context.Context) error) {
	x.Helper()
	for _, c := range clients {
		c.begin(ctx, do(c))
		x.settle(ctx)
	}
}

// close closes the session.
func (c *client) close() {
	c.trial.Helper()
	if err := c.conn.Close(); err != nil {
		c.trial.Fatalf("closing a session: %v", err)
	}
}

// parked reports whether the client is not waiting for a reply: each call has returned or is
// parked.
func (c *client) parked() bool {
	return !slices.ContainsFunc(c.calls, func(a *call) bool {
		if a.returned() {
			return false
		}
		parked, _ := a.spot.Parked()
		return !parked && !(c.trial.library && c.tally.waits())
	})
}

// flush returns when the session has received all notifications.
func (c *client) flush(ctx context.Context) error {
	select {
	case <-c.conn.Done():
		return nil
	default:
	}
	err := c.conn.(drivers.Flusher).Flush(ctx)
	if errors.Is(err, drivers.ErrSessionLost) || errors.Is(err, drivers.ErrConnectionLoss) {
		return nil
	}
	return err
}
