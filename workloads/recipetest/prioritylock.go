package recipetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A PriorityLockForm is a form of the priority lock under test. With one priority for all, it must
// meet all requirements of a shared lock except the settled cost, whose run has priorities.
type PriorityLockForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string) recipe.PriorityLock
	Library
}

// String implements [Form].
func (f PriorityLockForm) String() string { return f.lock().String() }

func (f PriorityLockForm) cases() []testCase {
	return append(f.lock().cases(),
		costCases(workloads.Form{Recipe: "priority-lock", Name: f.Name, New: recipe.PriorityLocks(f.New)})...)
}

func (f PriorityLockForm) lock() LockForm {
	form := SharedLockForm{Name: f.Name, Library: f.Library, New: func(c drivers.Conn, path string) recipe.SharedLock {
		return &withPriority{PriorityLock: f.New(c, path), priority: patient}
	}}.lock()
	form.Recipe = "priority-lock"
	return form
}

// The priorities of cases.
const (
	pressing uint16 = 10
	patient  uint16 = 9000
)

// A withPriority adapts a priority lock to a shared lock that is taken with one priority.
type withPriority struct {
	recipe.PriorityLock
	priority uint16
}

func (l *withPriority) AcquireRead(ctx context.Context) (held context.Context, err error) {
	return l.PriorityLock.AcquireRead(ctx, l.priority)
}

func (l *withPriority) AcquireWrite(ctx context.Context) (held context.Context, err error) {
	return l.PriorityLock.AcquireWrite(ctx, l.priority)
}

func (c *lockClient) prioritized() *withPriority {
	return c.lock.(*sharedAsLock).SharedLock.(*withPriority)
}

func priorityLockCases() []lockCase {
	return []lockCase{
		{"the most urgent is next",
			"A release gives the lock to the most urgent of those that wait, and among these to the one that arrived first.",
			mostUrgentIsNext},
		{"a less urgent client is passed again and again",
			"A client that others have passed gets its turn once they have left or had theirs.",
			passedAgain},
		{"a holder is asked, not passed",
			"A client that is more urgent than the holder asks it, and waits until the holder releases the lock or has had the time to do so. Others do not ask.",
			urgentAsks},
		{"urgent readers",
			"An urgent reader passes a writer that waits, and shares the lock with the readers that hold it.",
			urgentReaders},
		{"a less urgent holder ignores a request",
			"A holder that ignores a request keeps the lock, unless the form deposes it: then the urgent client gets the lock, and the deposed holder learns it at its next call.",
			holderIgnoresUrgent},
		{"replies to urgent requests are lost",
			"A request whose reply was lost can be written again.",
			urgentRequestsLost},
		{"a release wakes one of those that came between",
			"Clients that are less urgent than the holder, and each more urgent than those that wait, do not all watch the holder.",
			comeBetween},
		{"identities with priorities",
			"Some relations between the counts hold under any schedule, whoever passes whom.",
			priorityIdentities},
	}
}

// join has a new client ask for the lock, and lets everything come to rest.
func (x *lockTrial) join(ctx context.Context, reads bool, priority uint16) *lockClient {
	x.Helper()
	c := x.client(ctx)
	c.share(reads)
	c.prioritized().priority = priority
	c.ask(ctx)
	x.rest(ctx)
	return c
}

func mostUrgentIsNext(ctx context.Context, x *lockTrial) {
	holder := x.join(ctx, false, 0) // so that nobody asks it
	var waiting [5]*lockClient
	for i, priority := range [...]uint16{patient, pressing, 500, pressing, patient} {
		waiting[i] = x.join(ctx, false, priority)
	}
	x.serve(ctx, []*lockClient{holder, waiting[1], waiting[3], waiting[2], waiting[0], waiting[4]})
}

func passedAgain(ctx context.Context, x *lockTrial) {
	for _, way := range waysToLeave() {
		holder, low := x.join(ctx, false, 0), x.join(ctx, false, patient)
		first, second, third := x.join(ctx, false, 300), x.join(ctx, false, 200), x.join(ctx, false, 100)
		way.do(ctx, second)
		x.rest(ctx)
		x.serve(ctx, []*lockClient{holder, third, first, low})
	}
}

func urgentAsks(ctx context.Context, x *lockTrial) {
	holder := x.join(ctx, false, 500)
	holder.granted(ctx)
	late := x.join(ctx, false, patient)
	listens := holder.begin(ctx, holder.prioritized().Revoked)
	x.rest(ctx)
	if listens.returned() {
		x.Fatalf("a holder is asked for a client that is less urgent (%v)", listens.err)
	}
	first := x.join(ctx, false, pressing)
	x.expectError("Revoked", listens, nil)
	x.expectNodes(ctx, 3)
	x.expectHolders(ctx, []*lockClient{holder, first, late}, holder)
	holder.release(ctx)
	x.rest(ctx)
	x.tick(ctx)
	if d, force := first.prioritized().PriorityLock.(recipe.Deposer); force && d.Deposed() != 0 {
		x.Errorf("%d holders deposed, want 0: the holder has released the lock in time", d.Deposed())
	}
	x.serve(ctx, []*lockClient{first, late})
}

func urgentReaders(ctx context.Context, x *lockTrial) {
	reader := x.join(ctx, true, patient)
	writer := x.join(ctx, false, patient)
	passing, behind := x.join(ctx, true, pressing), x.join(ctx, true, patient)
	x.expectHolders(ctx, []*lockClient{reader, passing, writer, behind}, reader, passing)
	passing.release(ctx)
	x.serve(ctx, []*lockClient{reader, writer, behind})
}

func holderIgnoresUrgent(ctx context.Context, x *lockTrial) {
	holder := x.join(ctx, false, patient)
	holder.granted(ctx)
	first := x.join(ctx, false, pressing)
	d, force := first.prioritized().PriorityLock.(recipe.Deposer)
	x.settle(ctx)
	if !force {
		x.expectHolders(ctx, []*lockClient{holder, first}, holder)
		x.serve(ctx, []*lockClient{holder, first})
		return
	}
	if d.Deposed() != 1 {
		x.Errorf("%d holders deposed, want 1", d.Deposed())
	}
	x.guard.leave(holder)
	x.expectHolders(ctx, []*lockClient{first}, first)
	listens := holder.begin(ctx, holder.prioritized().Revoked)
	x.rest(ctx)
	x.expectError("Revoked", listens, drivers.ErrNoNode)
	if err := holder.lock.Release(ctx); !errors.Is(err, drivers.ErrNoNode) {
		x.Errorf("the release of a deposed holder returned %v, want %v", err, drivers.ErrNoNode)
	}
	x.serve(ctx, []*lockClient{first})
}

func urgentRequestsLost(ctx context.Context, x *lockTrial) {
	holder := x.join(ctx, false, patient)
	holder.granted(ctx)
	listens := holder.begin(ctx, holder.prioritized().Revoked)
	first := x.client(ctx)
	first.prioritized().priority = pressing
	var written atomic.Int64
	first.lose(func(m drivers.Message) bool { return m.Op == drivers.OpSet && written.Add(1) <= 3 })
	first.ask(ctx)
	listens.fails(ctx, nil)
	holder.release(ctx)
	x.settle(ctx)
	for !first.acquire.returned() {
		if err := pause(ctx, 0); err != nil {
			x.Fatalf("Acquire does not return: %v", err)
		}
		x.settle(ctx)
	}
	if written.Load() < 4 {
		x.Errorf("requests and grants were written %d times, want 4: the reply was lost 3 times", written.Load())
	}
	x.serve(ctx, []*lockClient{first})
}

// comeBetween has clients arrive that each pass all who wait, and do not outrank the holder.
func comeBetween(ctx context.Context, x *lockTrial) {
	most := int64(1)
	if x.form.Name == "children-watch" { // it wakes all
		most = 5
	}
	line := []*lockClient{x.join(ctx, false, 0)}
	for _, priority := range []uint16{patient, 400, 300, 200, pressing} {
		line = slices.Insert(line, 1, x.join(ctx, false, priority))
	}
	for len(line) > 0 {
		i := x.holder(ctx, line)
		x.ledger.fanout()
		line[i].release(ctx)
		line = slices.Delete(line, i, i+1)
		x.settle(ctx)
		if n := x.ledger.fanout(); n > most {
			x.Errorf("a release wakes %d clients, want at most %d", n, most)
		}
	}
}

// priorityIdentities has clients of all priorities arrive and leave in a mixed order.
func priorityIdentities(ctx context.Context, x *lockTrial) {
	model := x.model(x.form.recipe(), x.form.Name)
	var line []*lockClient
	total := int64(0)
	for _, priority := range []uint16{0, 7, 5, 7, 3, 5, 9, 1} {
		line = append(line, x.join(ctx, total%3 == 2, priority))
		if total++; total%3 == 0 {
			i := x.holder(ctx, line)
			line[i].release(ctx)
			line = slices.Delete(line, i, i+1)
			x.settle(ctx)
		}
	}
	for len(line) > 0 {
		i := x.holder(ctx, line)
		line[i].release(ctx)
		line = slices.Delete(line, i, i+1)
		x.settle(ctx)
	}
	x.checkIdentities(model, x.ledger.read(), total, total)
}
