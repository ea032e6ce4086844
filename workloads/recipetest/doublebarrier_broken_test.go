package recipetest

import (
	"context"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

func TestDoubleBarrierMutantsAreCaught(t *testing.T) { doubleBarrierMutants().run(t) }

func doubleBarrierMutants() *plants[func(drivers.Conn, string, int) workloads.DoubleBarrier] {
	type (
		conn    = drivers.Conn
		barrier = workloads.DoubleBarrier
	)
	right := func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(c, dir, n) }
	return newMutants(right, func(o func(conn, string, int) barrier) ([]lockCase, LockForm) {
		form := DoubleBarrierForm{Name: "ready", New: func(c conn, dir string, n int) barrier { return o(c, dir, n) }}
		return form.cases(), form.lock()
	}).
		plant("lets in whoever comes", func(c conn, dir string, n int) barrier { return right(c, dir, 1) },
			"in together, out together", "any schedule").
		plant("lets out whoever wants to leave", func(c conn, dir string, n int) barrier { return backDoor{right(c, dir, n), c} },
			"in together, out together", "any schedule").
		plant("forgets that all were in", func(c conn, dir string, n int) barrier { return naive.NewDoubleBarrier(oblivious{c}, dir, n) },
			"one looks too late").
		plant("leaves its node when it gives up", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(messy{c}, dir, n) },
			"one gives up outside", "one gives up inside").
		plant("has nodes that outlive sessions", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(undead{c}, dir, n) },
			"a session is lost outside", "the session of the lowest is lost inside",
			"the session of one in the middle is lost inside", "the session of the highest is lost inside").
		plant("does not look for its GUID", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(forgetful{c}, dir, n) },
			"replies to creates are lost").
		plant("asks only once", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(brittle{c}, dir, n) },
			"any replies are lost").
		plant("looks twice", func(c conn, dir string, n int) barrier { return recipes.NewDoubleBarrier(twice{c}, dir, n) },
			"settled cost", "identities")
}

// backDoor lets any client leave, by closing its session.
type backDoor struct {
	workloads.DoubleBarrier
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
	if givenUp(ctx) {
		return nil
	}
	return b.Conn.Delete(ctx, path, version)
}

// givenUp reports whether ctx is a context for cleaning up, which lasts no longer than a session
// timeout, and not the case's own.
func givenUp(ctx context.Context) bool {
	end, bounded := ctx.Deadline()
	return bounded && time.Until(end) <= drivers.DefaultSessionTimeout
}

// undead creates no ephemeral nodes.
type undead struct{ drivers.Conn }

func (b undead) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	return b.Conn.Create(ctx, path, data, mode&^drivers.Ephemeral)
}
