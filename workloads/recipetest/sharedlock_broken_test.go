package recipetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestSharedLockMutantsAreCaught(t *testing.T) {
	sharedLockMutants().areCaught(t, lockMutants().caught()...)
}

// openSharedLock is the constructor of a shared lock.
type openSharedLock = func(drivers.Conn, string) recipe.SharedLock

func sharedLockMutants() mutants[openSharedLock] {
	type (
		conn = drivers.Conn
		lock = recipe.SharedLock
	)
	right := func(c conn, dir string) lock { return recipes.NewSharedLock(c, dir) }
	form := func(open openSharedLock) Form { return SharedLockForm{Name: "nearest", New: open} }
	return mutants[openSharedLock]{right, form, []mutant[openSharedLock]{
		{"lets readers in with a writer", func(c conn, dir string) lock {
			return recipes.NewSharedLock(&careless{Conn: c}, dir)
		}, []string{"one holder at a time", "readers share"}},
		{"does not check again", func(c conn, dir string) lock {
			return recipes.NewSharedLock(&eager{alone: alone{Conn: c}}, dir)
		}, []string{"the last of several readers releases",
			"a reader between two writers cancels", "a reader between two writers loses its session",
			"the writer next to the readers cancels", "the writer next to the readers loses its session"}},
		{"shares with no client", func(c conn, dir string) lock {
			return selfish{recipes.NewSharedLock(c, dir)}
		}, []string{"readers share",
			"a writer between readers cancels", "a writer between readers loses its session"}},
	}}
}

// careless sees no writers while it wants the lock for reading.
type careless struct {
	drivers.Conn
	mine string
}

func (b *careless) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	child, err := b.Conn.Create(ctx, path, data, mode)
	b.mine = child.Name
	return child, err
}

func (b *careless) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	children, err := b.Conn.Children(ctx, path, w)
	return slices.DeleteFunc(children, func(c drivers.Child) bool {
		return strings.Contains(b.mine, "-read-") && strings.Contains(c.Name, "-write-")
	}), err
}

// eager sees only its own node in the line once it has waited.
type eager struct {
	alone
	waited bool
}

func (b *eager) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	b.waited = true
	return b.Conn.Exists(ctx, path, w)
}

func (b *eager) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	if b.waited {
		return b.alone.Children(ctx, path, w)
	}
	return b.Conn.Children(ctx, path, w)
}

// selfish always acquires the lock for writing.
type selfish struct{ recipe.SharedLock }

func (l selfish) AcquireRead(ctx context.Context) (context.Context, error) {
	return l.AcquireWrite(ctx)
}
