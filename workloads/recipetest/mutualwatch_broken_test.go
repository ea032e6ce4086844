package recipetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestMutualWatchMutantsAreCaught(t *testing.T) { mutualWatchMutants().areCaught(t) }

func mutualWatchMutants() mutants[openGroup] {
	type (
		conn  = drivers.Conn
		group = recipe.Group
	)
	right := openGroup{false, func(c conn, dir string) group { return naive.NewMutualWatch(c, dir) }}
	form := func(o openGroup) Form { return GroupForm{Recipe: "mutual-watch", Name: "watch-each", New: o.open} }
	return mutants[openGroup]{right, form, []mutant[openGroup]{
		{"watches only its neighbour", openGroup{false, func(c conn, dir string) group { return recipes.NewGroup(c, dir) }},
			[]string{"members join and leave", "a member's session is lost"}},
		{"arms no watch again", openGroup{false, func(c conn, dir string) group { return naive.NewMutualWatch(&fewLists{Conn: c}, dir) }},
			[]string{"members join and leave", "a member's session is lost"}},
		{"never forgets a member", openGroup{false, func(c conn, dir string) group { return &elephant{Group: naive.NewMutualWatch(c, dir)} }},
			[]string{"members join and leave", "a member's session is lost", "replies are lost"}},
		{"declares all others gone when one goes", openGroup{false, func(c conn, dir string) group { return &alarmist{Group: naive.NewMutualWatch(c, dir)} }},
			[]string{"no member is missed"}},
		{"leaves when it stops following", openGroup{false, func(c conn, dir string) group { return fickle{naive.NewMutualWatch(c, dir)} }},
			[]string{"one stops following"}},
		{"leaves its node when canceled", openGroup{false, func(c conn, dir string) group { return naive.NewMutualWatch(keeper{c}, dir) }},
			[]string{"canceled while joining"}},
		{"does not look for its GUID", openGroup{false, func(c conn, dir string) group { return naive.NewMutualWatch(forgetful{c}, dir) }},
			[]string{"replies are lost"}},
		{"has one watch", openGroup{false, func(c conn, dir string) group { return recipes.NewMutualWatch(c, dir) }},
			[]string{"settled cost"}},
	}}
}

// fewLists arms a watch on the group only the first time.
type fewLists struct {
	drivers.Conn
	armed bool
}

func (c *fewLists) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	if c.armed {
		w = nil
	}
	c.armed = c.armed || w != nil
	return c.Conn.Children(ctx, path, w)
}

// elephant sees each member that it has ever seen.
type elephant struct {
	recipe.Group
	known []string
}

func (g *elephant) Follow(ctx context.Context, see func([]string)) error {
	return g.Group.Follow(ctx, func(members []string) {
		g.known = slices.Compact(slices.Sorted(slices.Values(append(g.known, members...))))
		see(slices.Clone(g.known))
	})
}

// alarmist sees only itself before it sees that one has gone.
type alarmist struct {
	recipe.Group
	seen int
}

func (g *alarmist) Follow(ctx context.Context, see func([]string)) error {
	return g.Group.Follow(ctx, func(members []string) {
		if len(members) < g.seen {
			see(slices.DeleteFunc(slices.Clone(members), func(name string) bool { return !strings.HasPrefix(name, g.Name()) }))
		}
		g.seen = len(members)
		see(members)
	})
}
