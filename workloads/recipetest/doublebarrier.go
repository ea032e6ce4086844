package recipetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A DoubleBarrierForm is a form under test. A form that is [recipe.Placed] need only keep
// a client inside until those below it want to leave.
type DoubleBarrierForm struct {
	Name string // the form's name in package costmodel
	New  func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier
	Library
}

// String implements [Form].
func (f DoubleBarrierForm) String() string { return "double-barrier/" + f.Name }

func (f DoubleBarrierForm) cases() []testCase {
	begin := func(_ context.Context, x *trial) *doubleBarrierTrial {
		x.library = f.Library != nil
		return &doubleBarrierTrial{trial: x, form: f}
	}
	return append(leavingNothing(casesOf(begin, []caseOf[*doubleBarrierTrial]{
		{"in together, out together",
			"No client enters before enough have arrived, and none leaves before those that it waits for want to leave. Then all enter or leave, and none of their nodes remains.",
			doubleBarrierTogether},
		{"any schedule",
			"The double barrier is safe in whatever order clients arrive and leave.",
			doubleBarrierAnySchedule},
		{"one client is slow",
			"A client that sees that all have entered may want to leave immediately, before a slower client has checked. The slower client was let in all the same: if it counted the clients that are left, it would wait forever, and so would all that wait for it to leave.",
			doubleBarrierSlowClient},
		{"one cancels outside",
			"A client that cancels before enough have arrived leaves no node and does not count.",
			doubleBarrierCanceledOutside},
		{"one cancels inside",
			"A client that cancels while it waits to leave leaves no node, and no client waits for it.",
			doubleBarrierCanceledInside},
		{"a session is lost outside",
			"A client that loses its session before enough have arrived does not count and does not enter.",
			doubleBarrierLostOutside},
		{"the session of the lowest is lost inside", whyLostInside, doubleBarrierLostInside(0)},
		{"the session of one in the middle is lost inside", whyLostInside, doubleBarrierLostInside(1)},
		{"the session of the highest is lost inside", whyLostInside, doubleBarrierLostInside(3)},
		{"replies to creates are lost",
			"The service created the node, the reply was lost, and the session is still alive. A client that creates a node again without looking for its GUID counts twice, and no client can leave any more.",
			doubleBarrierCreatesLost},
		{"any replies are lost",
			"Sessions survive broken connections, and no client enters or leaves too early, whichever replies are lost.",
			doubleBarrierRepliesLost},
	})), costCases(workloads.Form{Recipe: "double-barrier", Name: f.Name, Family: f.family(), New: recipe.DoubleBarriers(f.New)})...)
}

const whyLostInside = "A client that loses its session inside learns it, because the context that Enter returned ends. No client waits for it to leave."

// A doubleBarrierTrial is the state of one case.
type doubleBarrierTrial struct {
	*trial
	form     DoubleBarrierForm
	barriers int
}

// A doubleBarrierClient is a client with its handle on the double barrier.
type doubleBarrierClient struct {
	*client
	barrier recipe.DoubleBarrier
	inside  context.Context // set once the client has entered
}

func (g *doubleBarrierClient) enter(ctx context.Context) (err error) {
	g.inside, err = g.barrier.Enter(ctx)
	return err
}

// newBarrier creates the node of a new double barrier.
func (x *doubleBarrierTrial) newBarrier(ctx context.Context) string {
	x.Helper()
	x.barriers++
	dir := fmt.Sprintf("%s/barrier-%d", x.dir, x.barriers)
	_, err := x.admin.Create(ctx, dir, nil, 0)
	x.must(err)
	return dir
}

// close fails the case if a client's node is left, and removes the barrier.
func (x *doubleBarrierTrial) close(ctx context.Context, dir string) {
	x.Helper()
	x.expectNodes(ctx, dir, 0)
	if err := x.admin.Delete(ctx, path.Join(dir, "ready"), drivers.AnyVersion); err != nil && !errors.Is(err, drivers.ErrNoNode) {
		x.Fatalf("removing the node ready: %v", err)
	}
	x.must(x.admin.Delete(ctx, dir, drivers.AnyVersion))
}

// expectNodes fails the case unless the barrier has this number of client nodes.
func (x *doubleBarrierTrial) expectNodes(ctx context.Context, dir string, want int) {
	x.Helper()
	nodes := slices.DeleteFunc(x.nodes(ctx, dir), func(c drivers.Child) bool { return c.Name == "ready" })
	if len(nodes) != want {
		x.Fatalf("the clients have nodes %v, want %d", nodes, want)
	}
}

// members opens n sessions with handles on the double barrier.
func (x *doubleBarrierTrial) members(ctx context.Context, dir string, n, size int) []*doubleBarrierClient {
	x.Helper()
	members := make([]*doubleBarrierClient, n)
	for i := range members {
		members[i] = x.member(x.client(ctx), dir, size)
	}
	return members
}

func (x *doubleBarrierTrial) member(c *client, dir string, size int) *doubleBarrierClient {
	return &doubleBarrierClient{client: c, barrier: x.form.New(c.conn, dir, size)}
}

// enter has the members start to enter, one at a time.
func (x *doubleBarrierTrial) enter(ctx context.Context, members ...*doubleBarrierClient) {
	x.Helper()
	for _, g := range members {
		g.begin(ctx, g.enter)
		x.settle(ctx)
	}
}

// leave has the members start to leave, one at a time.
func (x *doubleBarrierTrial) leave(ctx context.Context, members ...*doubleBarrierClient) {
	x.Helper()
	for _, g := range members {
		g.begin(ctx, g.barrier.Leave)
		x.settle(ctx)
	}
}

func (x *doubleBarrierTrial) expect(ctx context.Context, through bool, members ...*doubleBarrierClient) {
	x.Helper()
	clients := make([]*client, len(members))
	for i, g := range members {
		clients[i] = g.client
	}
	x.expectReturned(ctx, through, clients...)
}

// full has four members enter, which arrive one at a time.
func (x *doubleBarrierTrial) full(ctx context.Context, dir string) []*doubleBarrierClient {
	x.Helper()
	members := x.members(ctx, dir, 4, 4)
	x.enter(ctx, members[:3]...)
	x.expect(ctx, false, members[:3]...)
	x.enter(ctx, members[3])
	x.expect(ctx, true, members...)
	return members
}

func doubleBarrierTogether(ctx context.Context, x *doubleBarrierTrial) {
	dir := x.newBarrier(ctx)
	members := x.full(ctx, dir)
	x.expectNodes(ctx, dir, 4)
	slices.Reverse(members)
	x.leave(ctx, members[:3]...)
	x.expect(ctx, false, members[:3]...)
	x.leave(ctx, members[3])
	x.expect(ctx, true, members...)
	for _, g := range members {
		if g.inside.Err() == nil {
			x.Errorf("the context of Enter has not ended after Leave")
		}
	}
	x.close(ctx, dir)
}

// doubleBarrierSlowClient delays the first member: it holds back the reply to the member's first read
// without a watch until the others have entered and want to leave.
func doubleBarrierSlowClient(ctx context.Context, x *doubleBarrierTrial) {
	dir := x.newBarrier(ctx)
	members := x.members(ctx, dir, 4, 4)
	late, others := members[0], members[1:]
	held, free := make(chan struct{}), make(chan struct{})
	releaseReply := sync.OnceFunc(func() { close(free) })
	defer releaseReply() // otherwise a case that fails would wait for the delayed session
	var once sync.Once
	late.lose(func(m drivers.Message) bool {
		if m.Op.IsRead() && !m.Watch {
			once.Do(func() { close(held); <-free })
		}
		return false
	})
	late.begin(ctx, late.enter)
	x.await(ctx, held)
	for _, g := range others {
		g.begin(ctx, g.enter)
	}
	for _, g := range others {
		g.last().wait(ctx)
		g.begin(ctx, g.barrier.Leave)
	}
	for slices.ContainsFunc(others, func(g *doubleBarrierClient) bool { return !g.parked() }) {
		x.must(pause(ctx, time.Millisecond))
	}
	releaseReply()
	x.expect(ctx, true, late)
	x.expect(ctx, false, others...)
	x.leave(ctx, late)
	x.expect(ctx, true, members...)
	x.close(ctx, dir)
}

func doubleBarrierCanceledOutside(ctx context.Context, x *doubleBarrierTrial) {
	dir := x.newBarrier(ctx)
	members := x.members(ctx, dir, 5, 4)
	x.enter(ctx, members[:3]...)
	members[1].last().isCanceled(ctx)
	x.expectNodes(ctx, dir, 2)
	members = slices.Delete(members, 1, 2)
	x.enter(ctx, members[2])
	x.expect(ctx, false, members[:3]...)
	x.enter(ctx, members[3])
	x.expect(ctx, true, members...)
	slices.Reverse(members)
	x.leave(ctx, members...)
	x.expect(ctx, true, members...)
	x.close(ctx, dir)
}

func doubleBarrierCanceledInside(ctx context.Context, x *doubleBarrierTrial) {
	for _, place := range []int{3, 2, 0} {
		dir := x.newBarrier(ctx)
		members := x.full(ctx, dir)
		if _, weaker := members[place].barrier.(recipe.Placed); weaker && place == 0 {
			place = 1 // the lowest client does not have to wait
		}
		x.leave(ctx, members[place])
		members[place].last().isCanceled(ctx)
		x.expectNodes(ctx, dir, 3)
		members = slices.Delete(members, place, place+1)
		slices.Reverse(members)
		x.leave(ctx, members...)
		x.expect(ctx, true, members...)
		x.close(ctx, dir)
	}
}

func doubleBarrierLostOutside(ctx context.Context, x *doubleBarrierTrial) {
	dir := x.newBarrier(ctx)
	members := x.members(ctx, dir, 5, 4)
	x.enter(ctx, members[:3]...)
	members[1].close()
	x.settle(ctx)
	members[1].last().fails(ctx, drivers.ErrSessionLost)
	members = slices.Delete(members, 1, 2)
	x.enter(ctx, members[2])
	x.expect(ctx, false, members[:3]...)
	x.enter(ctx, members[3])
	x.expect(ctx, true, members...)
	slices.Reverse(members)
	x.leave(ctx, members...)
	x.expect(ctx, true, members...)
	x.close(ctx, dir)
}

// doubleBarrierLostInside closes the session of a member while the others wait to leave.
func doubleBarrierLostInside(place int) func(context.Context, *doubleBarrierTrial) {
	return func(ctx context.Context, x *doubleBarrierTrial) {
		dir := x.newBarrier(ctx)
		members := x.full(ctx, dir)
		lost := members[place]
		members = slices.Delete(members, place, place+1)
		slices.Reverse(members)
		x.leave(ctx, members...)
		lost.close()
		x.await(ctx, lost.inside.Done())
		if cause := context.Cause(lost.inside); !errors.Is(cause, drivers.ErrSessionLost) {
			x.Errorf("the context of Enter ended with cause %v, want %v", cause, drivers.ErrSessionLost)
		}
		x.expect(ctx, true, members...)
		if err := lost.barrier.Leave(ctx); !errors.Is(err, drivers.ErrSessionLost) {
			x.Errorf("leaving with a lost session: %v, want %v", err, drivers.ErrSessionLost)
		}
		x.close(ctx, dir)
	}
}

func doubleBarrierAnySchedule(ctx context.Context, x *doubleBarrierTrial) {
	for seed := range x.seeds() {
		x.compete(ctx, seed, nil)
	}
}

func doubleBarrierRepliesLost(ctx context.Context, x *doubleBarrierTrial) {
	for seed := range x.seeds() {
		x.compete(ctx, seed, oneInFive)
	}
}

func doubleBarrierCreatesLost(ctx context.Context, x *doubleBarrierTrial) {
	var lost atomic.Int64
	for seed := range x.seeds() {
		x.compete(ctx, seed, func(*rand.Rand) func(drivers.Message) bool {
			fresh := true
			return func(m drivers.Message) bool {
				lose := fresh && m.Op == drivers.OpCreate
				fresh = fresh && !lose
				lost.Add(one(lose))
				return lose
			}
		})
	}
	if want := int64(x.seeds()) * competitors; lost.Load() != want {
		x.Errorf("%d replies to creates were lost, want %d", lost.Load(), want)
	}
}

// competitors is the number of clients that act at the same time in a case.
const competitors = 6

// compete has clients enter and leave at random times, and checks that no client enters or
// leaves too early.
func (x *doubleBarrierTrial) compete(ctx context.Context, seed uint64, lose func(*rand.Rand) func(drivers.Message) bool) {
	x.Helper()
	dir := x.newBarrier(ctx)
	var w arrivals
	x.concurrently(ctx, competitors, seed, lose, func(_ int, c *client, rng *rand.Rand) error {
		g := x.member(c, dir, competitors)
		if err := pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		w.arrive()
		if err := g.enter(ctx); err != nil {
			return err
		}
		w.entered(g)
		if rng.IntN(2) == 0 { // the others leave as soon as they can
			if err := pause(ctx, upTo(rng, time.Millisecond)); err != nil {
				return err
			}
		}
		w.leaves(g)
		if err := g.barrier.Leave(ctx); err != nil {
			return err
		}
		return w.left(g)
	})
	x.close(ctx, dir)
	x.closeClients()
}

// A arrivals records which clients have arrived and which want to leave.
type arrivals struct {
	mu      sync.Mutex
	arrived int
	inside  []*doubleBarrierClient // the clients that do not want to leave yet
	leaving int                    // the number of clients that want to leave or have left
	early   error                  // the first client that entered too early
}

func (w *arrivals) arrive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrived++
}

func (w *arrivals) entered(g *doubleBarrierClient) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.arrived < competitors && w.early == nil {
		w.early = fmt.Errorf("one of %d clients has entered when %d have arrived", competitors, w.arrived)
	}
	w.inside = append(w.inside, g)
}

func (w *arrivals) leaves(g *doubleBarrierClient) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving++
	w.inside = slices.DeleteFunc(w.inside, func(other *doubleBarrierClient) bool { return other == g })
}

// left returns the errors so far.
func (w *arrivals) left(g *doubleBarrierClient) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, weaker := g.barrier.(recipe.Placed)
	switch {
	case weaker && slices.ContainsFunc(w.inside, func(other *doubleBarrierClient) bool {
		return other.barrier.(recipe.Placed).Place() < p.Place()
	}):
		return errors.Join(w.early, errors.New("a client has left before one with a lower number wants to leave"))
	case !weaker && w.leaving < competitors:
		return errors.Join(w.early, fmt.Errorf("one of %d clients has left when %d want to leave", competitors, w.leaving))
	}
	return w.early
}
