package recipetest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A GroupForm is a form under test: of the recipe group, or of mutual-watch.
type GroupForm struct {
	Recipe string
	Name   string // the form's name in package costmodel
	New    func(c drivers.Conn, path string) recipe.Group
	// Ring: when a member leaves, only the member right behind it is notified. The first
	// member closes the ring, so it is notified of every change.
	Ring bool
	Library
}

// String implements [Form].
func (f GroupForm) String() string { return f.Recipe + "/" + f.Name }

func (f GroupForm) cases() []testCase {
	return []testCase{
		{"members join and leave",
			"Once a change has had time to arrive, the members that are notified of it see the current members: all of them, or in a ring the neighbour and the first.",
			f.joinsAndLeaves},
		{"a member's session is lost",
			"A client whose session is lost is no longer a member, whatever its place. The client learns it, and so do the members that are notified.",
			f.losesSession},
		{"one stops following",
			"A client that stops following is still a member and can follow again.",
			f.stopsFollowing},
		{"canceled while joining",
			"The outcome of a canceled join is unknown. If the node was created, it must be removed.",
			f.canceledJoining},
		{"replies are lost",
			"Whichever replies are lost, no client is a member twice, no client that has left remains a member, and in the end all see the current members.",
			f.losesReplies},
		{"no member is missed",
			"A member that was seen and is still there is never missing from what another one sees later.",
			f.missesNoMember},
		{"settled cost",
			"When changes come one at a time, the cost is exactly what the formulas say.",
			f.costs},
	}
}

// A groupMember is a member of the scene with its handle on the scene's group.
type groupMember struct {
	*client
	group recipe.Group

	mu     sync.Mutex
	sees   []string
	missed []string // names that it saw, and then saw no more
}

func (f GroupForm) member(ctx context.Context, x *trial) *groupMember {
	x.Helper()
	m := &groupMember{client: x.client(ctx)}
	m.group = f.New(m.conn, x.dir)
	return m
}

// members has n members join and follow, one at a time.
func (f GroupForm) members(ctx context.Context, x *trial, n int) []*groupMember {
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
	m.trial.Helper()
	if err := m.group.Join(ctx); err != nil {
		m.trial.Fatalf("join: %v", err)
	}
	m.follow(ctx)
}

func (m *groupMember) follow(ctx context.Context) *call {
	return m.begin(ctx, func(ctx context.Context) error {
		return m.group.Follow(ctx, func(members []string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			seen := m.sees
			m.sees = slices.Sorted(slices.Values(members))
			m.missed = append(m.missed, slices.DeleteFunc(slices.Clone(seen), func(name string) bool { return slices.Contains(m.sees, name) })...)
		})
	})
}

// stop cancels the call of Follow.
func (m *groupMember) stop(ctx context.Context) {
	m.trial.Helper()
	m.last().isCanceled(ctx)
}

func (m *groupMember) leave(ctx context.Context) {
	m.trial.Helper()
	m.stop(ctx)
	if err := m.group.Leave(ctx); err != nil {
		m.trial.Fatalf("leave: %v", err)
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
func (f GroupForm) expect(ctx context.Context, x *trial, members []*groupMember, gone ...*groupMember) {
	x.Helper()
	var names []string
	for _, m := range members {
		names = append(names, m.group.Name())
	}
	slices.Sort(names)
	if nodes := x.nodes(ctx, x.dir); len(nodes) != len(members) {
		x.Errorf("the nodes are %v, want %d of them", nodes, len(members))
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
			x.Errorf("member %d sees %s, want %s ahead of it among them", i, strings.Join(sees, " "), ahead)
		}
	}
	for _, g := range gone {
		f.expectGone(x, members, g)
	}
}

// expectGone fails the case if the next member behind the one that has gone still sees it.
func (f GroupForm) expectGone(x *trial, members []*groupMember, gone *groupMember) {
	x.Helper()
	behind := slices.IndexFunc(members, func(m *groupMember) bool { return m.group.Place() > gone.group.Place() })
	if behind < 0 {
		return
	}
	if sees := members[behind].seen(); slices.Contains(sees, gone.group.Name()) {
		x.Errorf("member %d sees %s, but %s has left", behind, strings.Join(sees, " "), gone.group.Name())
	}
}

func (f GroupForm) joinsAndLeaves(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 5)
	f.expect(ctx, x, members)
	for _, place := range []int{2, 4, 0, 1} { // of five each
		leaver := members[place]
		leaver.leave(ctx)
		x.rest(ctx)
		members = slices.Delete(members, place, place+1)
		f.expect(ctx, x, members, leaver)
		leaver.join(ctx)
		x.rest(ctx)
		members = append(members, leaver)
		f.expect(ctx, x, members)
	}
}

func (f GroupForm) losesSession(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 6)
	for _, place := range []int{3, 0, 3, 1} { // in the middle, the first, the last, between two others
		lost := members[place]
		lost.close()
		lost.last().fails(ctx, drivers.ErrSessionLost)
		x.rest(ctx)
		members = slices.Delete(members, place, place+1)
		f.expect(ctx, x, members, lost)
		if err := lost.group.Leave(ctx); err == nil {
			x.Errorf("Leave of a member with a lost session returned no error")
		}
	}
}

func (f GroupForm) stopsFollowing(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 3)
	stopped, leaver := members[1], members[0]
	stopped.stop(ctx)
	f.expect(ctx, x, members)
	leaver.leave(ctx)
	x.rest(ctx)
	stopped.follow(ctx)
	x.rest(ctx)
	f.expect(ctx, x, members[1:], leaver)
}

func (f GroupForm) missesNoMember(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 4)
	leaver := members[3]
	leaver.leave(ctx)
	x.rest(ctx)
	for i, m := range members[:3] {
		m.mu.Lock()
		missed := slices.DeleteFunc(slices.Clone(m.missed), func(name string) bool { return name == leaver.group.Name() })
		m.mu.Unlock()
		if len(missed) > 0 {
			x.Errorf("member %d saw that %s had gone, which is there", i, strings.Join(missed, " "))
		}
	}
}

func (f GroupForm) canceledJoining(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 2)
	m := f.member(ctx, x)
	joining, cancel := context.WithCancelCause(ctx)
	m.lose(func(message drivers.Message) bool {
		if message.Op != drivers.OpCreate {
			return false
		}
		cancel(errCanceled)
		return true
	})
	m.begin(joining, m.group.Join).fails(ctx, errCanceled)
	m.replies.Store(nil)
	x.rest(ctx)
	f.expect(ctx, x, members)
}

// losesReplies loses every second reply of each kind of read and write.
func (f GroupForm) losesReplies(ctx context.Context, x *trial) {
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
		leaver := members[1]
		leaver.leave(ctx)
		leaver.join(ctx)
		members = append(slices.Delete(members, 1, 2), leaver)
	}
	for _, m := range members {
		m.replies.Store(nil)
	}
	x.rest(ctx)
	f.expect(ctx, x, members)
}

func (f GroupForm) costs(ctx context.Context, x *trial) {
	model := x.model(f.Recipe, f.Name)
	for _, n := range x.sizes() {
		x.expectCost(model, costmodel.Params{Clients: n}, 2*n, func(rested func()) {
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
		x.closeClients()
	}
}
