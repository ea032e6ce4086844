package recipetest

import (
	"context"
	"slices"
)

func lockCancellation() []lockCase {
	return []lockCase{
		{"the next in line gives up", whyGiveUp, givesUp(1)},
		{"one in the middle gives up", whyGiveUp, givesUp(2)},
		{"the last in line gives up", whyGiveUp, givesUp(4)},
		{"everybody gives up",
			"When all who waited have given up, the holder lets go as ever and the lock is free for whoever comes.",
			everybodyGivesUp},
		{"gave up before",
			"An Acquire whose context has ended fails and makes no node.",
			gaveUpBefore},
	}
}

const whyGiveUp = "A waiter that gives up removes its node and says why it failed; whoever waited behind it, or for the same node, still gets the lock, in order."

// givesUp has one client in a line of five cancel its Acquire.
func givesUp(place int) func(context.Context, *lockTrial) {
	return func(ctx context.Context, x *lockTrial) {
		line := x.line(ctx, 5)
		line[place].giveUp(ctx)
		x.settle(ctx)
		x.expectNodes(ctx, 4)
		x.serve(ctx, slices.Delete(line, place, place+1))
	}
}

func everybodyGivesUp(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 4)
	for _, c := range line[1:] {
		c.giveUp(ctx)
	}
	x.settle(ctx)
	x.expectNodes(ctx, 1)
	line[0].release(ctx)
	x.expectNodes(ctx, 0)
	line[2].ask(ctx)
	line[2].granted(ctx)
	line[2].release(ctx)
}

func gaveUpBefore(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 1)
	c := x.client(ctx)
	ended, cancel := context.WithCancelCause(ctx)
	cancel(errGivenUp)
	c.ask(ended)
	c.failed(ctx, errGivenUp)
	x.expectNodes(ctx, 1)
	x.serve(ctx, line)
}
