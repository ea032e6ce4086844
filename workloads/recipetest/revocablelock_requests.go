package recipetest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

func revocableLockCases() []lockCase {
	return []lockCase{
		{"the holder is asked",
			"A request reaches the holder and nobody else, and the lock is the holder's until it lets go. Who comes next was not asked.",
			holderIsAsked},
		{"all readers are asked",
			"Readers who hold the lock together are all asked, and whoever waits behind them is not.",
			readersAreAsked},
		{"the holder is deaf",
			"A holder who does not listen keeps the lock, unless the form uses force: then the next one gets it, and the loser learns it as soon as it looks.",
			holderIsDeaf},
		{"replies to requests are lost",
			"Whether a request was written or not it can be written again.",
			requestsLost},
		{"a listening holder's session is lost",
			"Who waits to be asked learns that there is nothing to give up any more.",
			listenerCloses},
		{"identities with revocations",
			"Some relations between the counts hold under any schedule, whoever is asked.",
			revocableIdentities},
	}
}

func (c *lockClient) revocable() workloads.RevocableLock {
	return c.lock.(*side).SharedLock.(workloads.RevocableLock)
}

// revoke starts to revoke the lock.
func (c *lockClient) revoke(ctx context.Context) *asking { return c.call(ctx, c.revocable().Revoke) }

// listen starts to wait for a request.
func (c *lockClient) listen(ctx context.Context) *asking { return c.call(ctx, c.revocable().Revoked) }

// call starts a call of a client that is not waiting for the lock.
func (c *lockClient) call(ctx context.Context, f func(context.Context) error) *asking {
	c.calling = c.begin(ctx, func(ctx context.Context) (context.Context, error) { return nil, f(ctx) })
	return c.calling
}

// expect fails the case unless the call has returned the wanted error, or nil if that is wanted.
func (x *lockTrial) expect(what string, a *asking, want error) {
	x.Helper()
	switch {
	case !a.returned():
		x.Fatalf("%s does not return", what)
	case !errors.Is(a.err, want):
		x.Fatalf("%s returned %v, want %v", what, a.err, want)
	}
}

// expectUnasked fails the case if the holder finds a request. It cancels the call afterwards.
func (x *lockTrial) expectUnasked(ctx context.Context, c *lockClient) {
	x.Helper()
	listens := c.listen(ctx)
	x.rest(ctx)
	if listens.returned() {
		x.Fatalf("somebody who was not asked to give the lock up hears a request (%v)", listens.err)
	}
	listens.cancel(errGivenUp)
	<-listens.done
	x.expect("Revoked", listens, errGivenUp)
}

func holderIsAsked(ctx context.Context, x *lockTrial) {
	bystander := x.client(ctx)
	early := bystander.revoke(ctx) // while no client has the lock
	x.rest(ctx)
	x.expect("Revoke", early, nil)
	line := x.line(ctx, 3)
	x.expectUnasked(ctx, line[0])
	for range 2 { // both holders are listening
		listens := line[0].listen(ctx)
		x.rest(ctx)
		revokes := bystander.revoke(ctx)
		x.rest(ctx)
		x.expect("Revoked", listens, nil)
		x.expectHolders(ctx, line, line[0])
		line[0].release(ctx)
		x.rest(ctx)
		x.tick(ctx)
		x.expect("Revoke", revokes, nil)
		line = line[1:]
		x.expectHolders(ctx, line, line[0])
		x.expectUnasked(ctx, line[0])
	}
	line[0].release(ctx)
}

func readersAreAsked(ctx context.Context, x *lockTrial) {
	line := x.lineOf(ctx, sides("rrwr"))
	x.expectHolders(ctx, line, line[:2]...)
	revokes := x.client(ctx).revoke(ctx)
	x.rest(ctx)
	for _, reader := range line[:2] {
		listens := reader.listen(ctx)
		x.rest(ctx)
		x.expect("Revoked", listens, nil)
		reader.release(ctx)
	}
	x.rest(ctx)
	x.tick(ctx)
	x.expect("Revoke", revokes, nil)
	x.expectHolders(ctx, line[2:], line[2])
	x.expectUnasked(ctx, line[2])
	x.serve(ctx, line[2:])
}

func holderIsDeaf(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 3)
	deaf, bystander := line[0], x.client(ctx)
	revokes := bystander.revoke(ctx)
	x.settle(ctx)
	x.expect("Revoke", revokes, nil)
	d, force := bystander.revocable().(workloads.Deposer)
	if !force {
		x.expectHolders(ctx, line, deaf)
		x.serve(ctx, line)
		return
	}
	if d.Deposed() != 1 {
		x.Errorf("%d holders deposed, want 1", d.Deposed())
	}
	x.guard.leave(deaf)
	x.expectHolders(ctx, line[1:], line[1])
	listens := deaf.listen(ctx)
	x.rest(ctx)
	x.expect("Revoked", listens, drivers.ErrNoNode)
	if err := deaf.lock.Release(ctx); !errors.Is(err, drivers.ErrNoNode) {
		x.Errorf("the release of a deposed holder returned %v, want %v", err, drivers.ErrNoNode)
	}
	x.serve(ctx, line[1:])
}

func requestsLost(ctx context.Context, x *lockTrial) {
	line, bystander := x.line(ctx, 2), x.client(ctx)
	var written atomic.Int64
	bystander.lose(func(m drivers.Message) bool {
		return m.Op == drivers.OpSet && written.Add(1) <= 3
	})
	revokes := bystander.revoke(ctx)
	listens := line[0].listen(ctx)
	select {
	case <-listens.done:
	case <-ctx.Done():
		x.Fatalf("the holder hears no request: %v", context.Cause(ctx))
	}
	x.expect("Revoked", listens, nil)
	line[0].release(ctx)
	for !revokes.returned() {
		if err := drivers.Pause(ctx, 0); err != nil {
			x.Fatalf("Revoke does not return: %v", err)
		}
		x.settle(ctx)
	}
	x.settle(ctx) // Revoke may have returned before the release
	x.expect("Revoke", revokes, nil)
	if written.Load() < 4 {
		x.Errorf("the request was written %d times, want 4: the reply was lost 3 times", written.Load())
	}
	x.serve(ctx, line[1:])
}

func listenerCloses(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 2)
	listens := line[0].listen(ctx)
	x.rest(ctx)
	if err := line[0].conn.Close(); err != nil {
		x.Fatalf("closing the holder's session: %v", err)
	}
	x.guard.leave(line[0])
	x.settle(ctx)
	x.expect("Revoked", listens, drivers.ErrSessionLost)
	x.serve(ctx, line[1:])
}

// revocableIdentities revokes the lock between the turns of a line. A holder that is asked
// releases the lock before the form uses force.
func revocableIdentities(ctx context.Context, x *lockTrial) {
	model, known := x.form.model()
	if !known {
		x.Skipf("no model of %s", x.form.Name)
	}
	line := x.lineOf(ctx, sides("wrrwwrwr"))
	clients, bystander := int64(len(line)), x.client(ctx)
	for len(line) > 0 {
		x.holder(ctx, line)
		revokes := bystander.revoke(ctx)
		x.rest(ctx)
		for len(line) > 0 && line[0].holds() {
			listens := line[0].listen(ctx)
			x.rest(ctx)
			x.expect("Revoked", listens, nil)
			line[0].release(ctx)
			line = line[1:]
			if len(line) > 0 && !x.guard.has(line[0]) {
				break // the clients that have the lock now were not asked
			}
		}
		x.rest(ctx)
		x.tick(ctx)
		x.expect("Revoke", revokes, nil)
	}
	x.holdTrue(model, x.ledger.read(), clients)
}
