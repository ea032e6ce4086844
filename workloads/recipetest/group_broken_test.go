package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestGroupMutantsAreCaught(t *testing.T) { groupMutants().areCaught(t) }

// openGroup is the constructor of a group, and whether the group is a ring.
type openGroup struct {
	ring bool
	open func(drivers.Conn, string) recipe.Group
}

func groupMutants() mutants[openGroup] {
	type (
		conn  = drivers.Conn
		group = recipe.Group
	)
	right := openGroup{false, func(c conn, dir string) group { return naive.NewGroup(c, dir) }}
	form := func(o openGroup) Form {
		form := GroupForm{Recipe: "group", Name: "children-watch", Ring: o.ring, New: o.open}
		if o.ring {
			form.Name = "ring"
		}
		return form
	}
	return mutants[openGroup]{right, form, []mutant[openGroup]{
		{"lists once", openGroup{false, func(c conn, dir string) group { return &onlooker{Group: naive.NewGroup(c, dir)} }},
			[]string{"members join and leave", "a member's session is lost"}},
		{"watches the wrong node in a ring", openGroup{true, func(c conn, dir string) group { return recipes.NewGroup(&selfWatcher{Conn: c}, dir) }},
			[]string{"members join and leave", "a member's session is lost"}},
		{"does not close the ring", openGroup{true, func(c conn, dir string) group { return recipes.NewGroup(openEnded{c}, dir) }},
			[]string{"members join and leave", "a member's session is lost", "settled cost"}},
		{"leaves when it stops following", openGroup{false, func(c conn, dir string) group { return fickle{naive.NewGroup(c, dir)} }},
			[]string{"one stops following"}},
		{"leaves its node when canceled", openGroup{false, func(c conn, dir string) group { return naive.NewGroup(keeper{c}, dir) }},
			[]string{"canceled while joining"}},
		{"sees members one by one", openGroup{false, func(c conn, dir string) group { return counting{naive.NewGroup(c, dir)} }},
			[]string{"no member is missed"}},
		{"does not look for its GUID", openGroup{false, func(c conn, dir string) group { return naive.NewGroup(forgetful{c}, dir) }},
			[]string{"replies are lost"}},
		{"herds", openGroup{true, func(c conn, dir string) group { return naive.NewGroup(c, dir) }},
			[]string{"settled cost"}},
	}}
}

// onlooker shows forever what it saw first.
type onlooker struct{ recipe.Group }

func (g *onlooker) Follow(ctx context.Context, see func([]string)) error {
	seen := false
	return g.Group.Follow(ctx, func(members []string) {
		if !seen {
			see(members)
		}
		seen = true
	})
}

// openEnded never watches the whole group.
type openEnded struct{ drivers.Conn }

func (b openEnded) Children(ctx context.Context, path string, _ drivers.Watch) ([]drivers.Child, error) {
	return b.Conn.Children(ctx, path, nil)
}

// fickle leaves the group when it stops following.
type fickle struct{ recipe.Group }

func (g fickle) Follow(ctx context.Context, see func([]string)) error {
	err := g.Group.Follow(ctx, see)
	return errors.Join(err, g.Leave(context.WithoutCancel(ctx)))
}

// keeper deletes nothing.
type keeper struct{ drivers.Conn }

func (keeper) Delete(context.Context, string, int32) error { return nil }

// counting sees one member more at a time, whenever it looks.
type counting struct{ recipe.Group }

func (g counting) Follow(ctx context.Context, see func([]string)) error {
	return g.Group.Follow(ctx, func(members []string) {
		for n := range members {
			see(members[:n+1])
		}
	})
}
