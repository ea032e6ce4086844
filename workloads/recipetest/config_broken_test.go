package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// A configMutant is a config with one defect, and the cases that must detect it.
type configMutant struct {
	name string
	open func(drivers.Conn, string) workloads.Config
	by   []string
}

func configMutants() []configMutant {
	type conn = drivers.Conn
	return []configMutant{
		{"does not look again", func(c conn, dir string) workloads.Config { return once{recipes.NewConfig(c, dir)} },
			[]string{"every change is seen", "changes come quickly"}},
		{"does not give up", func(c conn, dir string) workloads.Config { return stubborn{recipes.NewConfig(c, dir)} },
			[]string{"one gives up"}},
		{"does not say why it ended", func(c conn, dir string) workloads.Config { return mum{recipes.NewConfig(c, dir)} },
			[]string{"one gives up", "one's session is lost"}},
		{"asks only once", func(c conn, dir string) workloads.Config { return recipes.NewConfig(fleeting{c}, dir) },
			[]string{"replies are lost"}},
		{"reads twice", func(c conn, dir string) workloads.Config { return recipes.NewConfig(rereader{c}, dir) },
			[]string{"settled cost"}},
	}
}

func TestConfigMutantsAreCaught(t *testing.T) {
	type conn = drivers.Conn
	var catching []string
	for _, m := range configMutants() {
		form := ConfigForm{Name: "watch", New: func(c conn, dir string) workloads.Config { return m.open(c, dir) }}
		t.Run(m.name, func(t *testing.T) { caught(t, "a config that "+m.name, form.cases(), m.by...) })
		catching = append(catching, m.by...)
	}
	covered(t, ConfigForm{}.cases(), catching)
}

func TestTheConfigRecipeIsNotCaught(t *testing.T) {
	form := ConfigForm{Name: "watch", New: func(c drivers.Conn, dir string) workloads.Config {
		return recipes.NewConfig(c, dir)
	}}
	for _, c := range form.cases() {
		if failures := verdictOf(t, c.play); failures != nil {
			t.Errorf("%s: %v", c.name, failures)
		}
	}
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
