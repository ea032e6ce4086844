package recipetest

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A NamesForm is a form under test.
type NamesForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string) recipe.Names
	Library
}

// String implements [Form].
func (f NamesForm) String() string { return "names/" + f.Name }

func (f NamesForm) cases() []testCase {
	return []testCase{
		{"bound names are found",
			"Once a change has had time to arrive, every client finds the value that any client has bound, for the first time or again. A name that was never bound is not found.",
			f.finds},
		{"a change during a look-up",
			"A value that changes while it is being read is not cached.",
			f.changesDuringLookup},
		{"one cancels",
			"A look-up whose context has ended fails, and the next one succeeds.",
			f.cancels},
		{"a client's session is lost",
			"A client that loses its session gets no more values, not even cached ones. The others continue.",
			f.losesSession},
		{"replies are lost",
			"The session survives a broken connection, so names can still be bound and found, even if a change happened while the connection was broken.",
			f.losesReplies},
		{"settled cost",
			"When changes come one at a time, the cost is exactly what the formulas say, however often names are looked up.",
			f.costs},
	}
}

// A namesMember is a member with its handle on the scene's names.
type namesMember struct {
	*client
	names recipe.Names
}

func (f NamesForm) members(ctx context.Context, x *trial, n int) []*namesMember {
	x.Helper()
	members := make([]*namesMember, n)
	for i := range members {
		m := &namesMember{client: x.client(ctx)}
		m.names = f.New(m.conn, x.dir)
		members[i] = m
	}
	return members
}

func (m *namesMember) bind(ctx context.Context, name, value string) {
	m.trial.Helper()
	if err := m.names.Bind(ctx, name, []byte(value)); err != nil {
		m.trial.Fatalf("bind: %v", err)
	}
}

// finds fails the case unless the name has the value; "" means that the name is not bound.
func (m *namesMember) finds(ctx context.Context, name, want string) {
	m.trial.Helper()
	got, err := m.names.Lookup(ctx, name)
	if want == "" && errors.Is(err, drivers.ErrNoNode) {
		return
	}
	if err != nil || string(got) != want {
		m.trial.Errorf("%s is %q (%v), want %q", name, got, err, want)
	}
}

func (f NamesForm) finds(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 3)
	for _, m := range members {
		m.finds(ctx, "a", "")
	}
	for i, m := range members {
		m.bind(ctx, "a", strconv.Itoa(i))
		m.bind(ctx, "b", "b"+strconv.Itoa(i))
		x.rest(ctx)
		for range 2 {
			for _, other := range members {
				other.finds(ctx, "a", strconv.Itoa(i))
				other.finds(ctx, "b", "b"+strconv.Itoa(i))
				other.finds(ctx, "c", "")
			}
		}
	}
}

// changesDuringLookup changes a value when the reply to its read has reached the client but not
// yet the caller.
func (f NamesForm) changesDuringLookup(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 2)
	members[0].bind(ctx, "a", "1")
	x.rest(ctx) // the other's server may show it later
	var change sync.Once
	members[1].lose(func(m drivers.Message) bool {
		if m.Op == drivers.OpGet {
			change.Do(func() {
				if err := members[0].names.Bind(ctx, "a", []byte("2")); err != nil {
					x.Errorf("bind: %v", err)
				}
			})
		}
		return false
	})
	members[1].finds(ctx, "a", "1")
	x.rest(ctx)
	members[1].finds(ctx, "a", "2")
}

func (f NamesForm) cancels(ctx context.Context, x *trial) {
	m := f.members(ctx, x, 1)[0]
	m.bind(ctx, "a", "1")
	ended, cancel := context.WithCancelCause(ctx)
	cancel(errCanceled)
	if _, err := m.names.Lookup(ended, "a"); !errors.Is(err, errCanceled) {
		x.Errorf("look-up returned %v, want error %v", err, errCanceled)
	}
	m.finds(ctx, "a", "1")
}

func (f NamesForm) losesSession(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 2)
	for _, m := range members {
		m.bind(ctx, "a", "1")
		m.finds(ctx, "a", "1")
	}
	members[0].close()
	if _, err := members[0].names.Lookup(ctx, "a"); !errors.Is(err, drivers.ErrSessionLost) {
		x.Errorf("look-up returned %v, want error %v", err, drivers.ErrSessionLost)
	}
	if err := members[0].names.Bind(ctx, "a", nil); !errors.Is(err, drivers.ErrSessionLost) {
		x.Errorf("bind returned %v, want error %v", err, drivers.ErrSessionLost)
	}
	members[1].finds(ctx, "a", "1")
}

// losesReplies loses every second reply to reads, and every second reply to writes.
func (f NamesForm) losesReplies(ctx context.Context, x *trial) {
	members := f.members(ctx, x, 3)
	for i := range 6 {
		for _, m := range members {
			read, written := false, false
			m.lose(func(message drivers.Message) bool {
				switch {
				case message.Op.IsRead():
					read = !read
					return read
				case message.Op.IsWrite():
					written = !written
					return written
				}
				return false
			})
		}
		members[0].bind(ctx, "a", strconv.Itoa(i))
		members[0].bind(ctx, "new-"+strconv.Itoa(i), "1")
		x.rest(ctx)
		for _, m := range members {
			m.finds(ctx, "a", strconv.Itoa(i))
		}
	}
}

func (f NamesForm) costs(ctx context.Context, x *trial) {
	model := x.model("names", f.Name)
	const names = 3
	for i := range names {
		x.put(ctx, "/"+strconv.Itoa(i), nil)
	}
	for _, n := range x.sizes() {
		p := costmodel.Params{Clients: n, Names: names, Lookups: 2, Updates: 4}
		x.expectCost(model, p, p.Updates, func(rested func()) {
			members := f.members(ctx, x, int(n))
			for i := range p.Updates + 1 {
				if i > 0 {
					members[0].bind(ctx, strconv.FormatInt(i%names, 10), "changed")
					x.rest(ctx)
					rested()
				}
				for _, m := range members {
					m.lookAll(ctx, p)
				}
				x.rest(ctx)
			}
		})
		x.closeClients()
	}
}

func (m *namesMember) lookAll(ctx context.Context, p costmodel.Params) {
	m.trial.Helper()
	for range p.Lookups {
		for name := range p.Names {
			if _, err := m.names.Lookup(ctx, strconv.FormatInt(name, 10)); err != nil {
				m.trial.Fatalf("look-up: %v", err)
			}
		}
	}
}
