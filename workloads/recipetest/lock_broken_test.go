package recipetest

import (
	"context"
	"errors"
	"path"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestLockMutantsAreCaught(t *testing.T) { lockMutants().areCaught(t) }

// openLock is the constructor of a lock.
type openLock = func(drivers.Conn, string) recipe.Lock

func lockMutants() mutants[openLock] {
	type (
		conn = drivers.Conn
		lock = recipe.Lock
	)
	right := func(c conn, dir string) lock { return recipes.NewLock(c, dir) }
	form := func(open openLock) Form { return LockForm{Name: "predecessor", New: open} }
	return mutants[openLock]{right, form, []mutant[openLock]{
		{"does not wait", func(c conn, dir string) lock { return recipes.NewLock(&alone{Conn: c}, dir) },
			[]string{"one holder at a time"}},
		{"watches the wrong node", func(c conn, dir string) lock { return recipes.NewLock(&selfWatcher{Conn: c}, dir) },
			[]string{"hand-over in order"}},
		{"grants in any order", func(c conn, dir string) lock { return sameToken{naive.NewLock(c, dir), 7} },
			[]string{"hand-over in order"}},
		{"has one token for all", func(c conn, dir string) lock { return sameToken{recipes.NewLock(c, dir), 7} },
			[]string{"one holder at a time"}},
		{"does not end the held context", func(c conn, dir string) lock { return unaware{recipes.NewLock(c, dir)} },
			[]string{"the same handle many times", "the holder's session is closed", "the holder's session expires"}},
		{"leaves its node when canceled", litter,
			[]string{"the next in line cancels", "one in the middle cancels", "the last in line cancels",
				"all waiting clients cancel", "canceled during the create"}},
		{"hides the cause of its failure", func(c conn, dir string) lock { return silent{recipes.NewLock(c, dir)} },
			[]string{"canceled before the call", "the session of the next in line is lost",
				"the session of one in the middle is lost", "the session of the last in line is lost"}},
		{"does not look for its GUID", func(c conn, dir string) lock { return recipes.NewLock(forgetful{c}, dir) },
			[]string{"200 replies to creates are lost"}},
		{"deletes what others made", func(c conn, dir string) lock { return naive.NewLock(blind{c}, dir) },
			[]string{"replies to deletes are lost"}},
		{"does not retry", func(c conn, dir string) lock { return recipes.NewLock(brittle{c}, dir) },
			[]string{"replies to reads are lost", "any replies are lost"}},
		{"lists twice", func(c conn, dir string) lock { return recipes.NewLock(twice{c}, dir) },
			[]string{"settled cost", "identities"}},
		{"herds", func(c conn, dir string) lock { return naive.NewChildrenWatchLock(c, dir) },
			[]string{"settled cost", "identities"}},
	}}
}

// alone sees only its own node in the line.
type alone struct {
	drivers.Conn
	mine string
}

func (b *alone) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	child, err := b.Conn.Create(ctx, path, data, mode)
	b.mine = child.Name
	return child, err
}

func (b *alone) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	children, err := b.Conn.Children(ctx, path, w)
	return slices.DeleteFunc(children, func(c drivers.Child) bool { return c.Name != b.mine }), err
}

// selfWatcher watches its own node instead of the one ahead.
type selfWatcher struct {
	drivers.Conn
	mine string
}

func (b *selfWatcher) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	child, err := b.Conn.Create(ctx, path, data, mode)
	b.mine = child.Name
	return child, err
}

func (b *selfWatcher) Exists(ctx context.Context, node string, w drivers.Watch) (drivers.Stat, bool, error) {
	return b.Conn.Exists(ctx, path.Join(path.Dir(node), b.mine), w)
}

// forgetful repeats a create after a lost reply, without checking the outcome of the first.
type forgetful struct{ drivers.Conn }

func (b forgetful) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	for {
		child, err := b.Conn.Create(ctx, path, data, mode)
		if !errors.Is(err, drivers.ErrConnectionLoss) {
			return child, err
		}
	}
}

// litterer deletes nothing while it acquires.
type litterer struct {
	drivers.Conn
	recipe.Lock
	acquiring bool
}

func litter(c drivers.Conn, dir string) recipe.Lock {
	b := &litterer{Conn: c}
	b.Lock = recipes.NewLock(b, dir)
	return b
}

func (b *litterer) Acquire(ctx context.Context) (context.Context, error) {
	b.acquiring = true
	defer func() { b.acquiring = false }()
	return b.Lock.Acquire(ctx)
}

func (b *litterer) Delete(ctx context.Context, path string, version int32) error {
	if b.acquiring {
		return nil
	}
	return b.Conn.Delete(ctx, path, version)
}

// brittle turns a lost reply to a read into an error that the form does not retry.
type brittle struct{ drivers.Conn }

func (b brittle) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	children, err := b.Conn.Children(ctx, path, w)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		err = errors.New("no answer")
	}
	return children, err
}

// blind repeats a delete after a lost reply, even if another client has created the node since.
type blind struct{ drivers.Conn }

func (b blind) Delete(ctx context.Context, path string, version int32) error {
	for {
		err := b.Conn.Delete(ctx, path, version)
		switch {
		case errors.Is(err, drivers.ErrConnectionLoss):
		case errors.Is(err, drivers.ErrNoNode):
			return nil
		default:
			return err
		}
	}
}

// twice sends each read twice.
type twice struct{ drivers.Conn }

func (b twice) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	if _, err := b.Conn.Children(ctx, path, nil); err != nil {
		return nil, err
	}
	return b.Conn.Children(ctx, path, w)
}

// unaware returns a held context that never ends.
type unaware struct{ recipe.Lock }

func (l unaware) Acquire(ctx context.Context) (context.Context, error) {
	_, err := l.Lock.Acquire(ctx)
	return ctx, err
}

// sameToken has the same token for every grant.
type sameToken struct {
	recipe.Lock
	token int64
}

func (l sameToken) Token() int64 { return l.token }

// silent fails with an error that does not name the cause.
type silent struct{ recipe.Lock }

func (l silent) Acquire(ctx context.Context) (context.Context, error) {
	held, err := l.Lock.Acquire(ctx)
	if err != nil {
		err = errors.New("failed")
	}
	return held, err
}
