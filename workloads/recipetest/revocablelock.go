package recipetest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A RevocableLockForm is a form of the revocable lock under test. It must meet all requirements
// of a shared lock except the settled cost. Its settled cost includes revocations, so package
// workloads plays that run.
type RevocableLockForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string) recipe.RevocableLock
	Library
}

// String implements [Form].
func (f RevocableLockForm) String() string { return f.lock().String() }

func (f RevocableLockForm) cases() []testCase { return f.lock().cases() }

func (f RevocableLockForm) lock() LockForm {
	form := SharedLockForm{Name: f.Name, Library: f.Library, New: func(c drivers.Conn, path string) recipe.SharedLock {
		return f.New(c, path)
	}}.lock()
	form.Recipe = "revocable-lock"
	return form
}

func revocableLockCases() []lockCase {
	return []lockCase{
		{"the holder is asked",
			"A request reaches only the holder, and the holder keeps the lock until it releases it. The next holder was not asked.",
			holderIsAsked},
		{"all readers are asked",
			"All readers that hold the lock together are asked, and the clients that wait behind them are not.",
			readersAreAsked},
		{"the holder ignores a request",
			"A holder that ignores a request keeps the lock, unless the form deposes it: then the next client gets the lock, and the deposed holder learns it at its next call.",
			holderIgnores},
		{"replies to requests are lost",
			"A request whose reply was lost can be written again.",
			requestsLost},
		{"a listening holder's session is lost",
			"A holder that waits for a request learns that its session, and so the lock, is lost.",
			listenerCloses},
		{"identities with revocations",
			"Some relations between the counts hold under any schedule, whichever holders are asked.",
			revocableIdentities},
	}
}

func (c *lockClient) revocable() recipe.RevocableLock {
	return c.lock.(*sharedAsLock).SharedLock.(recipe.RevocableLock)
}

// revoke starts to revoke the lock.
func (c *lockClient) revoke(ctx context.Context) *call { return c.begin(ctx, c.revocable().Revoke) }

// listen starts to wait for a request.
func (c *lockClient) listen(ctx context.Context) *call { return c.begin(ctx, c.revocable().Revoked) }

// expectUnasked fails the case if the holder finds a request. It cancels the call afterwards.
func (x *lockTrial) expectUnasked(ctx context.Context, c *lockClient) {
	x.Helper()
	listens := c.listen(ctx)
	x.rest(ctx)
	if listens.returned() {
		x.Fatalf("a client that was not asked received a request (%v)", listens.err)
	}
	listens.isCanceled(ctx)
}

func holderIsAsked(ctx context.Context, x *lockTrial) {
	bystander := x.client(ctx)
	early := bystander.revoke(ctx) // while no client has the lock
	x.rest(ctx)
	x.expectError("Revoke", early, nil)
	line := x.line(ctx, 3)
	x.expectUnasked(ctx, line[0])
	for range 2 { // both holders are listening
		listens := line[0].listen(ctx)
		x.rest(ctx)
		revokes := bystander.revoke(ctx)
		x.rest(ctx)
		x.expectError("Revoked", listens, nil)
		x.expectHolders(ctx, line, line[0])
		line[0].release(ctx)
		x.rest(ctx)
		x.tick(ctx)
		x.expectError("Revoke", revokes, nil)
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
		x.expectError("Revoked", listens, nil)
		reader.release(ctx)
	}
	x.rest(ctx)
	x.tick(ctx)
	x.expectError("Revoke", revokes, nil)
	x.expectHolders(ctx, line[2:], line[2])
	x.expectUnasked(ctx, line[2])
	x.serve(ctx, line[2:])
}

func holderIgnores(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 3)
	deposed, bystander := line[0], x.client(ctx)
	revokes := bystander.revoke(ctx)
	x.settle(ctx)
	x.expectError("Revoke", revokes, nil)
	d, force := bystander.revocable().(recipe.Deposer)
	if !force {
		x.expectHolders(ctx, line, deposed)
		x.serve(ctx, line)
		return
	}
	if d.Deposed() != 1 {
		x.Errorf("%d holders deposed, want 1", d.Deposed())
	}
	x.guard.leave(deposed)
	x.expectHolders(ctx, line[1:], line[1])
	listens := deposed.listen(ctx)
	x.rest(ctx)
	x.expectError("Revoked", listens, drivers.ErrNoNode)
	if err := deposed.lock.Release(ctx); !errors.Is(err, drivers.ErrNoNode) {
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
	listens.fails(ctx, nil)
	line[0].release(ctx)
	for !revokes.returned() {
		if err := pause(ctx, 0); err != nil {
			x.Fatalf("Revoke does not return: %v", err)
		}
		x.settle(ctx)
	}
	x.settle(ctx) // Revoke may have returned before the release
	x.expectError("Revoke", revokes, nil)
	if written.Load() < 4 {
		x.Errorf("the request was written %d times, want 4: the reply was lost 3 times", written.Load())
	}
	x.serve(ctx, line[1:])
}

func listenerCloses(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 2)
	listens := line[0].listen(ctx)
	x.rest(ctx)
	line[0].close()
	x.guard.leave(line[0])
	x.settle(ctx)
	x.expectError("Revoked", listens, drivers.ErrSessionLost)
	x.serve(ctx, line[1:])
}

// revocableIdentities revokes the lock between the turns of a line. A holder that is asked
// releases the lock before the form uses force.
func revocableIdentities(ctx context.Context, x *lockTrial) {
	model := x.model(x.form.recipe(), x.form.Name)
	line := x.lineOf(ctx, sides("wrrwwrwr"))
	clients, bystander := int64(len(line)), x.client(ctx)
	for len(line) > 0 {
		x.holder(ctx, line)
		revokes := bystander.revoke(ctx)
		x.rest(ctx)
		for len(line) > 0 && line[0].holds() {
			listens := line[0].listen(ctx)
			x.rest(ctx)
			x.expectError("Revoked", listens, nil)
			line[0].release(ctx)
			line = line[1:]
			if len(line) > 0 && !x.guard.has(line[0]) {
				break // the clients that have the lock now were not asked
			}
		}
		x.rest(ctx)
		x.tick(ctx)
		x.expectError("Revoke", revokes, nil)
	}
	x.checkIdentities(model, x.ledger.read(), clients, clients)
}
