package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestNamesMutantsAreCaught(t *testing.T) { namesMutants().areCaught(t) }

// openNames is the constructor of names.
type openNames = func(drivers.Conn, string) recipe.Names

func namesMutants() mutants[openNames] {
	type (
		conn  = drivers.Conn
		names = recipe.Names
	)
	right := func(c conn, dir string) names { return recipes.NewNames(c, dir) }
	form := func(open openNames) Form { return NamesForm{Name: "cached", New: open} }
	return mutants[openNames]{right, form, []mutant[openNames]{
		{"never invalidates its cache", func(c conn, dir string) names { return recipes.NewNames(heedless{c}, dir) },
			[]string{"bound names are found", "a client's session is lost"}},
		{"watches after it has read", func(c conn, dir string) names { return recipes.NewNames(late{c}, dir) },
			[]string{"a change during a look-up", "settled cost"}},
		{"hides the cause of its failure", func(c conn, dir string) names { return taciturn{recipes.NewNames(c, dir)} },
			[]string{"one cancels", "a client's session is lost"}},
		{"does not retry", func(c conn, dir string) names { return recipes.NewNames(fleeting{c}, dir) },
			[]string{"replies are lost"}},
	}}
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
