package recipetest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A LockForm is a form of the lock under test.
type LockForm struct {
	// Recipe and Name are the form's names in package costmodel; an empty Recipe means
	// "lock". The cost of a form without a model is not checked.
	Recipe, Name string
	New          func(c drivers.Conn, path string) recipe.Lock
	// HolderNodes is the number of nodes that a holder has besides the one with which it
	// waited.
	HolderNodes int
	// ReadsFirst forms send no create while the lock is held: a client reads first.
	ReadsFirst bool
	Library
}

// String implements [Form].
func (f LockForm) String() string { return f.recipe() + "/" + f.Name }

func (f LockForm) recipe() string { return cmp.Or(f.Recipe, "lock") }

func (f LockForm) cases() []testCase { return f.test(f.lockCases()) }

// lockCases returns the cases that apply to the form.
func (f LockForm) lockCases() []lockCase {
	cases := slices.Concat(lockTurns(), lockCancellation(), lockSessions())
	switch f.Recipe {
	case "revocable-lock":
		cases = slices.Concat(cases, sharedLockCases(), revocableLockCases())
	case "priority-lock":
		cases = slices.Concat(cases, sharedLockCases(), priorityLockCases())
	case "shared-lock":
		cases = slices.Concat(cases, sharedLockCases(), lockCosts())
	default:
		cases = slices.Concat(cases, lockCosts())
	}
	if f.Library != nil {
		return cases
	}
	return append(cases, lockReplies()...)
}

// A lockCase is one requirement of a lock.
type lockCase = caseOf[*lockTrial]

// test returns the cases of a lock as test cases.
func (f LockForm) test(cases []lockCase) []testCase {
	return leavingNothing(casesOf(func(_ context.Context, x *trial) *lockTrial {
		x.library = f.Library != nil
		return &lockTrial{trial: x, form: f, guard: guard{TB: x, newest: drivers.NoSeq, writer: drivers.NoSeq}}
	}, cases))
}

// A lockTrial is the state of a lock's case. The lock is at the case's node.
type lockTrial struct {
	*trial
	form  LockForm
	guard guard
}

// expectNodes fails the case unless the lock's node has the children that this number of
// holding and waiting clients needs: one per client if the clients queue, otherwise one for
// all, plus the holder's further nodes.
func (x *lockTrial) expectNodes(ctx context.Context, clients int) {
	x.Helper()
	want := clients
	if !x.guard.ordered() {
		want = min(clients, 1)
	}
	x.expectChildren(ctx, want+min(clients, 1)*x.form.HolderNodes)
}

func lockCosts() []lockCase {
	return []lockCase{
		{"settled cost", whySettledCost, settledCosts},
		{"identities", whyIdentities, identities},
	}
}

// settledCosts compares the model with the counts, with new clients for each N.
func settledCosts(ctx context.Context, x *lockTrial) {
	model := x.model(x.form.recipe(), x.form.Name)
	for _, n := range x.sizes() {
		p := costmodel.Params{Clients: n, Polls: 3, Writers: (n + 1) / 2}
		x.expectCost(model, p, n, func(rested func()) { x.settledTurns(ctx, p, rested) })
		x.closeClients()
	}
}

// settledTurns has each client take one turn.
func (x *lockTrial) settledTurns(ctx context.Context, p costmodel.Params, rested func()) {
	clients := make([]*lockClient, p.Clients)
	for i := range clients {
		clients[i] = x.client(ctx)
		clients[i].share(int64(i) >= p.Writers)
		clients[i].ask(ctx)
		x.rest(ctx)
		rested()
	}
	for waiting := clients; len(waiting) > 0; {
		for range p.Polls - 1 {
			x.tick(ctx)
		}
		i := x.holder(ctx, waiting)
		waiting[i].release(ctx)
		waiting = append(waiting[:i:i], waiting[i+1:]...)
		x.settle(ctx)
		rested()
	}
}

// identities checks the identities after clients have competed freely.
func identities(ctx context.Context, x *lockTrial) {
	model := x.model(x.form.recipe(), x.form.Name)
	const clients = 8
	turns := x.turns()
	x.compete(ctx, clients, turns, 1, nil)
	x.rest(ctx)
	x.checkIdentities(model, x.ledger.read(), int64(clients*turns), clients)
}

// expectError fails the case unless the call, which has a name, has returned the wanted error,
// or no error if that is wanted.
func (x *lockTrial) expectError(name string, a *call, want error) {
	x.Helper()
	switch {
	case !a.returned():
		x.Fatalf("%s does not return", name)
	case !errors.Is(a.err, want):
		x.Fatalf("%s returned %v, want %v", name, a.err, want)
	}
}
