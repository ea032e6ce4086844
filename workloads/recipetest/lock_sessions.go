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
	whyHolderLost = "When the holder's session is lost the next one gets the lock, and the holder learns it: its held context ends with cause ErrSessionLost. What the loser does then takes the lock from nobody."
	whyWaiterLost = "A waiter whose session is lost fails with ErrSessionLost, and the others go on in order, whoever it stood in front of."
)

func holderCloses(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 3)
	if err := line[0].conn.Close(); err != nil {
		x.Fatalf("closing the holder's session: %v", err)
	}
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
	if err := loser.lock.Release(ctx); err == nil && !x.form.shipped() {
		x.Errorf("the loser's release says nothing: want an error")
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
			x.Fatalf("nobody gets the lock: %v", err)
		}
		x.settle(ctx)
	}
}

func waiterCloses(place int) func(context.Context, *lockTrial) {
	return func(ctx context.Context, x *lockTrial) {
		line := x.line(ctx, 5)
		if err := line[place].conn.Close(); err != nil {
			x.Fatalf("closing a waiter's session: %v", err)
		}
		x.settle(ctx)
		line[place].failed(ctx, drivers.ErrSessionLost)
		x.expectNodes(ctx, 4)
		x.serve(ctx, slices.Delete(line, place, place+1))
	}
}
