package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestMirrorMutantsAreCaught(t *testing.T) { mirrorMutants().areCaught(t) }

// openMirror is the constructor of a mirror.
type openMirror = func(drivers.Conn, string) recipe.Mirror

func mirrorMutants() mutants[openMirror] {
	type (
		conn   = drivers.Conn
		mirror = recipe.Mirror
	)
	right := func(c conn, dir string) mirror { return recipes.NewMirror(c, dir) }
	form := func(open openMirror) Form { return MirrorForm{Name: "watch-each", New: open} }
	return mutants[openMirror]{right, form, []mutant[openMirror]{
		{"does not arm a watch again", func(c conn, dir string) mirror {
			return recipes.NewMirror(&armsOnce{Conn: c, armed: map[string]bool{}}, dir)
		},
			[]string{"every change is copied", "changes come quickly"}},
		{"shows a stale read after a newer one", func(c conn, dir string) mirror {
			return &stale{Mirror: recipes.NewMirror(c, dir), last: map[string]sight{}}
		},
			[]string{"every change is copied", "changes come quickly"}},
		{"misses deletions while disconnected", func(c conn, dir string) mirror {
			cut := &torn{Conn: c}
			return &hoarder{recipes.NewMirror(cut, dir), cut}
		}, []string{"changes during a disconnect"}},
		{"shows a change at another node", func(c conn, dir string) mirror { return misplaced{recipes.NewMirror(c, dir)} },
			[]string{"every change is copied"}},
		{"keeps a deleted node deleted", func(c conn, dir string) mirror { return grave{recipes.NewMirror(c, dir)} },
			[]string{"a node comes again", "every change is copied"}},
		{"ignores cancellation", func(c conn, dir string) mirror { return tenacious{recipes.NewMirror(c, dir)} },
			[]string{"one cancels"}},
		{"hides the cause of its end", func(c conn, dir string) mirror { return reticent{recipes.NewMirror(c, dir)} },
			[]string{"one cancels", "a client's session is lost"}},
		{"does not retry", func(c conn, dir string) mirror { return recipes.NewMirror(fleeting{c}, dir) },
			[]string{"replies are lost", "changes during a disconnect"}},
		{"reads twice", func(c conn, dir string) mirror { return recipes.NewMirror(rereader{c}, dir) },
			[]string{"settled cost"}},
	}}
}

// armsOnce arms a watch on each node only with its first read.
type armsOnce struct {
	drivers.Conn
	armed map[string]bool
}

func (b *armsOnce) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if b.armed[path] {
		w = nil
	}
	data, stat, err := b.Conn.Get(ctx, path, w)
	if err == nil {
		b.armed[path] = true
	}
	return data, stat, err
}

// seeing is what a mirror calls with what it sees of a node, which a sight is.
type seeing = func(name string, data []byte, stat drivers.Stat)

type sight struct {
	data []byte
	stat drivers.Stat
}

// stale shows after each change of a node what it showed before.
type stale struct {
	*recipes.Mirror
	last map[string]sight
}

func (m *stale) Follow(ctx context.Context, see seeing) error {
	return m.Mirror.Follow(ctx, func(name string, data []byte, stat drivers.Stat) {
		see(name, data, stat)
		if last, seen := m.last[name]; seen && last.stat.Modified > 0 && stat.Modified > 0 {
			see(name, last.data, last.stat)
		}
		m.last[name] = sight{data, stat}
	})
}

// torn remembers that a get was not answered because its connection broke.
type torn struct {
	drivers.Conn
	is bool
}

func (b *torn) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	data, stat, err := b.Conn.Get(ctx, path, w)
	b.is = b.is || errors.Is(err, drivers.ErrConnectionLoss)
	return data, stat, err
}

// hoarder does not show that a node is gone once a connection was broken.
type hoarder struct {
	*recipes.Mirror
	conn *torn
}

func (m *hoarder) Follow(ctx context.Context, see seeing) error {
	return m.Mirror.Follow(ctx, func(name string, data []byte, stat drivers.Stat) {
		if !m.conn.is || stat != (drivers.Stat{}) {
			see(name, data, stat)
		}
	})
}

// misplaced shows what any node was set to at one of them.
type misplaced struct{ *recipes.Mirror }

func (m misplaced) Follow(ctx context.Context, see seeing) error {
	return m.Mirror.Follow(ctx, func(name string, data []byte, stat drivers.Stat) {
		if stat.Version > 0 {
			name = "b"
		}
		see(name, data, stat)
	})
}

// grave shows no node that comes again.
type grave struct{ *recipes.Mirror }

func (m grave) Follow(ctx context.Context, see seeing) error {
	seen, gone := map[string]int64{}, map[string]bool{}
	return m.Mirror.Follow(ctx, func(name string, data []byte, stat drivers.Stat) {
		if stat == (drivers.Stat{}) || seen[name] > 0 && seen[name] != stat.Created {
			gone[name] = true
			see(name, nil, drivers.Stat{})
		}
		if !gone[name] {
			seen[name] = stat.Created
			see(name, data, stat)
		}
	})
}

// tenacious follows until the session is lost.
type tenacious struct{ *recipes.Mirror }

func (m tenacious) Follow(ctx context.Context, see seeing) error {
	return m.Mirror.Follow(context.WithoutCancel(ctx), see)
}

// reticent ends with an error that does not name the cause.
type reticent struct{ *recipes.Mirror }

func (m reticent) Follow(ctx context.Context, see seeing) error {
	m.Mirror.Follow(ctx, see)
	return errors.New("failed")
}
