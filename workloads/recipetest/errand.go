package recipetest

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// An errand takes the place of the lock in a case: Acquire runs the function do. So the
// cases of recipes whose clients wait for each other can use the machinery of the lock's
// cases.
type errand struct {
	do func(ctx context.Context) error
}

func newErrand(drivers.Conn, string) workloads.Lock { return &errand{} }

func (e *errand) Acquire(ctx context.Context) (context.Context, error) { return ctx, e.do(ctx) }

func (*errand) Token() int64 { return drivers.NoSeq }

func (*errand) Release(context.Context) error { return nil }

// send starts an errand of the client.
func (c *lockClient) send(ctx context.Context, do func(context.Context) error) {
	c.lock.(*errand).do = do
	c.ask(ctx)
}

// wait sends the clients one after the other, each to the point where it waits.
func (x *lockTrial) wait(ctx context.Context, clients []*lockClient, do func(c *lockClient) func(context.Context) error) {
	x.Helper()
	for _, c := range clients {
		c.send(ctx, do(c))
		x.settle(ctx)
	}
}

// expectBack fails the case unless all these clients have returned without an error, or,
// if back is false, all still wait.
func (x *lockTrial) expectBack(ctx context.Context, back bool, clients ...*lockClient) {
	x.Helper()
	x.settle(ctx)
	for i, c := range clients {
		if c.holds() != back {
			x.Fatalf("of %d clients number %d goes on: %v (error %v), want %v", len(clients), i+1, !back, c.err(), back)
		}
	}
}

// err returns the error with which the client's call returned, or nil.
func (c *lockClient) err() error {
	select {
	case <-c.asking.done:
		return c.asking.err
	default:
		return nil
	}
}

// several opens n sessions.
func (x *lockTrial) several(ctx context.Context, n int) []*lockClient {
	x.Helper()
	clients := make([]*lockClient, n)
	for i := range clients {
		clients[i] = x.client(ctx)
	}
	return clients
}

// done fails the case if a step has failed.
func (x *lockTrial) done(err error) {
	x.Helper()
	if err != nil {
		x.Fatalf("%v", err)
	}
}

// await waits for an event that must happen.
func (x *lockTrial) await(ctx context.Context, what <-chan struct{}) {
	x.Helper()
	select {
	case <-what:
	case <-ctx.Done():
		x.Fatalf("what must come does not: %v", context.Cause(ctx))
	}
}
