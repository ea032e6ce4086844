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

func TestMemberStateMutantsAreCaught(t *testing.T) { memberStateMutants().areCaught(t) }

// openMemberState is the constructor of a member's handle.
type openMemberState = func(c drivers.Conn, path, member string) recipe.MemberState

func memberStateMutants() mutants[openMemberState] {
	type (
		conn  = drivers.Conn
		state = recipe.MemberState
	)
	right := func(c conn, dir, member string) state { return naive.NewMemberState(c, dir, member) }
	form := func(open openMemberState) Form { return MemberStateForm{Name: "one-node", New: open} }
	return mutants[openMemberState]{right, form, []mutant[openMemberState]{
		{"sets any version", func(c conn, dir, member string) state { return naive.NewMemberState(anyVersion{c}, dir, member) },
			[]string{"updates come at the same time"}},
		{"takes a refusal for success", func(c conn, dir, member string) state { return naive.NewMemberState(optimist{c}, dir, member) },
			[]string{"updates come at the same time"}},
		{"repeats an update whose reply was lost", func(c conn, dir, member string) state { return naive.NewMemberState(repeater{c}, dir, member) },
			[]string{"replies are lost"}},
		{"takes a lost reply for success", func(c conn, dir, member string) state { return naive.NewMemberState(sanguine{c}, dir, member) },
			[]string{"replies are lost"}},
		{"empties the table", func(c conn, dir, member string) state { return naive.NewMemberState(emptier{c}, dir, member) },
			[]string{"updates come one at a time", "updates come at the same time", "a member's session is lost"}},
		{"has states that end with sessions", func(c conn, dir, member string) state { return recipes.NewMemberState(mortalNodes{c}, dir, member) },
			[]string{"a member's session is lost"}},
		{"hides the cause of its failure", func(c conn, dir, member string) state { return muted{naive.NewMemberState(c, dir, member)} },
			[]string{"canceled", "a member's session is lost"}},
		{"reads twice", func(c conn, dir, member string) state { return naive.NewMemberState(rereader{c}, dir, member) },
			[]string{"settled cost"}},
		{"watches what it reads", func(c conn, dir, member string) state { return naive.NewMemberState(notifying{c}, dir, member) },
			[]string{"identities"}},
	}}
}

// anyVersion sets whatever the version is.
type anyVersion struct{ drivers.Conn }

func (c anyVersion) Set(ctx context.Context, path string, data []byte, _ int32) (drivers.Stat, error) {
	return c.Conn.Set(ctx, path, data, drivers.AnyVersion)
}

// optimist ignores that a set was refused.
type optimist struct{ drivers.Conn }

func (c optimist) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	stat, err := c.Conn.Set(ctx, path, data, version)
	if errors.Is(err, drivers.ErrBadVersion) {
		err = nil
	}
	return stat, err
}

// repeater takes a lost reply for a refusal.
type repeater struct{ drivers.Conn }

func (c repeater) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	stat, err := c.Conn.Set(ctx, path, data, version)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		err = drivers.ErrBadVersion
	}
	return stat, err
}

// sanguine takes a lost reply for success.
type sanguine struct{ drivers.Conn }

func (c sanguine) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	stat, err := c.Conn.Set(ctx, path, data, version)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		err = nil
	}
	return stat, err
}

// emptier empties the table at every second set.
type emptier struct{ drivers.Conn }

func (c emptier) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	if version%2 == 1 {
		data = nil
	}
	return c.Conn.Set(ctx, path, data, version)
}

// mortalNodes creates only ephemeral nodes.
type mortalNodes struct{ drivers.Conn }

func (c mortalNodes) Create(ctx context.Context, path string, data []byte, _ drivers.Mode) (drivers.Child, error) {
	return c.Conn.Create(ctx, path, data, drivers.Ephemeral)
}

// muted fails with an error that does not name the cause.
type muted struct{ recipe.MemberState }

func (m muted) Update(ctx context.Context, change func([]byte) []byte) error {
	err := m.MemberState.Update(ctx, change)
	if err != nil && !errors.Is(err, drivers.ErrBadVersion) {
		err = errors.New("failed")
	}
	return err
}

// notifying watches each node that it gets.
type notifying struct{ drivers.Conn }

func (c notifying) Get(ctx context.Context, path string, _ drivers.Watch) ([]byte, drivers.Stat, error) {
	return c.Conn.Get(ctx, path, func(drivers.Event) {})
}
