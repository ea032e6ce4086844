package recipetest

import (
	"context"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestDoubleBarrierMutantsAreCaught(t *testing.T) { doubleBarrierMutants().areCaught(t) }

// openDoubleBarrier is the constructor of a double barrier.
type openDoubleBarrier = func(drivers.Conn, string, int) recipe.DoubleBarrier

func doubleBarrierMutants() mutants[openDoubleBarrier] {
	type (
		conn    = drivers.Conn
		barrier = recipe.DoubleBarrier
	)
	right := func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(c, dir, n) }
	form := func(open openDoubleBarrier) Form { return DoubleBarrierForm{Name: "ready", New: open} }
	return mutants[openDoubleBarrier]{right, form, []mutant[openDoubleBarrier]{
		{"lets in every client at once", func(c conn, dir string, n int) barrier { return right(c, dir, 1) },
			[]string{"in together, out together", "any schedule"}},
		{"lets out every client at once", func(c conn, dir string, n int) barrier { return backDoor{right(c, dir, n), c} },
			[]string{"in together, out together", "any schedule"}},
		{"forgets that all were in", func(c conn, dir string, n int) barrier { return naive.NewDoubleBarrier(oblivious{c}, dir, n) },
			[]string{"one client is slow"}},
		{"leaves its node when canceled", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(messy{c}, dir, n) },
			[]string{"one cancels outside", "one cancels inside"}},
		{"has nodes that outlive sessions", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(undead{c}, dir, n) },
			[]string{"a session is lost outside", "the session of the lowest is lost inside", "the session of one in the middle is lost inside", "the session of the highest is lost inside"}},
		{"does not look for its GUID", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(forgetful{c}, dir, n) },
			[]string{"replies to creates are lost"}},
		{"does not retry", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(brittle{c}, dir, n) },
			[]string{"any replies are lost"}},
		{"reads twice", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(twice{c}, dir, n) },
			[]string{"settled cost", "identities"}},
	}}
}

// backDoor lets any client leave, by closing its session.
type backDoor struct {
	recipe.DoubleBarrier
	conn drivers.Conn
}

func (b backDoor) Leave(context.Context) error { return b.conn.Close() }

// oblivious reads no data.
type oblivious struct{ drivers.Conn }

func (b oblivious) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	_, stat, err := b.Conn.Get(ctx, path, w)
	return nil, stat, err
}

// messy deletes nothing after the call was canceled.
type messy struct{ drivers.Conn }

func (b messy) Delete(ctx context.Context, path string, version int32) error {
	if cleaningUp(ctx) {
		return nil
	}
	return b.Conn.Delete(ctx, path, version)
}

// cleaningUp reports whether ctx is a context for cleaning up, which lasts no longer than a session
// timeout, and not the case's own.
func cleaningUp(ctx context.Context) bool {
	end, bounded := ctx.Deadline()
	return bounded && time.Until(end) <= drivers.DefaultSessionTimeout
}

// undead creates no ephemeral nodes.
type undead struct{ drivers.Conn }

func (b undead) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	return b.Conn.Create(ctx, path, data, mode&^drivers.Ephemeral)
}
