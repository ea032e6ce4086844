package recipetest

import (
	"context"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A SharedLockForm is a form of the shared lock under test. Its writers must meet all
// requirements of a lock, and its readers those that follow from sharing.
type SharedLockForm struct {
	Name string // the form's name in package cost
	New  func(c drivers.Conn, path string) workloads.SharedLock
	Library
}

// SharedLock is [Lock] for a shared lock.
func SharedLock(t *testing.T, service drivers.Service, form SharedLockForm) {
	Lock(t, service, form.lock())
}

// SharedLockBubbled is [LockBubbled] for a shared lock.
func SharedLockBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form SharedLockForm) {
	LockBubbled(t, open, form.lock())
}

// lock returns the form as a lock. Clients take it for writing unless take says otherwise.
func (f SharedLockForm) lock() LockForm {
	return LockForm{Name: f.Name, Recipe: "shared-lock", Library: f.Library, New: func(c drivers.Conn, path string) workloads.Lock {
		return &side{SharedLock: f.New(c, path)}
	}}
}

// A side adapts a shared lock to a lock that is taken for reading or for writing.
type side struct {
	workloads.SharedLock
	reads bool
}

func (l *side) Acquire(ctx context.Context) (held context.Context, err error) {
	if l.reads {
		return l.AcquireRead(ctx)
	}
	return l.AcquireWrite(ctx)
}

func sharedLockCases() []lockCase {
	cases := []lockCase{
		{"readers share",
			"Readers hold the lock together, but none with a writer, and none overtakes a writer that came before it.",
			readersShare},
		{"the last of several readers lets go",
			"A writer holds the lock when all readers ahead of it have let go, in whatever order they do, and not before.",
			readersLeave},
	}
	for _, way := range waysToGo() {
		cases = append(cases,
			lockCase{"a reader between two writers " + way.name, whyGoes, goes("wrw", 1, way.do, "w", "w")},
			lockCase{"a writer between readers " + way.name, whyGoes, goes("rwr", 1, way.do, "rr")},
			lockCase{"the writer next to the readers " + way.name, whyGoes, goes("wwrr", 1, way.do, "w", "rr")})
	}
	return cases
}

const whyGoes = "Whoever waited for one that goes before its turn waits for the next one in its way, if there is one, and otherwise holds the lock at once."

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
	late.take(true)
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
			x.Fatalf("of %d clients in line, number %d holds the lock: %v, want %v", len(asked), i+1, !holds, holds)
		}
	}
}
