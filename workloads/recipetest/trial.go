package recipetest

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers"
)

// A trial is the state of one case: a node of its own, and the clients that act below it.
type trial struct {
	testing.TB
	setting
	dir     string       // the case's node
	admin   drivers.Conn // creates, inspects and removes dir
	clients []*client
	ledger  ledger
	library bool // the form is a client library's
}

func beginTrial(ctx context.Context, t testing.TB, s setting) *trial {
	admin, err := s.service.Dial(ctx, drivers.Options{})
	if err != nil {
		t.Fatalf("opening a session: %v", err)
	}
	x := &trial{TB: t, setting: s, admin: admin, dir: "/recipetest-" + rand.Text()}
	if _, err := admin.Create(ctx, x.dir, nil, 0); err != nil {
		admin.Close()
		t.Fatalf("creating the case's node: %v", err)
	}
	return x
}

// end closes all sessions and removes the case's node.
func (x *trial) end() {
	x.closeClients()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(x.Context()), hangTimeout, errHung)
	defer cancel()
	if err := x.clear(ctx, x.dir); err != nil {
		x.Errorf("removing the case's node: %v", err)
	}
	if err := x.admin.Close(); err != nil {
		x.Errorf("closing the session that cleans up: %v", err)
	}
}

// closeClients cancels all calls and closes all sessions.
func (x *trial) closeClients() {
	for _, c := range x.clients {
		c.replies.Store(nil)
		for _, a := range c.calls {
			a.cancel(errCanceled)
		}
	}
	for _, c := range x.clients {
		if err := c.conn.Close(); err != nil {
			x.Errorf("closing a session: %v", err)
		}
		for _, a := range c.calls {
			<-a.done
		}
	}
	x.clients = nil
}

// clear removes a node and everything below it.
func (x *trial) clear(ctx context.Context, path string) error {
	for {
		children, err := x.admin.Children(ctx, path, nil)
		for _, c := range children {
			err = errors.Join(err, x.clear(ctx, path+"/"+c.Name))
		}
		if err == nil {
			err = x.admin.Delete(ctx, path, drivers.AnyVersion)
		}
		switch {
		case errors.Is(err, drivers.ErrNoNode): // an ephemeral node that was removed in the meantime
			return nil
		case !errors.Is(err, drivers.ErrNotEmpty):
			return err
		}
	}
}

// put creates the case's node, or a node below it.
func (x *trial) put(ctx context.Context, name string, data []byte) {
	x.Helper()
	if _, err := x.admin.Create(ctx, x.dir+name, data, 0); err != nil {
		x.Fatalf("creating %s: %v", x.dir+name, err)
	}
}

// nodes lists the children of a node, after all earlier changes.
func (x *trial) nodes(ctx context.Context, path string) []drivers.Child {
	x.Helper()
	x.must(x.admin.Sync(ctx, path))
	nodes, err := x.admin.Children(ctx, path, nil)
	x.must(err)
	return nodes
}

// expectChildren fails the case unless the case's node has this number of children.
func (x *trial) expectChildren(ctx context.Context, want int) {
	x.Helper()
	if nodes := x.nodes(ctx, x.dir); len(nodes) != want {
		x.Fatalf("the nodes are %v, want %d of them", nodes, want)
	}
}

// must fails the case if a step has failed.
func (x *trial) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatalf("%v", err)
	}
}

// await waits for an event that must happen.
func (x *trial) await(ctx context.Context, event <-chan struct{}) {
	x.Helper()
	select {
	case <-event:
	case <-ctx.Done():
		x.Fatalf("an expected event did not happen: %v", context.Cause(ctx))
	}
}

// rest returns when every call has returned or is parked and no message is in flight. The
// proof: all calls are parked, every session is flushed, and no message has arrived since.
func (x *trial) rest(ctx context.Context) {
	x.Helper()
	for ctx.Err() == nil {
		if x.bubble {
			synctest.Wait() // rather than spin
		}
		before, parked := x.progress()
		for _, c := range x.clients {
			if err := c.flush(ctx); err != nil {
				x.Fatalf("flushing a session: %v", err)
			}
		}
		if x.bubble {
			synctest.Wait()
		}
		after, still := x.progress()
		if parked && still && before == after {
			return
		}
	}
	x.Fatalf("waiting until all clients are at rest: %v", context.Cause(ctx))
}

// progress returns the number of messages that all sessions have seen, and whether all calls
// are parked.
func (x *trial) progress() (messages int64, parked bool) {
	x.ledger.mu.Lock()
	messages = x.ledger.messages
	x.ledger.mu.Unlock()
	return messages, !slices.ContainsFunc(x.clients, func(c *client) bool { return !c.parked() })
}

// tick lets each polling client poll once.
func (x *trial) tick(ctx context.Context) {
	x.Helper()
	ticked := false
	for _, c := range x.clients {
		for _, a := range c.calls {
			ticked = a.spot.Tick() || ticked
		}
	}
	if ticked {
		x.rest(ctx)
	}
}

// settle is rest, then one more poll of each polling client.
func (x *trial) settle(ctx context.Context) {
	x.Helper()
	x.rest(ctx)
	x.tick(ctx)
}

// concurrently has new clients act at the same time, each with its number and its own random
// numbers. lose, if set, returns for each client which replies to lose.
func (x *trial) concurrently(ctx context.Context, clients int, seed uint64, lose func(*mathrand.Rand) func(drivers.Message) bool,
	act func(i int, c *client, rng *mathrand.Rand) error) {
	x.Helper()
	errs := make([]error, clients)
	var all sync.WaitGroup
	for i := range clients {
		c := x.client(ctx)
		rng := mathrand.New(mathrand.NewPCG(seed, uint64(i)))
		if lose != nil {
			c.lose(lose(rng))
		}
		all.Go(func() { errs[i] = act(i, c, rng) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		x.Fatalf("seed %d: %v", seed, err)
	}
}
