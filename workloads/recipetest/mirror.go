package recipetest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A MirrorForm is a form under test.
type MirrorForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string) recipe.Mirror
	Library
}

// String implements [Form].
func (f MirrorForm) String() string { return "mirror/" + f.Name }

func (f MirrorForm) cases() []testCase {
	return []testCase{
		{"every change is copied",
			"A copy has all nodes from the beginning, and every node that any client sets, creates or deletes, with its data and version.",
			f.copies},
		{"changes come quickly",
			"Of changes in quick succession a client may miss some, but in the end its copy equals the tree, and it never sees an older state of a node after a newer one.",
			f.copiesQuickly},
		{"a node comes again",
			"A node that is created where one was deleted is a new node: it stays in the copy, and its changes are seen.",
			f.comesAgain},
		{"one cancels",
			"A client that cancels gets the cause, and can follow again. The others keep following.",
			f.cancels},
		{"a client's session is lost",
			"A client that loses its session gets ErrSessionLost. The others keep following.",
			f.losesSession},
		{"changes during a disconnect",
			"What was set, created or deleted while the client was disconnected is in its copy after the reconnect.",
			f.missesChanges},
		{"replies are lost",
			"The session survives a broken connection, so the tree can still be followed and changed.",
			f.losesReplies},
		{"settled cost",
			"When all clients follow and changes come one at a time, the cost is exactly what the formulas say.",
			f.costs},
	}
}

// A mirrorMember is a member with its copy of the case's tree.
type mirrorMember struct {
	*client
	mirror recipe.Mirror

	mu       sync.Mutex
	nodes    map[string]string // by name: data and version
	modified map[string]int64  // by name: the newest position seen
}

func (f MirrorForm) member(ctx context.Context, x *trial) *mirrorMember {
	x.Helper()
	m := &mirrorMember{client: x.client(ctx), nodes: map[string]string{}, modified: map[string]int64{}}
	m.mirror = f.New(m.conn, x.dir)
	return m
}

// members has n members follow, one at a time.
func (f MirrorForm) members(ctx context.Context, x *trial, n int) []*mirrorMember {
	x.Helper()
	members := make([]*mirrorMember, n)
	for i := range members {
		members[i] = f.member(ctx, x)
		members[i].follow(ctx)
		x.rest(ctx)
	}
	return members
}

func (m *mirrorMember) follow(ctx context.Context) {
	m.begin(ctx, func(ctx context.Context) error { return m.mirror.Follow(ctx, m.saw) })
}

func (m *mirrorMember) saw(name string, data []byte, stat drivers.Stat) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stat == (drivers.Stat{}) {
		delete(m.nodes, name)
		m.modified[name]++ // the deleted state must not come again
		return
	}
	if stat.Modified < m.modified[name] {
		m.trial.Errorf("%s went back to %q, of position %d, after position %d", name, data, stat.Modified, m.modified[name])
	}
	m.nodes[name], m.modified[name] = fmt.Sprintf("%s, version %d", data, stat.Version), stat.Modified
}

func (m *mirrorMember) set(ctx context.Context, name, data string) {
	m.trial.Helper()
	if _, err := m.mirror.Set(ctx, name, []byte(data)); err != nil {
		m.trial.Fatalf("set: %v", err)
	}
}

func (m *mirrorMember) create(ctx context.Context, name, data string) {
	m.trial.Helper()
	m.trial.must(m.mirror.Create(ctx, name, []byte(data)))
}

func (m *mirrorMember) delete(ctx context.Context, name string) {
	m.trial.Helper()
	m.trial.must(m.mirror.Delete(ctx, name))
}

// expectCopies fails the case unless each copy equals the tree, once all is at rest.
func (x *trial) expectCopies(ctx context.Context, members ...*mirrorMember) {
	x.Helper()
	x.rest(ctx)
	want := map[string]string{}
	for _, c := range x.nodes(ctx, x.dir) {
		data, stat, err := x.admin.Get(ctx, x.dir+"/"+c.Name, nil)
		x.must(err)
		want[c.Name] = fmt.Sprintf("%s, version %d", data, stat.Version)
	}
	for i, m := range members {
		m.mu.Lock()
		if !maps.Equal(m.nodes, want) {
			x.Errorf("copy %d is %v, the tree is %v", i, m.nodes, want)
		}
		m.mu.Unlock()
	}
}

func (f MirrorForm) copies(ctx context.Context, x *trial) {
	x.put(ctx, "/a", []byte("a"))
	x.put(ctx, "/b", nil)
	members := f.members(ctx, x, 4)
	x.expectCopies(ctx, members...)
	for i, m := range members {
		m.set(ctx, "a", strconv.Itoa(i))
		x.expectCopies(ctx, members...)
		m.create(ctx, "c", "c")
		x.expectCopies(ctx, members...)
		m.set(ctx, "c", strconv.Itoa(i))
		x.expectCopies(ctx, members...)
		m.delete(ctx, "c")
		x.expectCopies(ctx, members...)
	}
	members[0].delete(ctx, "a")
	members[0].delete(ctx, "b")
	x.expectCopies(ctx, members...)
}

func (f MirrorForm) copiesQuickly(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 4)
	members[0].changeAtRandom(ctx, 1)
	x.expectCopies(ctx, members...)
}

// changeAtRandom changes the nodes many times, as fast as the service answers.
func (m *mirrorMember) changeAtRandom(ctx context.Context, seed uint64) {
	draw := rand.New(rand.NewPCG(seed, 0))
	exists := map[string]bool{}
	for i := range 60 {
		name := strconv.Itoa(draw.IntN(4))
		switch {
		case !exists[name]:
			m.create(ctx, name, strconv.Itoa(i))
			exists[name] = true
		case draw.IntN(2) == 0:
			m.set(ctx, name, strconv.Itoa(i))
		default:
			m.delete(ctx, name)
			exists[name] = false
		}
	}
	for name, there := range exists {
		if there {
			m.set(ctx, name, "last")
		}
	}
}

func (f MirrorForm) comesAgain(ctx context.Context, x *trial) {
	x.put(ctx, "/a", []byte("first"))
	members := f.members(ctx, x, 3)
	members[0].set(ctx, "a", "more")
	members[0].delete(ctx, "a")
	members[0].create(ctx, "a", "second")
	x.expectCopies(ctx, members...)
	members[0].set(ctx, "a", "third")
	x.expectCopies(ctx, members...)
}

func (f MirrorForm) cancels(ctx context.Context, x *trial) {
	x.put(ctx, "/a", nil)
	members := f.members(ctx, x, 3)
	loser := members[1]
	loser.last().isCanceled(ctx)
	members[0].set(ctx, "a", "unseen")
	members[0].create(ctx, "b", "unseen")
	x.expectCopies(ctx, members[0], members[2])
	loser.follow(ctx)
	x.expectCopies(ctx, members...)
	members[0].set(ctx, "a", "seen")
	members[0].delete(ctx, "b")
	x.expectCopies(ctx, members...)
}

func (f MirrorForm) losesSession(ctx context.Context, x *trial) {
	x.put(ctx, "/a", nil)
	members := f.members(ctx, x, 3)
	members[1].close()
	x.rest(ctx)
	members[1].last().fails(ctx, drivers.ErrSessionLost)
	members[0].set(ctx, "a", "set")
	members[0].create(ctx, "b", "created")
	x.expectCopies(ctx, members[0], members[2])
}

// missesChanges cuts a connection once others have changed the tree: the reply that is lost with it
// came before them, and so did no notification.
func (f MirrorForm) missesChanges(ctx context.Context, x *trial) {
	for _, name := range []string{"/stays", "/set", "/deleted", "/again"} {
		x.put(ctx, name, nil)
	}
	members := f.members(ctx, x, 3)
	for round := range 3 {
		var change sync.Once
		members[1].lose(func(m drivers.Message) bool {
			lose := false
			if m.Op == drivers.OpGet {
				change.Do(func() {
					lose = true
					members[0].missed(ctx, round)
				})
			}
			return lose
		})
		members[0].set(ctx, "stays", strconv.Itoa(round))
		x.expectCopies(ctx, members...)
		members[0].set(ctx, "set", "after "+strconv.Itoa(round))
		members[0].set(ctx, "again", "after "+strconv.Itoa(round))
		x.expectCopies(ctx, members...)
	}
}

// missed makes the changes that another client misses. It must not end the goroutine.
func (m *mirrorMember) missed(ctx context.Context, round int) {
	_, err := m.mirror.Set(ctx, "set", []byte(strconv.Itoa(round)))
	for _, change := range []func() error{
		func() error { return m.mirror.Delete(ctx, "deleted") },
		func() error { return m.mirror.Delete(ctx, "again") },
		func() error { return m.mirror.Create(ctx, "again", nil) },
		func() error { return m.mirror.Create(ctx, "created-"+strconv.Itoa(round), nil) },
	} {
		if err == nil {
			err = change()
		}
	}
	if err != nil {
		m.trial.Errorf("changing the tree: %v", err)
	}
}

func (f MirrorForm) losesReplies(ctx context.Context, x *trial) {
	for seed := range x.seeds() {
		members := f.members(ctx, x, 3)
		for i, m := range members {
			// Half of the replies are lost, at random with a fixed seed.
			draw := rand.New(rand.NewPCG(seed, uint64(i)))
			m.lose(func(message drivers.Message) bool {
				return (message.Op.IsRead() || message.Op.IsWrite()) && draw.IntN(2) == 0
			})
		}
		members[0].changeAtRandom(ctx, seed)
		for _, m := range members {
			m.replies.Store(nil)
		}
		x.expectCopies(ctx, members...)
		for _, c := range x.nodes(ctx, x.dir) {
			members[0].delete(ctx, c.Name)
		}
		x.expectCopies(ctx, members...)
		x.closeClients()
	}
}

func (f MirrorForm) costs(ctx context.Context, x *trial) {
	model := x.model("mirror", f.Name)
	for i := range costmodel.MirrorNodes {
		x.put(ctx, "/"+strconv.Itoa(i), nil)
	}
	for _, n := range x.sizes() {
		p := costmodel.Params{Clients: n, Updates: 3}
		x.expectCost(model, p, 3*p.Updates, func(rested func()) {
			members := f.members(ctx, x, int(n))
			rested()
			for i := range p.Updates {
				for _, change := range []func(){
					func() { members[0].set(ctx, strconv.FormatInt(i, 10), "changed") },
					func() { members[0].create(ctx, "more", "created") },
					func() { members[0].delete(ctx, "more") },
				} {
					change()
					x.rest(ctx)
					rested()
				}
			}
		})
		x.closeClients()
	}
}
