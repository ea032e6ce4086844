package recipetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func lockTurns() []lockCase {
	return []lockCase{
		{"one holder at a time",
			"Under any schedule there is never more than one holder, each client gets each of its turns, and fencing tokens increase from grant to grant.",
			lockExcludes},
		{"hand-over in order",
			"A release gives the lock to one waiting client: where clients queue, to the one that arrived first.",
			lockHandsOver},
		{"the same handle many times",
			"The same handle can acquire the lock any number of times. It leaves nothing behind, and each release ends the held context.",
			lockAgain},
	}
}

// lockExcludes has many clients take many turns, with random holds and pauses.
func lockExcludes(ctx context.Context, x *lockTrial) {
	const clients, turns = 8, 12
	for seed := range x.seeds() {
		x.compete(ctx, clients, turns, seed, nil)
		x.expectNodes(ctx, 0)
		x.closeClients()
	}
	if got, want := len(x.guard.order()), int(x.seeds())*clients*turns; got != want {
		x.Errorf("%d grants, want %d", got, want)
	}
}

// compete has new clients take turns concurrently. lose, if set, returns for each client
// which replies to lose.
func (x *lockTrial) compete(ctx context.Context, clients, turns int, seed uint64, lose func(*rand.Rand) func(drivers.Message) bool) {
	x.Helper()
	x.concurrently(ctx, clients, seed, lose, func(_ int, session *client, rng *rand.Rand) error {
		c := &lockClient{client: session, x: x, lock: x.form.New(session.conn, x.dir)}
		for range turns {
			if err := c.turn(ctx, rng); err != nil {
				return err
			}
		}
		return nil
	})
}

// turn takes the lock once, for less than a millisecond. Whether it shares the lock is random.
func (c *lockClient) turn(ctx context.Context, rng *rand.Rand) error {
	if err := pause(ctx, upTo(rng, time.Millisecond)); err != nil {
		return err
	}
	c.share(rng.IntN(2) == 0)
	if _, err := c.lock.Acquire(ctx); err != nil {
		return err
	}
	c.x.guard.enter(c)
	err := pause(ctx, upTo(rng, time.Millisecond))
	c.x.guard.leave(c)
	return errors.Join(err, c.lock.Release(ctx))
}

// pause lets other clients make steps, in an order that a bubble's seed or the machine chooses: no case depends on it.
func pause(ctx context.Context, d time.Duration) error { return drivers.Pause(ctx, d) }

func upTo(rng *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(most)))
}

// lockHandsOver has clients arrive one at a time and release one at a time.
func lockHandsOver(ctx context.Context, x *lockTrial) {
	came := x.line(ctx, 6)
	x.expectNodes(ctx, 6)
	x.serve(ctx, came)
}

// serve has the holder release, and then each next holder, until all these clients have had
// their turn. Clients that wait in a line must be served in this order.
func (x *lockTrial) serve(ctx context.Context, waiting []*lockClient) {
	x.Helper()
	for waiting = slices.Clone(waiting); len(waiting) > 0; {
		i := x.holder(ctx, waiting)
		if i != 0 && x.guard.ordered() {
			x.Fatalf("the lock went to the client %d places behind the first", i)
		}
		waiting[i].release(ctx)
		waiting = slices.Delete(waiting, i, i+1)
		x.settle(ctx)
		x.expectNodes(ctx, len(waiting))
	}
}

// holder returns the index of the client that has the lock, now that everything is at rest,
// or of the first of several clients that share it. It fails the case if there is none.
func (x *lockTrial) holder(ctx context.Context, asked []*lockClient) int {
	x.Helper()
	holder := -1
	for i, c := range asked {
		if !c.holds() {
			continue
		}
		if !x.guard.has(c) {
			c.granted(ctx)
		}
		if holder < 0 {
			holder = i
		}
	}
	if holder < 0 {
		x.Fatalf("all clients are at rest, and none of %d holds the lock", len(asked))
	}
	return holder
}

func lockAgain(ctx context.Context, x *lockTrial) {
	c := x.client(ctx)
	for range 5 {
		c.ask(ctx)
		c.granted(ctx)
		x.expectNodes(ctx, 1)
		c.release(ctx)
		x.expectNodes(ctx, 0)
	}
}

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
