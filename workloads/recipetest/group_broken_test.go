package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// A groupMutant is a group with one defect, and the cases that must detect it.
type groupMutant struct {
	name string
	ring bool
	open func(drivers.Conn, string) workloads.Group
	by   []string
}

func groupMutants() []groupMutant {
	type conn = drivers.Conn
	return []groupMutant{
		{"looks once", false, func(c conn, dir string) workloads.Group { return &onlooker{Group: naive.NewGroup(c, dir)} },
			[]string{"members come and go", "a member's session is lost"}},
		{"watches the wrong node in a ring", true, func(c conn, dir string) workloads.Group { return recipes.NewGroup(&selfWatcher{Conn: c}, dir) },
			[]string{"members come and go", "a member's session is lost"}},
		{"does not close the ring", true, func(c conn, dir string) workloads.Group { return recipes.NewGroup(openEnded{c}, dir) },
			[]string{"members come and go", "a member's session is lost", "settled cost"}},
		{"leaves when it stops following", false, func(c conn, dir string) workloads.Group { return fickle{naive.NewGroup(c, dir)} },
			[]string{"one stops following"}},
		{"leaves its node when it gives up", false, func(c conn, dir string) workloads.Group { return naive.NewGroup(keeper{c}, dir) },
			[]string{"gives up while joining"}},
		{"does not look for its GUID", false, func(c conn, dir string) workloads.Group { return naive.NewGroup(forgetful{c}, dir) },
			[]string{"replies are lost"}},
		{"herds", true, func(c conn, dir string) workloads.Group { return naive.NewGroup(c, dir) },
			[]string{"settled cost"}},
	}
}

func TestGroupMutantsAreCaught(t *testing.T) {
	type conn = drivers.Conn
	var catching []string
	for _, m := range groupMutants() {
		form := GroupForm{Name: "children-watch", Ring: m.ring, New: func(c conn, dir string) workloads.Group { return m.open(c, dir) }}
		if m.ring {
			form.Name = "ring"
		}
		t.Run(m.name, func(t *testing.T) { caught(t, "a group that "+m.name, form.cases(), m.by...) })
		catching = append(catching, m.by...)
	}
	covered(t, GroupForm{}.cases(), catching)
}

// onlooker shows forever what it saw first.
type onlooker struct{ workloads.Group }

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
type fickle struct{ workloads.Group }

func (g fickle) Follow(ctx context.Context, see func([]string)) error {
	err := g.Group.Follow(ctx, see)
	return errors.Join(err, g.Leave(context.WithoutCancel(ctx)))
}

// keeper deletes nothing.
type keeper struct{ drivers.Conn }

func (keeper) Delete(context.Context, string, int32) error { return nil }
