package recipetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A BarrierForm is a form under test.
type BarrierForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string) recipe.Barrier
	Library
}

// String implements [Form].
func (f BarrierForm) String() string { return "barrier/" + f.Name }

func (f BarrierForm) cases() []testCase {
	begin := func(_ context.Context, x *trial) *barrierTrial {
		x.library = f.Library != nil
		return &barrierTrial{x, f}
	}
	return append(leavingNothing(casesOf(begin, []caseOf[*barrierTrial]{
		{"all wait until it is opened",
			"No client passes a barrier before it is opened. Then all waiting clients proceed, and a client that arrives later does not wait.",
			barrierHolds},
		{"any schedule",
			"The barrier is safe whether clients arrive before the opening, during it or after it.",
			barrierAnySchedule},
		{"one cancels",
			"A client that cancels its wait returns the cause and leaves nothing behind. The others keep waiting until the barrier is opened.",
			barrierCanceled},
		{"a waiting client's session is lost",
			"A waiting client that loses its session does not pass the barrier. The others keep waiting until the barrier is opened.",
			barrierWaiterLost},
		{"the setter's session is lost",
			"A barrier stays closed until a client opens it, even if the session that set it is lost.",
			barrierSetterLost},
		{"any replies are lost",
			"Sessions survive broken connections, and so does the barrier: a lost reply neither lets a client pass nor keeps one waiting.",
			barrierRepliesLost},
	})), costCases(workloads.Form{Recipe: "barrier", Name: f.Name, Family: f.family(), New: recipe.Barriers(f.New)})...)
}

// A barrierTrial is the state of one case.
type barrierTrial struct {
	*trial
	form BarrierForm
}

// handleOf returns the client's handle on the barrier.
func (x *barrierTrial) handleOf(c *client) recipe.Barrier {
	return x.form.New(c.conn, x.dir+"/barrier")
}

// come waits at the barrier as a client does that was told of it: first it makes sure that its member of the
// ensemble knows of the barrier.
func (x *barrierTrial) come(ctx context.Context, c *client) error {
	if err := drivers.Steady(c.conn).Sync(ctx, x.dir); err != nil {
		return err
	}
	return x.handleOf(c).Wait(ctx)
}

// full sets the barrier and has four clients wait at it, which arrive one at a time.
func (x *barrierTrial) full(ctx context.Context, opener *client) []*client {
	x.Helper()
	x.must(x.handleOf(opener).Set(ctx))
	clients := x.several(ctx, 4)
	x.inTurn(ctx, clients, func(c *client) func(context.Context) error {
		return func(ctx context.Context) error { return x.come(ctx, c) }
	})
	x.expectReturned(ctx, false, clients...)
	return clients
}

func barrierHolds(ctx context.Context, x *barrierTrial) {
	opener := x.client(ctx)
	clients := x.full(ctx, opener)
	x.expectChildren(ctx, 1)
	x.must(x.handleOf(opener).Open(ctx))
	x.expectReturned(ctx, true, clients...)
	x.expectChildren(ctx, 0)
	x.must(x.handleOf(x.client(ctx)).Wait(ctx))
}

func barrierCanceled(ctx context.Context, x *barrierTrial) {
	opener := x.client(ctx)
	clients := x.full(ctx, opener)
	clients[1].last().isCanceled(ctx)
	clients = slices.Delete(clients, 1, 2)
	x.expectReturned(ctx, false, clients...)
	x.must(x.handleOf(opener).Open(ctx))
	x.expectReturned(ctx, true, clients...)
}

func barrierWaiterLost(ctx context.Context, x *barrierTrial) {
	opener := x.client(ctx)
	clients := x.full(ctx, opener)
	clients[1].close()
	x.settle(ctx)
	clients[1].last().fails(ctx, drivers.ErrSessionLost)
	clients = slices.Delete(clients, 1, 2)
	x.expectReturned(ctx, false, clients...)
	x.must(x.handleOf(opener).Open(ctx))
	x.expectReturned(ctx, true, clients...)
}

func barrierSetterLost(ctx context.Context, x *barrierTrial) {
	setter := x.client(ctx)
	clients := x.full(ctx, setter)
	setter.close()
	x.expectReturned(ctx, false, clients...)
	x.must(x.handleOf(x.client(ctx)).Open(ctx))
	x.expectReturned(ctx, true, clients...)
}

func barrierAnySchedule(ctx context.Context, x *barrierTrial) {
	for seed := range x.seeds() {
		x.compete(ctx, seed, nil)
	}
}

func barrierRepliesLost(ctx context.Context, x *barrierTrial) {
	for seed := range x.seeds() {
		x.compete(ctx, seed, oneInFive)
	}
}

// compete sets the barrier. Eight clients arrive, and one opens the barrier, at random times.
func (x *barrierTrial) compete(ctx context.Context, seed uint64, lose func(*rand.Rand) func(drivers.Message) bool) {
	x.Helper()
	const clients = 8
	var opened atomic.Bool
	set := make(chan struct{})
	x.concurrently(ctx, clients+1, seed, lose, func(i int, c *client, rng *rand.Rand) error {
		if i == clients {
			err := x.handleOf(c).Set(ctx)
			close(set)
			if err != nil {
				return err
			}
		}
		<-set
		if err := pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		if i == clients {
			opened.Store(true)
			return x.handleOf(c).Open(ctx)
		}
		err := x.come(ctx, c)
		if err == nil && !opened.Load() {
			err = errors.New("passed the barrier before it was opened")
		}
		return err
	})
	x.expectChildren(ctx, 0)
	x.closeClients()
}
