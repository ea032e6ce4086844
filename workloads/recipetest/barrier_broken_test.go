package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestBarrierMutantsAreCaught(t *testing.T) { barrierMutants().areCaught(t) }

// openBarrier is the constructor of a barrier.
type openBarrier = func(drivers.Conn, string) recipe.Barrier

func barrierMutants() mutants[openBarrier] {
	type (
		conn    = drivers.Conn
		barrier = recipe.Barrier
	)
	right := func(c conn, path string) barrier { return recipes.NewBarrier(c, path) }
	form := func(open openBarrier) Form { return BarrierForm{Name: "watch", New: open} }
	return mutants[openBarrier]{right, form, []mutant[openBarrier]{
		{"stops no client", func(c conn, path string) barrier { return openDoor{right(c, path)} },
			[]string{"all wait until it is opened", "any schedule"}},
		{"treats a failure as an opening", func(c conn, path string) barrier { return rash{right(c, path)} },
			[]string{"one cancels", "a waiting client's session is lost"}},
		{"is deleted with its setter's session", func(c conn, path string) barrier { return recipes.NewBarrier(fleetingBarrier{c}, path) },
			[]string{"the setter's session is lost"}},
		{"does not retry", func(c conn, path string) barrier { return recipes.NewBarrier(brittle{c}, path) },
			[]string{"any replies are lost"}},
		{"reads twice", func(c conn, path string) barrier { return recipes.NewBarrier(twice{c}, path) },
			[]string{"settled cost", "identities"}},
	}}
}

// openDoor lets every client pass immediately.
type openDoor struct{ recipe.Barrier }

func (openDoor) Wait(context.Context) error { return nil }

// rash passes the barrier after any error of the wait.
type rash struct{ recipe.Barrier }

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
