package recipetest

import (
	"context"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A SharedLockForm is a form of the shared lock under test. Its writers must meet all
// requirements of a lock, and its readers those that follow from sharing.
type SharedLockForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string) recipe.SharedLock
	Library
}

// String implements [Form].
func (f SharedLockForm) String() string { return f.lock().String() }

func (f SharedLockForm) cases() []testCase { return f.lock().cases() }

// lock returns the form as a lock. Clients take it for writing unless share says otherwise.
func (f SharedLockForm) lock() LockForm {
	return LockForm{Name: f.Name, Recipe: "shared-lock", Library: f.Library, New: func(c drivers.Conn, path string) recipe.Lock {
		return &sharedAsLock{SharedLock: f.New(c, path)}
	}}
}

// A sharedAsLock adapts a shared lock to a lock that is taken for reading or for writing.
type sharedAsLock struct {
	recipe.SharedLock
	reads bool
}

func (l *sharedAsLock) Acquire(ctx context.Context) (held context.Context, err error) {
	if l.reads {
		return l.AcquireRead(ctx)
	}
	return l.AcquireWrite(ctx)
}

func sharedLockCases() []lockCase {
	cases := []lockCase{
		{"readers share",
			"Readers hold the lock together, but not with a writer, and no reader overtakes a writer that arrived before it.",
			readersShare},
		{"the last of several readers releases",
			"A writer holds the lock once all readers ahead of it have released it, in whatever order, and not before.",
			readersLeave},
	}
	for _, way := range waysToLeave() {
		cases = append(cases,
			lockCase{"a reader between two writers " + way.name, whyLeaves, leavesLine("wrw", 1, way.do, "w", "w")},
			lockCase{"a writer between readers " + way.name, whyLeaves, leavesLine("rwr", 1, way.do, "rr")},
			lockCase{"the writer next to the readers " + way.name, whyLeaves, leavesLine("wwrr", 1, way.do, "w", "rr")})
	}
	return cases
}

const whyLeaves = "When a waiting client leaves before its turn, a client that waited for it waits for the next conflicting client, if there is one, and otherwise holds the lock immediately."

// sides parses a line: r is a reader, w a writer.
func sides(line string) []bool {
	share := make([]bool, len(line))
	for i, side := range line {
		share[i] = side == 'r'
	}
	return share
}

func readersShare(ctx context.Context, x *lockTrial) {
	line := x.lineOf(ctx, sides("wrrwr"))
	x.expectHolders(ctx, line, line[0])
	line[0].release(ctx)
	x.settle(ctx)
	x.expectHolders(ctx, line[1:], line[1], line[2])
	late := x.client(ctx)
	late.share(true)
	late.ask(ctx)
	x.settle(ctx)
	x.expectHolders(ctx, append(line[1:], late), line[1], line[2])
	x.serve(ctx, append(line[1:], late))
}

func readersLeave(ctx context.Context, x *lockTrial) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		line := x.lineOf(ctx, sides("rrrw"))
		in := slices.Clone(line[:3])
		for _, i := range order {
			x.expectHolders(ctx, append(slices.Clone(in), line[3]), in...)
			line[i].release(ctx)
			in = slices.DeleteFunc(in, func(c *lockClient) bool { return c == line[i] })
			x.settle(ctx)
		}
		x.expectHolders(ctx, line[3:], line[3])
		line[3].release(ctx)
	}
}

// expectHolders fails the case unless exactly these of the asking clients hold the lock.
func (x *lockTrial) expectHolders(ctx context.Context, asked []*lockClient, want ...*lockClient) {
	x.Helper()
	x.holder(ctx, asked)
	for i, c := range asked {
		if holds := slices.Contains(want, c); c.holds() != holds {
			x.Fatalf("of %d queued clients, number %d holds the lock: %v, want %v", len(asked), i+1, !holds, holds)
		}
	}
}

// A wayToLeave is a way in which a waiting client leaves the line before its turn.
type wayToLeave struct {
	name string
	do   func(context.Context, *lockClient)
}

func waysToLeave() []wayToLeave {
	return []wayToLeave{
		{"cancels", func(ctx context.Context, c *lockClient) { c.acquire.isCanceled(ctx) }},
		{"loses its session", func(ctx context.Context, c *lockClient) {
			c.x.Helper()
			c.close()
			c.acquire.fails(ctx, drivers.ErrSessionLost)
		}},
	}
}

// leavesLine has one client in a line leave before its turn. The others must then hold the lock in
// these groups, one group after the other.
func leavesLine(line string, place int, way func(context.Context, *lockClient), groups ...string) func(context.Context, *lockTrial) {
	return func(ctx context.Context, x *lockTrial) {
		clients := x.lineOf(ctx, sides(line))
		way(ctx, clients[place])
		clients = slices.Delete(clients, place, place+1)
		for _, group := range groups {
			x.settle(ctx)
			x.expectNodes(ctx, len(clients))
			x.expectHolders(ctx, clients, clients[:len(group)]...)
			for _, c := range clients[:len(group)] {
				c.release(ctx)
			}
			clients = clients[len(group):]
		}
	}
}
