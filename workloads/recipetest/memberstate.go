package recipetest

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strconv"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A MemberStateForm is a form under test.
type MemberStateForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path, member string) recipe.MemberState
	Library
}

// String implements [Form].
func (f MemberStateForm) String() string { return "member-state/" + f.Name }

func (f MemberStateForm) cases() []testCase {
	form := workloads.Form{Recipe: "member-state", Name: f.Name, Family: f.family(), New: recipe.MemberStates(f.New)}
	return append([]testCase{
		{"updates come one at a time",
			"Each member reads what each has written last, and no update changes another member's state.",
			f.updatesInTurn},
		{"updates come at the same time",
			"However many members update their states at the same time, none of the updates is lost, and none is applied twice.",
			f.updatesTogether},
		{"replies are lost",
			"The outcome of an update whose reply is lost is unknown. It must be found out, and the update is applied once.",
			f.losesReplies},
		{"a member's session is lost",
			"A state outlives the session that wrote it, and the member continues from it with another session.",
			f.losesSession},
		{"canceled",
			"A canceled update returns the cause, and has been applied or not.",
			f.canceled},
	}, costCases(form)...)
}

// A stateMember is a member of the scene with its handle on the states.
type stateMember struct {
	*client
	states recipe.MemberState
}

func (f MemberStateForm) member(ctx context.Context, x *trial, number int) *stateMember {
	x.Helper()
	return f.memberOf(x.client(ctx), number)
}

func (f MemberStateForm) memberOf(c *client, number int) *stateMember {
	return &stateMember{c, f.New(c.conn, c.trial.dir, memberName(number))}
}

func memberName(number int) string { return fmt.Sprintf("member-%d", number) }

// add counts one more update in the member's state. A member that gives up begins again.
func (m *stateMember) add(ctx context.Context) error {
	for {
		err := m.states.Update(ctx, func(state []byte) []byte { return check.NextState(state, 0, false) })
		if !errors.Is(err, drivers.ErrBadVersion) {
			return err
		}
	}
}

// expect fails the case unless the member finds these states, of the members from 0.
func (m *stateMember) expect(ctx context.Context, want ...int) {
	m.trial.Helper()
	m.trial.must(m.conn.Sync(ctx, m.trial.dir))
	got, err := m.states.States(ctx)
	if err != nil {
		m.trial.Fatalf("read all states: %v", err)
	}
	var numbers []int
	for i := range want {
		number, err := strconv.Atoi(string(got[memberName(i)]))
		if err != nil {
			number = -1
		}
		numbers = append(numbers, number)
	}
	if !slices.Equal(numbers, want) || len(got) != len(want) {
		m.trial.Errorf("the states are %q, want %d", got, want)
	}
}

func (f MemberStateForm) updatesInTurn(ctx context.Context, x *trial) {
	members := []*stateMember{f.member(ctx, x, 0), f.member(ctx, x, 1), f.member(ctx, x, 2)}
	members[0].expect(ctx)
	for turn := range 3 {
		for _, m := range members {
			x.must(m.conn.Sync(ctx, x.dir))
			x.must(m.add(ctx))
		}
		for _, m := range members {
			m.expect(ctx, turn+1, turn+1, turn+1)
		}
	}
}

// together has members update their states at the same time, and checks that all updates were applied
// once.
func (f MemberStateForm) together(ctx context.Context, x *trial, lose func(*mathrand.Rand) func(drivers.Message) bool) {
	x.Helper()
	const members, updates = 6, 8
	for seed := range x.seeds() {
		x.concurrently(ctx, members, seed, lose, func(i int, c *client, _ *mathrand.Rand) error {
			m := f.memberOf(c, i)
			for range updates {
				if err := m.add(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		x.closeClients()
		want := slices.Repeat([]int{updates * int(seed+1)}, members)
		f.member(ctx, x, 0).expect(ctx, want...)
	}
}

func (f MemberStateForm) updatesTogether(ctx context.Context, x *trial) { f.together(ctx, x, nil) }

func (f MemberStateForm) losesReplies(ctx context.Context, x *trial) {
	f.together(ctx, x, func(rng *mathrand.Rand) func(drivers.Message) bool {
		return func(m drivers.Message) bool { return (m.Op.IsRead() || m.Op.IsWrite()) && rng.IntN(4) == 0 }
	})
}

func (f MemberStateForm) losesSession(ctx context.Context, x *trial) {
	lost, other := f.member(ctx, x, 0), f.member(ctx, x, 1)
	x.must(lost.add(ctx))
	x.must(other.conn.Sync(ctx, x.dir))
	x.must(other.add(ctx))
	lost.close()
	if err := lost.add(ctx); !errors.Is(err, drivers.ErrSessionLost) {
		x.Errorf("an update with a lost session: %v, want %v", err, drivers.ErrSessionLost)
	}
	other.expect(ctx, 1, 1)
	again := f.member(ctx, x, 0)
	x.must(again.conn.Sync(ctx, x.dir))
	x.must(again.add(ctx))
	other.expect(ctx, 2, 1)
}

func (f MemberStateForm) canceled(ctx context.Context, x *trial) {
	m := f.member(ctx, x, 0)
	x.must(m.add(ctx))
	updating, cancel := context.WithCancelCause(ctx)
	m.lose(func(message drivers.Message) bool {
		if message.Op != drivers.OpSet {
			return false
		}
		cancel(errCanceled)
		return true
	})
	m.begin(updating, m.add).fails(ctx, errCanceled)
	m.replies.Store(nil)
	x.must(m.add(ctx)) // whatever has become of the canceled one
	states, err := m.states.States(ctx)
	if state := string(states[memberName(0)]); err != nil || state != "2" && state != "3" {
		x.Errorf("the state is %q, %v; want 2, or 3 if the canceled update was applied", state, err)
	}
}
