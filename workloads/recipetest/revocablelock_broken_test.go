package recipetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestRevocableLockMutantsAreCaught(t *testing.T) {
	elsewhere := append(lockMutants().caught(), sharedLockMutants().caught()...)
	revocableLockMutants().areCaught(t, elsewhere...)
}

// openRevocableLock is the constructor of a revocable lock.
type openRevocableLock = func(drivers.Conn, string) recipe.RevocableLock

func revocableLockMutants() mutants[openRevocableLock] {
	type (
		conn = drivers.Conn
		lock = recipe.RevocableLock
	)
	right := func(c conn, dir string) lock { return recipes.NewRevocableLock(c, dir) }
	form := func(open openRevocableLock) Form { return RevocableLockForm{Name: "own-node", New: open} }
	return mutants[openRevocableLock]{right, form, []mutant[openRevocableLock]{
		{"sends no request", func(c conn, dir string) lock {
			return recipes.NewRevocableLock(wordless{c}, dir)
		}, []string{"the holder is asked", "all readers are asked"}},
		{"sends a request to one of several readers", func(c conn, dir string) lock {
			return recipes.NewRevocableLock(&terse{Conn: c}, dir)
		}, []string{"all readers are asked"}},
		{"reports requests that no client made", func(c conn, dir string) lock {
			return jumpy{recipes.NewRevocableLock(c, dir)}
		}, []string{"the holder is asked", "all readers are asked"}},
		{"hides that it deposes holders", func(c conn, dir string) lock {
			return disguised{recipes.NewLaserBeamLock(c, dir, time.Second)}
		}, []string{"the holder ignores a request"}},
		{"does not retry", func(c conn, dir string) lock {
			return recipes.NewRevocableLock(timid{c}, dir)
		}, []string{"replies to requests are lost"}},
		{"hides the cause when no request can come", func(c conn, dir string) lock {
			return vague{recipes.NewRevocableLock(c, dir)}
		}, []string{"a listening holder's session is lost"}},
		{"reads twice", func(c conn, dir string) lock {
			return recipes.NewRevocableLock(anxious{c}, dir)
		}, []string{"identities with revocations"}},
	}}
}

// wordless writes no requests.
type wordless struct{ drivers.Conn }

func (wordless) Set(context.Context, string, []byte, int32) (drivers.Stat, error) {
	return drivers.Stat{}, nil
}

// terse writes no more requests after its first request to a reader.
type terse struct {
	drivers.Conn
	asked bool
}

func (b *terse) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	if b.asked {
		return drivers.Stat{}, nil
	}
	b.asked = strings.Contains(path, "-read-")
	return b.Conn.Set(ctx, path, data, version)
}

// timid turns a lost reply to a request into an error that the form does not retry.
type timid struct{ drivers.Conn }

func (b timid) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	stat, err := b.Conn.Set(ctx, path, data, version)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		err = errors.New("no answer")
	}
	return stat, err
}

// anxious sends each read of a request twice.
type anxious struct{ drivers.Conn }

func (b anxious) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if _, _, err := b.Conn.Get(ctx, path, nil); err != nil {
		return nil, drivers.Stat{}, err
	}
	return b.Conn.Get(ctx, path, w)
}

// jumpy reports a request that no client has made.
type jumpy struct{ recipe.RevocableLock }

func (jumpy) Revoked(context.Context) error { return nil }

// disguised hides the number of holders that it has deposed.
type disguised struct{ recipe.RevocableLock }

// vague fails with an error that does not name the cause.
type vague struct{ recipe.RevocableLock }

func (l vague) Revoked(ctx context.Context) error {
	if l.RevocableLock.Revoked(ctx) != nil {
		return errors.New("failed")
	}
	return nil
}
