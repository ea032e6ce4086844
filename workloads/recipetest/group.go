package recipetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/cost"
)

// A GroupForm is a form under test.
type GroupForm struct {
	Name string // the form's name in package cost
	New  func(c drivers.Conn, path string) workloads.Group
	// Ring: when a member leaves, only the member right behind it is notified. The first
	// member closes the ring, so it is notified of every change.
	Ring bool
}

// Group checks a form on a service, as [Lock] does.
func Group(t *testing.T, service drivers.Service, form GroupForm) {
	playAll(t, service, form.cases(), nil)
}

// GroupBubbled checks a form, as [LockBubbled] does.
func GroupBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form GroupForm) {
	playBubbled(t, open, form.cases())
}

func (f GroupForm) cases() []sceneCase {
	return []sceneCase{
		{"members come and go",
			"Those who learn of a change see the members as they are when it has had time to arrive: everybody, or in a ring the neighbour and the first.",
			f.comesAndGoes},
		{"a member's session is lost",
			"A member whose session is lost is one no more, whatever its place; it learns that itself, and those see it who learn of it.",
			f.losesSession},
		{"one stops following",
			"Who stops following is still a member, and can follow again.",
			f.stopsFollowing},
		{"gives up while joining",
			"The outcome of a join that was given up is unknown, and if the node was made it must be removed all the same.",
			f.givesUpJoining},
		{"replies are lost",
			"Whichever replies are lost, nobody is a member twice, nobody stays who has left, and all see in the end who is there.",
			f.losesReplies},
		{"settled cost",
			"When changes come one at a time, the cost is exactly what the formulas say.",
			f.costs},
	}
}

// A groupMember is a member of the scene with its handle on the scene's group.
type groupMember struct {
	*member
	group workloads.Group

	mu   sync.Mutex
	sees []string
}

func (f GroupForm) member(ctx context.Context, x *scene) *groupMember {
	x.Helper()
	m := &groupMember{member: x.member(ctx)}
	m.group = f.New(m.conn, x.dir)
	return m
}

// members has n members join and follow, one at a time.
func (f GroupForm) members(ctx context.Context, x *scene, n int) []*groupMember {
	x.Helper()
	members := make([]*groupMember, n)
	for i := range members {
		members[i] = f.member(ctx, x)
		members[i].join(ctx)
		x.rest(ctx)
	}
	return members
}

func (m *groupMember) join(ctx context.Context) {
	m.x.Helper()
	if err := m.group.Join(ctx); err != nil {
		m.x.Fatalf("join: %v", err)
	}
	m.follow(ctx)
}

func (m *groupMember) follow(ctx context.Context) *call {
	return m.begin(ctx, func(ctx context.Context) error {
		return m.group.Follow(ctx, func(members []string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.sees = slices.Sorted(slices.Values(members))
		})
	})
}

// stop cancels the call of Follow.
func (m *groupMember) stop(ctx context.Context) {
	m.x.Helper()
	c := m.calls[len(m.calls)-1]
	c.cancel(errGivenUp)
	m.failed(ctx, c, errGivenUp)
}

func (m *groupMember) leave(ctx context.Context) {
	m.x.Helper()
	m.stop(ctx)
	if err := m.group.Leave(ctx); err != nil {
		m.x.Fatalf("leave: %v", err)
	}
}

func (m *groupMember) seen() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sees
}

// expect fails the case unless the group has exactly these members, in this order of joining,
// and each member that is notified of every change sees them. In a ring, each other member must
// see the member right ahead of it, and no neighbor of a member that has gone may still see it.
func (f GroupForm) expect(ctx context.Context, x *scene, members []*groupMember, gone ...*groupMember) {
	x.Helper()
	var names []string
	for _, m := range members {
		names = append(names, m.group.Name())
	}
	slices.Sort(names)
	if err := x.admin.Sync(ctx, x.dir); err != nil {
		x.Fatalf("syncing: %v", err)
	}
	children, err := x.admin.Children(ctx, x.dir, nil)
	if err != nil || len(children) != len(members) {
		x.Errorf("there are nodes %v (%v), want %d", children, err, len(members))
	}
	for i, m := range members {
		sees := m.seen()
		if !f.Ring || i == 0 {
			if !slices.Equal(sees, names) {
				x.Errorf("member %d sees %s, want %s", i, strings.Join(sees, " "), strings.Join(names, " "))
			}
			continue
		}
		if ahead := members[i-1].group.Name(); !slices.Contains(sees, ahead) {
			x.Errorf("member %d sees %s, and not %s ahead of it", i, strings.Join(sees, " "), ahead)
		}
	}
	for _, g := range gone {
		f.expectGone(x, members, g)
	}
}

// expectGone fails the case if the next member behind the one that has gone still sees it.
func (f GroupForm) expectGone(x *scene, members []*groupMember, gone *groupMember) {
	x.Helper()
	behind := slices.IndexFunc(members, func(m *groupMember) bool { return m.group.Place() > gone.group.Place() })
	if behind < 0 {
		return
	}
	if sees := members[behind].seen(); slices.Contains(sees, gone.group.Name()) {
		x.Errorf("member %d sees %s, and %s has gone", behind, strings.Join(sees, " "), gone.group.Name())
	}
}

func (f GroupForm) comesAndGoes(ctx context.Context, x *scene) {
	members := f.members(ctx, x, 5)
	f.expect(ctx, x, members)
	for _, place := range []int{2, 4, 0, 1} { // of five each
		goes := members[place]
		goes.leave(ctx)
		x.rest(ctx)
		members = slices.Delete(members, place, place+1)
		f.expect(ctx, x, members, goes)
		goes.join(ctx)
		x.rest(ctx)
		members = append(members, goes)
		f.expect(ctx, x, members)
	}
}

func (f GroupForm) losesSession(ctx context.Context, x *scene) {
	members := f.members(ctx, x, 6)
	for _, place := range []int{3, 0, 3, 1} { // in the middle, the first, the last, between two others
		lost := members[place]
		lost.close()
		lost.failed(ctx, lost.calls[0], drivers.ErrSessionLost)
		x.rest(ctx)
		members = slices.Delete(members, place, place+1)
		f.expect(ctx, x, members, lost)
		if err := lost.group.Leave(ctx); err == nil {
			x.Errorf("the loser's leaving says nothing: want an error")
		}
	}
}

func (f GroupForm) stopsFollowing(ctx context.Context, x *scene) {
	members := f.members(ctx, x, 3)
	stopped, goes := members[1], members[0]
	stopped.stop(ctx)
	f.expect(ctx, x, members)
	goes.leave(ctx)
	x.rest(ctx)
	stopped.follow(ctx)
	x.rest(ctx)
	f.expect(ctx, x, members[1:], goes)
}

func (f GroupForm) givesUpJoining(ctx context.Context, x *scene) {
	members := f.members(ctx, x, 2)
	m := f.member(ctx, x)
	joining, giveUp := context.WithCancelCause(ctx)
	m.lose(func(message drivers.Message) bool {
		if message.Op != drivers.OpCreate {
			return false
		}
		giveUp(errGivenUp)
		return true
	})
	c := m.begin(joining, m.group.Join)
	m.failed(ctx, c, errGivenUp)
	m.replies.Store(nil)
	x.rest(ctx)
	f.expect(ctx, x, members)
}

// losesReplies loses every second reply of each kind of read and write.
func (f GroupForm) losesReplies(ctx context.Context, x *scene) {
	members := f.members(ctx, x, 4)
	for _, m := range members {
		lost := map[drivers.Op]bool{} // by operation; every second reply is lost
		m.lose(func(message drivers.Message) bool {
			op := message.Op
			if op.IsRead() || op.IsWrite() {
				lost[op] = !lost[op]
			}
			return lost[op]
		})
	}
	for range 4 {
		goes := members[1]
		goes.leave(ctx)
		goes.join(ctx)
		members = append(slices.Delete(members, 1, 2), goes)
	}
	for _, m := range members {
		m.replies.Store(nil)
	}
	x.rest(ctx)
	f.expect(ctx, x, members)
}

func (f GroupForm) costs(ctx context.Context, x *scene) {
	model, known := cost.Of("group", f.Name)
	if !known {
		x.Skipf("no model of group/%s", f.Name)
	}
	for _, n := range x.sizes() {
		x.expectCost(model, cost.Params{Clients: n}, 2*n, func(rested func()) {
			var members []*groupMember
			for range n {
				members = append(members, f.members(ctx, x, 1)...)
				rested()
			}
			for _, m := range members {
				m.leave(ctx)
				x.rest(ctx)
				rested()
			}
		})
		x.dismiss()
	}
}
