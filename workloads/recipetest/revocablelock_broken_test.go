package recipetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// revocableMutants returns mutants of the revocable lock.
func revocableMutants() []mutant {
	type conn = drivers.Conn
	revocable := func(open func(c conn, dir string) workloads.RevocableLock) func(conn, string) workloads.Lock {
		return func(c conn, dir string) workloads.Lock { return &side{SharedLock: open(c, dir)} }
	}
	return []mutant{
		{"asks nobody", revocable(func(c conn, dir string) workloads.RevocableLock {
			return recipes.NewRevocableLock(wordless{c}, dir)
		}), []string{"the holder is asked", "all readers are asked"}},
		{"asks one reader of several", revocable(func(c conn, dir string) workloads.RevocableLock {
			return recipes.NewRevocableLock(&terse{Conn: c}, dir)
		}), []string{"all readers are asked"}},
		{"takes everything for a request", revocable(func(c conn, dir string) workloads.RevocableLock {
			return jumpy{recipes.NewRevocableLock(c, dir)}
		}), []string{"the holder is asked", "all readers are asked"}},
		{"uses force and does not say so", revocable(func(c conn, dir string) workloads.RevocableLock {
			return disguised{recipes.NewLaserBeamLock(c, dir, time.Second)}
		}), []string{"the holder is deaf"}},
		{"asks only once", revocable(func(c conn, dir string) workloads.RevocableLock {
			return recipes.NewRevocableLock(timid{c}, dir)
		}), []string{"replies to requests are lost"}},
		{"does not say why nobody asks", revocable(func(c conn, dir string) workloads.RevocableLock {
			return vague{recipes.NewRevocableLock(c, dir)}
		}), []string{"a listening holder's session is lost"}},
		{"looks twice", revocable(func(c conn, dir string) workloads.RevocableLock {
			return recipes.NewRevocableLock(anxious{c}, dir)
		}), []string{"identities with revocations"}},
	}
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
type jumpy struct{ workloads.RevocableLock }

func (jumpy) Revoked(context.Context) error { return nil }

// disguised hides the number of holders that it has deposed.
type disguised struct{ workloads.RevocableLock }

// vague fails with an error that does not name the cause.
type vague struct{ workloads.RevocableLock }

func (l vague) Revoked(ctx context.Context) error {
	if l.RevocableLock.Revoked(ctx) != nil {
		return errors.New("failed")
	}
	return nil
}
