package recipetest

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// An errand stands where a case of the lock has its lock: Acquire does whatever
// the client was sent to do. So the cases of recipes whose clients wait for each
// other use what the lock's are made of.
type errand struct {
	do func(ctx context.Context) error
}

func newErrand(drivers.Conn, string) workloads.Lock { return &errand{} }

func (e *errand) Acquire(ctx context.Context) (context.Context, error) { return ctx, e.do(ctx) }

func (*errand) Token() int64 { return drivers.NoSeq }

func (*errand) Release(context.Context) error { return nil }

// send begins an errand of the client.
func (c *lockClient) send(ctx context.Context, do func(context.Context) error) {
	c.lock.(*errand).do = do
	c.ask(ctx)
}

// wait sends clients, one after the other, to where they wait.
func (x *lockTrial) wait(ctx context.Context, clients []*lockClient, do func(c *lockClient) func(context.Context) error) {
	x.Helper()
	for _, c := range clients {
		c.send(ctx, do(c))
		x.settle(ctx)
	}
}

// expectBack fails the case unless all these clients have come back without an
// error, or all still wait.
func (x *lockTrial) expectBack(ctx context.Context, back bool, clients ...*lockClient) {
	x.Helper()
	x.settle(ctx)
	for i, c := range clients {
		if c.holds() != back {
			x.Fatalf("of %d clients number %d goes on: %v (error %v), want %v", len(clients), i+1, !back, c.err(), back)
		}
	}
}

// err is the error that the client came back with.
func (c *lockClient) err() error {
	select {
	case <-c.asking.done:
		return c.asking.err
	default:
		return nil
	}
}

// several opens so many sessions.
func (x *lockTrial) several(ctx context.Context, n int) []*lockClient {
	x.Helper()
	clients := make([]*lockClient, n)
	for i := range clients {
		clients[i] = x.client(ctx)
	}
	return clients
}

// done runs a step that must not fail.
func (x *lockTrial) done(err error) {
	x.Helper()
	if err != nil {
		x.Fatalf("%v", err)
	}
}

// await waits for something that must come.
func (x *lockTrial) await(ctx context.Context, what <-chan struct{}) {
	x.Helper()
	select {
	case <-what:
	case <-ctx.Done():
		x.Fatalf("what must come does not: %v", context.Cause(ctx))
	}
}
