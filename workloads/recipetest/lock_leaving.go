package recipetest

import (
	"context"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

func lockSessions() []lockCase {
	return []lockCase{
		{"the holder's session is closed", whyHolderLost, holderCloses},
		{"the holder's session expires", whyHolderLost, holderExpires},
		{"the session of the next in line is lost", whyWaiterLost, waiterCloses(1)},
		{"the session of one in the middle is lost", whyWaiterLost, waiterCloses(2)},
		{"the session of the last in line is lost", whyWaiterLost, waiterCloses(4)},
	}
}

const (
	whyHolderLost = "When the holder's session is lost, the next client gets the lock, and the holder learns it: its held context ends with cause ErrSessionLost. Its later Release does not affect the new holder."
	whyWaiterLost = "A waiting client whose session is lost fails with ErrSessionLost. The others get the lock in order."
)

func holderCloses(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 3)
	line[0].close()
	x.succeeds(ctx, line)
}

// holderExpires loses all replies to the holder, so that the service expires its session
// while the client believes that it holds the lock.
func holderExpires(ctx context.Context, x *lockTrial) {
	holder := x.clientWith(ctx, drivers.Options{SessionTimeout: time.Second})
	holder.ask(ctx)
	holder.granted(ctx)
	line := []*lockClient{holder, x.client(ctx), x.client(ctx)}
	for _, c := range line[1:] {
		c.ask(ctx)
		x.rest(ctx)
	}
	holder.lose(func(drivers.Message) bool { return true })
	x.succeeds(ctx, line)
}

// succeeds checks that the first in line is deposed, and then serves the others.
func (x *lockTrial) succeeds(ctx context.Context, line []*lockClient) {
	x.Helper()
	loser, others := line[0], line[1:]
	loser.deposed(ctx)
	x.guard.leave(loser)
	x.handsOver(ctx, others)
	x.holder(ctx, others)
	if err := loser.lock.Release(ctx); err == nil && x.form.Library == nil {
		x.Errorf("Release of a holder with a lost session returned no error")
	}
	x.settle(ctx)
	x.expectNodes(ctx, len(others))
	x.serve(ctx, others)
}

// handsOver waits until the service has noticed that the holder is lost and one of the others
// has the lock.
func (x *lockTrial) handsOver(ctx context.Context, others []*lockClient) {
	x.Helper()
	for !slices.ContainsFunc(others, (*lockClient).holds) {
		if err := drivers.Pause(ctx, 10*time.Millisecond); err != nil {
			x.Fatalf("no client gets the lock: %v", err)
		}
		x.settle(ctx)
	}
}

func waiterCloses(place int) func(context.Context, *lockTrial) {
	return func(ctx context.Context, x *lockTrial) {
		line := x.line(ctx, 5)
		line[place].close()
		x.settle(ctx)
		line[place].acquire.fails(ctx, drivers.ErrSessionLost)
		x.expectNodes(ctx, 4)
		x.serve(ctx, slices.Delete(line, place, place+1))
	}
}

func lockCancellation() []lockCase {
	return []lockCase{
		{"the next in line cancels", whyCanceled, waiterCancels(1)},
		{"one in the middle cancels", whyCanceled, waiterCancels(2)},
		{"the last in line cancels", whyCanceled, waiterCancels(4)},
		{"all waiting clients cancel",
			"When all waiting clients have canceled, the holder can release the lock, and the next client can acquire it.",
			allCancel},
		{"canceled before the call",
			"An Acquire whose context has ended fails and creates no node.",
			canceledBefore},
	}
}

const whyCanceled = "A waiting client that cancels removes its node and returns the cause. The clients behind it, or that wait for the same node, still get the lock, in order."

// waiterCancels has one client in a queue of five cancel its Acquire.
func waiterCancels(place int) func(context.Context, *lockTrial) {
	return func(ctx context.Context, x *lockTrial) {
		line := x.line(ctx, 5)
		line[place].acquire.isCanceled(ctx)
		x.settle(ctx)
		x.expectNodes(ctx, 4)
		x.serve(ctx, slices.Delete(line, place, place+1))
	}
}

func allCancel(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 4)
	for _, c := range line[1:] {
		c.acquire.isCanceled(ctx)
	}
	x.settle(ctx)
	x.expectNodes(ctx, 1)
	line[0].release(ctx)
	x.expectNodes(ctx, 0)
	line[2].ask(ctx)
	line[2].granted(ctx)
	line[2].release(ctx)
}

func canceledBefore(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 1)
	c := x.client(ctx)
	ended, cancel := context.WithCancelCause(ctx)
	cancel(errCanceled)
	c.ask(ended)
	c.acquire.fails(ctx, errCanceled)
	x.expectNodes(ctx, 1)
	x.serve(ctx, line)
}
