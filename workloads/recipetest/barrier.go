package recipetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A BarrierForm is a form under test.
type BarrierForm struct {
	Name string // the form's name in package cost
	New  func(c drivers.Conn, path string) workloads.Barrier
	Library
}

// Barrier checks a form on a service, as [Lock] does.
func Barrier(t *testing.T, service drivers.Service, form BarrierForm) {
	checkAll(t, service, form.lock(), form.cases())
}

// BarrierBubbled checks a form, as [LockBubbled] does.
func BarrierBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form BarrierForm) {
	checkBubbled(t, open, form.lock(), form.cases())
}

func (f BarrierForm) lock() LockForm {
	return LockForm{Recipe: "barrier", Name: f.Name, New: newErrand, Library: f.Library}
}

func (f BarrierForm) cases() []lockCase {
	at := func(run func(ctx context.Context, x *barrierTrial)) func(context.Context, *lockTrial) {
		return func(ctx context.Context, x *lockTrial) { run(ctx, &barrierTrial{x, f}) }
	}
	return append([]lockCase{
		{"all wait until it is opened",
			"Nobody is past a barrier before it is opened; then all who waited go on, and whoever comes later does not wait.",
			at(barrierHolds)},
		{"any schedule",
			"The same whoever comes when: before the opening, during it or after.",
			at(barrierAnySchedule)},
		{"one gives up",
			"Who gives up at a barrier says why and leaves nothing, and the others wait on and then go on.",
			at(barrierGivenUp)},
		{"the session of one who waits is lost",
			"Who loses its session at a barrier is not past it, and the others wait on and then go on.",
			at(barrierWaiterLost)},
		{"the session of who set it is lost",
			"A barrier stands until somebody opens it, whatever becomes of who put it up.",
			at(barrierSetterLost)},
		{"any replies are lost",
			"Sessions survive broken connections, and so does the barrier: a lost reply lets nobody through and keeps nobody back.",
			at(barrierRepliesLost)},
	}, togetherCosts(workloads.Form{Recipe: "barrier", Name: f.Name, Family: f.family(), New: workloads.Barriers(f.New)})...)
}

// A barrierTrial is the state of one case.
type barrierTrial struct {
	*lockTrial
	form BarrierForm
}

// of returns the client's handle on the barrier.
func (x *barrierTrial) of(c *lockClient) workloads.Barrier {
	return x.form.New(c.conn, x.dir+"/barrier")
}

// full sets the barrier and has four clients wait at it, which arrive one at a time.
func (x *barrierTrial) full(ctx context.Context, opener *lockClient) []*lockClient {
	x.Helper()
	x.done(x.of(opener).Set(ctx))
	clients := x.several(ctx, 4)
	x.wait(ctx, clients, func(c *lockClient) func(context.Context) error { return x.of(c).Wait })
	x.expectBack(ctx, false, clients...)
	return clients
}

func barrierHolds(ctx context.Context, x *barrierTrial) {
	opener := x.client(ctx)
	clients := x.full(ctx, opener)
	x.expectNodes(ctx, 1)
	x.done(x.of(opener).Open(ctx))
	x.expectBack(ctx, true, clients...)
	x.expectNodes(ctx, 0)
	x.done(x.of(x.client(ctx)).Wait(ctx))
}

func barrierGivenUp(ctx context.Context, x *barrierTrial) {
	opener := x.client(ctx)
	clients := x.full(ctx, opener)
	clients[1].giveUp(ctx)
	clients = slices.Delete(clients, 1, 2)
	x.expectBack(ctx, false, clients...)
	x.done(x.of(opener).Open(ctx))
	x.expectBack(ctx, true, clients...)
}

func barrierWaiterLost(ctx context.Context, x *barrierTrial) {
	opener := x.client(ctx)
	clients := x.full(ctx, opener)
	x.done(clients[1].conn.Close())
	x.settle(ctx)
	clients[1].failed(ctx, drivers.ErrSessionLost)
	clients = slices.Delete(clients, 1, 2)
	x.expectBack(ctx, false, clients...)
	x.done(x.of(opener).Open(ctx))
	x.expectBack(ctx, true, clients...)
}

func barrierSetterLost(ctx context.Context, x *barrierTrial) {
	setter := x.client(ctx)
	clients := x.full(ctx, setter)
	x.done(setter.conn.Close())
	x.expectBack(ctx, false, clients...)
	x.done(x.of(x.client(ctx)).Open(ctx))
	x.expectBack(ctx, true, clients...)
}

func barrierAnySchedule(ctx context.Context, x *barrierTrial) {
	for seed := range x.seeds() {
		x.rush(ctx, seed, nil)
	}
}

func barrierRepliesLost(ctx context.Context, x *barrierTrial) {
	for seed := range x.seeds() {
		x.rush(ctx, seed, oneInFive)
	}
}

// rush sets the barrier. Eight clients arrive, and one opens the barrier, at random times.
func (x *barrierTrial) rush(ctx context.Context, seed uint64, lose func(*rand.Rand) func(drivers.Message) bool) {
	x.Helper()
	const clients = 8
	var opened atomic.Bool
	set := make(chan struct{})
	x.atOnce(ctx, clients+1, seed, lose, func(i int, c *lockClient, rng *rand.Rand) error {
		if i == clients {
			err := x.of(c).Set(ctx)
			close(set)
			if err != nil {
				return err
			}
		}
		<-set
		if err := drivers.Pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		if i == clients {
			opened.Store(true)
			return x.of(c).Open(ctx)
		}
		err := x.of(c).Wait(ctx)
		if err == nil && !opened.Load() {
			err = errors.New("past the barrier before it was opened")
		}
		return err
	})
	x.expectNodes(ctx, 0)
	x.dismiss()
}
