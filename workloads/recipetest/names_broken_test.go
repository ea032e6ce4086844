package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// A namesMutant is a name service with one defect, and the cases that must detect it.
type namesMutant struct {
	name string
	open func(drivers.Conn, string) workloads.Names
	by   []string
}

func namesMutants() []namesMutant {
	type conn = drivers.Conn
	return []namesMutant{
		{"keeps for ever", func(c conn, dir string) workloads.Names { return recipes.NewNames(heedless{c}, dir) },
			[]string{"what is bound is found", "one's session is lost"}},
		{"watches when it has read", func(c conn, dir string) workloads.Names { return recipes.NewNames(late{c}, dir) },
			[]string{"a change during a look-up", "settled cost"}},
		{"does not say why it failed", func(c conn, dir string) workloads.Names { return taciturn{recipes.NewNames(c, dir)} },
			[]string{"one gives up", "one's session is lost"}},
		{"asks only once", func(c conn, dir string) workloads.Names { return recipes.NewNames(fleeting{c}, dir) },
			[]string{"replies are lost"}},
	}
}

func TestNamesMutantsAreCaught(t *testing.T) {
	type conn = drivers.Conn
	var catching []string
	for _, m := range namesMutants() {
		form := NamesForm{Name: "cached", New: func(c conn, dir string) workloads.Names { return m.open(c, dir) }}
		t.Run(m.name, func(t *testing.T) { caught(t, "a name service that "+m.name, form.cases(), m.by...) })
		catching = append(catching, m.by...)
	}
	covered(t, NamesForm{}.cases(), catching)
}

// heedless sets no watch.
type heedless struct{ drivers.Conn }

func (b heedless) Get(ctx context.Context, path string, _ drivers.Watch) ([]byte, drivers.Stat, error) {
	return b.Conn.Get(ctx, path, nil)
}

// late sets its watch with a second read.
type late struct{ drivers.Conn }

func (b late) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	data, stat, err := b.Conn.Get(ctx, path, nil)
	if err == nil {
		_, _, err = b.Conn.Get(ctx, path, w)
	}
	return data, stat, err
}

// taciturn fails with an error that does not name the cause.
type taciturn struct{ *recipes.Names }

func (n taciturn) Lookup(ctx context.Context, name string) ([]byte, error) {
	value, err := n.Names.Lookup(ctx, name)
	if err != nil {
		err = errors.New("failed")
	}
	return value, err
}
