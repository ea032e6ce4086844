package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

func TestBarrierMutantsAreCaught(t *testing.T) { barrierMutants().run(t) }

func barrierMutants() *plants[func(drivers.Conn, string) workloads.Barrier] {
	type (
		conn    = drivers.Conn
		barrier = workloads.Barrier
	)
	right := func(c conn, path string) barrier { return recipes.NewBarrier(c, path) }
	return newMutants(right, func(open func(conn, string) barrier) ([]lockCase, LockForm) {
		form := BarrierForm{Name: "watch", New: func(c conn, path string) barrier { return open(c, path) }}
		return form.cases(), form.lock()
	}).
		plant("holds nobody up", func(c conn, path string) barrier { return openDoor{right(c, path)} },
			"all wait until it is opened", "any schedule").
		plant("takes a failure for an opening", func(c conn, path string) barrier { return rash{right(c, path)} },
			"one gives up", "the session of one who waits is lost").
		plant("goes with who set it", func(c conn, path string) barrier { return recipes.NewBarrier(fleetingBarrier{c}, path) },
			"the session of who set it is lost").
		plant("asks only once", func(c conn, path string) barrier { return recipes.NewBarrier(brittle{c}, path) },
			"any replies are lost").
		plant("looks twice", func(c conn, path string) barrier { return recipes.NewBarrier(twice{c}, path) },
			"settled cost", "identities")
}

// openDoor lets every client pass immediately.
type openDoor struct{ workloads.Barrier }

func (openDoor) Wait(context.Context) error { return nil }

// rash passes the barrier after any error of the wait.
type rash struct{ workloads.Barrier }

func (b rash) Wait(ctx context.Context) error {
	_ = b.Barrier.Wait(ctx)
	return nil
}

// fleetingBarrier creates only ephemeral nodes.
type fleetingBarrier struct{ drivers.Conn }

func (b fleetingBarrier) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	return b.Conn.Create(ctx, path, data, mode|drivers.Ephemeral)
}

func (b brittle) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	stat, there, err := b.Conn.Exists(ctx, path, w)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		err = errors.New("no answer")
	}
	return stat, there, err
}

func (b twice) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	if stat, there, err := b.Conn.Exists(ctx, path, nil); err != nil {
		return stat, there, err
	}
	return b.Conn.Exists(ctx, path, w)
}
