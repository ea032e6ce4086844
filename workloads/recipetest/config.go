package recipetest

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A ConfigForm is a form under test.
type ConfigForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string) recipe.Config
	Library
}

// String implements [Form].
func (f ConfigForm) String() string { return "config/" + f.Name }

func (f ConfigForm) cases() []testCase {
	return []testCase{
		{"every change is seen",
			"A client that follows the value sees it immediately, and sees each change once if nothing else happens in the meantime.",
			f.follows},
		{"changes come quickly",
			"Of changes in quick succession a client may miss some, but never the last one, and it never sees an older value after a newer one.",
			f.followsQuickly},
		{"one cancels",
			"A client that cancels gets the cause, and can follow the value again. The others keep following it.",
			f.cancels},
		{"a client's session is lost",
			"A client that loses its session gets ErrSessionLost. The others keep following the value.",
			f.losesSession},
		{"replies are lost",
			"The session survives a broken connection, so the value can still be followed and set.",
			f.losesReplies},
		{"settled cost",
			"When all clients follow the value and changes come one at a time, the cost is exactly what the formulas say.",
			f.costs},
	}
}

// A configMember is a member with its handle on the scene's config.
type configMember struct {
	*client
	config recipe.Config

	mu   sync.Mutex
	seen []string
}

func (f ConfigForm) member(ctx context.Context, x *trial) *configMember {
	x.Helper()
	m := &configMember{client: x.client(ctx)}
	m.config = f.New(m.conn, x.dir+"/config")
	return m
}

// members creates a config with value 0 and has n members follow it, one at a time.
func (f ConfigForm) members(ctx context.Context, x *trial, n int) []*configMember {
	x.Helper()
	x.put(ctx, "/config", []byte("0"))
	return f.more(ctx, x, n)
}

func (f ConfigForm) more(ctx context.Context, x *trial, n int) []*configMember {
	x.Helper()
	members := make([]*configMember, n)
	for i := range members {
		members[i] = f.member(ctx, x)
		members[i].follow(ctx)
		x.rest(ctx)
	}
	return members
}

func (m *configMember) follow(ctx context.Context) *call {
	return m.begin(ctx, func(ctx context.Context) error {
		return m.config.Follow(ctx, func(value []byte) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.seen = append(m.seen, string(value))
		})
	})
}

func (m *configMember) set(ctx context.Context, value int) {
	m.trial.Helper()
	if err := m.config.Set(ctx, []byte(strconv.Itoa(value))); err != nil {
		m.trial.Fatalf("set: %v", err)
	}
}

// saw returns the values seen since the last call.
func (m *configMember) saw() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := m.seen
	m.seen = nil
	return seen
}

// expect fails the case unless the member has seen exactly these values since the last call.
func (m *configMember) expect(want ...string) {
	m.trial.Helper()
	if got := m.saw(); !slices.Equal(got, want) {
		m.trial.Errorf("member %d saw %v, want %v", slices.Index(m.trial.clients, m.client), got, want)
	}
}

func (f ConfigForm) follows(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 4)
	for i, m := range members {
		m.set(ctx, i+1)
		x.settle(ctx)
	}
	for _, m := range members {
		m.expect("0", "1", "2", "3", "4")
	}
}

func (f ConfigForm) followsQuickly(ctx context.Context, x *trial) {
	const changes = 60
	members := f.members(ctx, x, 4)
	for i := range changes {
		members[0].set(ctx, i+1)
	}
	x.settle(ctx)
	expectLast(members, changes)
}

// expectLast fails the case unless every member has seen the last value, and no member saw
// an older value after a newer one.
func expectLast(members []*configMember, last int) {
	for i, m := range members {
		m.trial.Helper()
		seen := m.saw()
		before := -1
		for _, s := range seen {
			value, err := strconv.Atoi(s)
			if err != nil || value < before {
				m.trial.Errorf("member %d saw %q after %d", i, s, before)
			}
			before = value
		}
		if before != last {
			m.trial.Errorf("member %d saw %v, and at last %d, want %d", i, seen, before, last)
		}
	}
}

func (f ConfigForm) cancels(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 3)
	loser := members[1]
	loser.last().isCanceled(ctx)
	members[0].set(ctx, 1)
	x.settle(ctx)
	loser.expect("0")
	loser.follow(ctx)
	x.rest(ctx)
	members[0].set(ctx, 2)
	x.settle(ctx)
	loser.expect("1", "2")
	members[2].expect("0", "1", "2")
}

func (f ConfigForm) losesSession(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 3)
	members[1].close()
	x.settle(ctx)
	members[1].last().fails(ctx, drivers.ErrSessionLost)
	members[0].set(ctx, 1)
	x.settle(ctx)
	members[1].expect("0")
	members[2].expect("0", "1")
}

func (f ConfigForm) losesReplies(ctx context.Context, x *trial) {
	const changes = 10
	members := f.members(ctx, x, 3)
	for i, m := range members {
		// Half of the replies are lost, at random with a fixed seed. To lose every second reply
		// would not do: on each new connection the read's reply would pass and the write's be lost.
		draw := rand.New(rand.NewPCG(1, uint64(i)))
		m.lose(func(message drivers.Message) bool {
			return (message.Op.IsRead() || message.Op.IsWrite()) && draw.IntN(2) == 0
		})
	}
	for i := range changes {
		members[0].set(ctx, i+1)
	}
	for _, m := range members {
		m.replies.Store(nil)
	}
	x.settle(ctx)
	expectLast(members, changes)
}

func (f ConfigForm) costs(ctx context.Context, x *trial) {
	model := x.model("config", f.Name)
	x.put(ctx, "/config", []byte("0"))
	for _, n := range x.sizes() {
		p := costmodel.Params{Clients: n, Updates: 3, Polls: 2}
		x.expectCost(model, p, p.Updates, func(rested func()) {
			members := f.more(ctx, x, int(n))
			rested()
			for i := range p.Updates {
				for range p.Polls - 1 {
					x.tick(ctx)
				}
				members[0].set(ctx, int(i))
				x.settle(ctx)
				rested()
			}
		})
		x.closeClients()
	}
}
