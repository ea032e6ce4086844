package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestConfigMutantsAreCaught(t *testing.T) { configMutants().areCaught(t) }

// openConfig is the constructor of a config.
type openConfig = func(drivers.Conn, string) recipe.Config

func configMutants() mutants[openConfig] {
	type (
		conn   = drivers.Conn
		config = recipe.Config
	)
	right := func(c conn, dir string) config { return recipes.NewConfig(c, dir) }
	form := func(open openConfig) Form { return ConfigForm{Name: "watch", New: open} }
	return mutants[openConfig]{right, form, []mutant[openConfig]{
		{"does not check again", func(c conn, dir string) config { return once{recipes.NewConfig(c, dir)} },
			[]string{"every change is seen", "changes come quickly"}},
		{"ignores cancellation", func(c conn, dir string) config { return stubborn{recipes.NewConfig(c, dir)} },
			[]string{"one cancels"}},
		{"hides the cause of its end", func(c conn, dir string) config { return mum{recipes.NewConfig(c, dir)} },
			[]string{"one cancels", "a client's session is lost"}},
		{"does not retry", func(c conn, dir string) config { return recipes.NewConfig(fleeting{c}, dir) },
			[]string{"replies are lost"}},
		{"reads twice", func(c conn, dir string) config { return recipes.NewConfig(rereader{c}, dir) },
			[]string{"settled cost"}},
	}}
}

// once shows the first value forever.
type once struct{ *recipes.Config }

func (c once) Follow(ctx context.Context, see func([]byte)) error {
	seen := false
	return c.Config.Follow(ctx, func(value []byte) {
		if !seen {
			see(value)
		}
		seen = true
	})
}

// stubborn follows until the session is lost.
type stubborn struct{ *recipes.Config }

func (c stubborn) Follow(ctx context.Context, see func([]byte)) error {
	return c.Config.Follow(context.WithoutCancel(ctx), see)
}

// mum ends with an error that does not name the cause.
type mum struct{ *recipes.Config }

func (c mum) Follow(ctx context.Context, see func([]byte)) error {
	c.Config.Follow(ctx, see)
	return errors.New("failed")
}

// fleeting turns a lost reply to a get into an error that the form does not retry.
type fleeting struct{ drivers.Conn }

func (b fleeting) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	data, stat, err := b.Conn.Get(ctx, path, w)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		err = errors.New("no answer")
	}
	return data, stat, err
}

// rereader sends each get twice.
type rereader struct{ drivers.Conn }

func (b rereader) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if _, _, err := b.Conn.Get(ctx, path, nil); err != nil {
		return nil, drivers.Stat{}, err
	}
	return b.Conn.Get(ctx, path, w)
}
