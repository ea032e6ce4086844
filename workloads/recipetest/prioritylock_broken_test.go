package recipetest

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestPriorityLockMutantsAreCaught(t *testing.T) {
	elsewhere := slices.Concat(lockMutants().caught(), sharedLockMutants().caught())
	priorityLockMutants().areCaught(t, elsewhere...)
}

// openPriorityLock is the constructor of a priority lock.
type openPriorityLock = func(drivers.Conn, string) recipe.PriorityLock

func priorityLockMutants() mutants[openPriorityLock] {
	type (
		conn = drivers.Conn
		lock = recipe.PriorityLock
	)
	right := func(c conn, dir string) lock { return recipes.NewPriorityLock(c, dir) }
	form := func(open openPriorityLock) Form { return PriorityLockForm{Name: "nearest", New: open} }
	return mutants[openPriorityLock]{right, form, []mutant[openPriorityLock]{
		{"lets in whoever comes", func(c conn, dir string) lock { return recipes.NewPriorityLock(&alone{Conn: c}, dir) },
			[]string{"one holder at a time", "a holder is asked, not passed"}},
		{"ignores priorities", func(c conn, dir string) lock { return levelled{recipes.NewPriorityLock(c, dir)} },
			[]string{"the most urgent is next", "a less urgent client is passed again and again", "urgent readers"}},
		{"serves the last one first", func(c conn, dir string) lock { return &upstart{recipes.NewPriorityLock(c, dir)} },
			[]string{"hand-over in order", "the most urgent is next"}},
		{"sends no request", func(c conn, dir string) lock { return recipes.NewPriorityLock(shy{c, dir}, dir) },
			[]string{"a holder is asked, not passed", "replies to urgent requests are lost"}},
		{"does not say that it came between", func(c conn, dir string) lock { return recipes.NewPriorityLock(modest{c, dir}, dir) },
			[]string{"a release wakes one of those that came between"}},
		{"deposes holders at once", func(c conn, dir string) lock { return recipes.NewPriorityLock(ruthless{c, dir}, dir) },
			[]string{"a holder is asked, not passed", "a less urgent holder ignores a request"}},
		{"hides that it deposes holders", func(c conn, dir string) lock {
			return struct{ lock }{recipes.NewLaserBeamPriorityLock(c, dir, time.Second)}
		}, []string{"a less urgent holder ignores a request"}},
		{"misses that its turn has come", func(c conn, dir string) lock { return recipes.NewPriorityLock(&selfWatcher{Conn: c}, dir) },
			[]string{"hand-over in order", "a less urgent client is passed again and again"}},
		{"does not retry", func(c conn, dir string) lock { return recipes.NewPriorityLock(timid{c}, dir) },
			[]string{"replies to urgent requests are lost"}},
		{"lists twice", func(c conn, dir string) lock { return recipes.NewPriorityLock(twice{c}, dir) },
			[]string{"settled cost", "identities", "identities with priorities"}},
	}}
}

// levelled asks with one priority for all.
type levelled struct{ recipe.PriorityLock }

func (l levelled) AcquireRead(ctx context.Context, _ uint16) (context.Context, error) {
	return l.PriorityLock.AcquireRead(ctx, 1)
}

func (l levelled) AcquireWrite(ctx context.Context, _ uint16) (context.Context, error) {
	return l.PriorityLock.AcquireWrite(ctx, 1)
}

// upstart is more urgent than all that came before it.
type upstart struct{ recipe.PriorityLock }

// requests is the number of requests of all upstarts.
var requests atomic.Uint32

func (l *upstart) rise() uint16 { return -uint16(requests.Add(1)) }

func (l *upstart) AcquireRead(ctx context.Context, _ uint16) (context.Context, error) {
	return l.PriorityLock.AcquireRead(ctx, l.rise())
}

func (l *upstart) AcquireWrite(ctx context.Context, _ uint16) (context.Context, error) {
	return l.PriorityLock.AcquireWrite(ctx, l.rise())
}

// shy writes no requests.
type shy struct {
	drivers.Conn
	dir string
}

func (b shy) Set(ctx context.Context, node string, data []byte, version int32) (drivers.Stat, error) {
	if node != b.dir {
		return drivers.Stat{}, nil
	}
	return b.Conn.Set(ctx, node, data, version)
}

// modest writes requests to less urgent clients only.
type modest struct {
	drivers.Conn
	dir string
}

func (b modest) Set(ctx context.Context, node string, data []byte, version int32) (drivers.Stat, error) {
	if _, label, _ := strings.Cut(path.Base(node), "-"); node != b.dir && label < string(data)+"." { // it begins with the priority and a hyphen
		return drivers.Stat{}, nil
	}
	return b.Conn.Set(ctx, node, data, version)
}

// ruthless deletes the node of a holder that it asks.
type ruthless struct {
	drivers.Conn
	dir string
}

func (b ruthless) Set(ctx context.Context, node string, data []byte, version int32) (drivers.Stat, error) {
	if node == b.dir {
		return b.Conn.Set(ctx, node, data, version)
	}
	holders, _, err := b.Conn.Get(ctx, b.dir, nil)
	if err != nil {
		return drivers.Stat{}, err
	}
	line, err := b.Conn.Children(ctx, b.dir, nil)
	if err != nil {
		return drivers.Stat{}, err
	}
	for _, c := range line {
		if c.Name == path.Base(node) && slices.Contains(strings.Fields(string(holders)), strconv.FormatInt(c.Seq, 10)) {
			return drivers.Stat{}, b.Conn.Delete(ctx, node, drivers.AnyVersion)
		}
	}
	return b.Conn.Set(ctx, node, data, version)
}
