package recipetest

import (
	"context"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// sharedMutants returns mutants of the shared lock.
func sharedMutants() []mutant {
	type conn = drivers.Conn
	shared := func(open func(c conn, dir string) workloads.SharedLock) func(conn, string) workloads.Lock {
		return func(c conn, dir string) workloads.Lock { return &side{SharedLock: open(c, dir)} }
	}
	return []mutant{
		{"lets readers in with a writer", shared(func(c conn, dir string) workloads.SharedLock {
			return recipes.NewSharedLock(&careless{Conn: c}, dir)
		}), []string{"one holder at a time", "readers share"}},
		{"does not look again", shared(func(c conn, dir string) workloads.SharedLock {
			return recipes.NewSharedLock(&eager{alone: alone{Conn: c}}, dir)
		}), []string{"the last of several readers lets go",
			"a reader between two writers gives up", "a reader between two writers loses its session",
			"the writer next to the readers gives up", "the writer next to the readers loses its session"}},
		{"lets nobody share", shared(func(c conn, dir string) workloads.SharedLock {
			return selfish{recipes.NewSharedLock(c, dir)}
		}), []string{"readers share",
			"a writer between readers gives up", "a writer between readers loses its session"}},
	}
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
type selfish struct{ workloads.SharedLock }

func (l selfish) AcquireRead(ctx context.Context) (context.Context, error) {
	return l.AcquireWrite(ctx)
}
