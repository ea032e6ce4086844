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
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A DoubleBarrierForm is a form under test.
type DoubleBarrierForm struct {
	Name string // the form's name in package cost
	New  func(c drivers.Conn, path string, clients int) workloads.DoubleBarrier
	Library
}

// DoubleBarrier checks a form on a service, as [Lock] does. A form that is
// [workloads.Placed] need only keep a client inside until those below it want to leave.
func DoubleBarrier(t *testing.T, service drivers.Service, form DoubleBarrierForm) {
	checkAll(t, service, form.lock(), form.cases())
}

// DoubleBarrierBubbled checks a form, as [LockBubbled] does.
func DoubleBarrierBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form DoubleBarrierForm) {
	checkBubbled(t, open, form.lock(), form.cases())
}

func (f DoubleBarrierForm) lock() LockForm {
	return LockForm{Recipe: "double-barrier", Name: f.Name, New: newErrand, Library: f.Library}
}

func (f DoubleBarrierForm) cases() []lockCase {
	at := func(run func(ctx context.Context, x *hallTrial)) func(context.Context, *lockTrial) {
		return func(ctx context.Context, x *lockTrial) { run(ctx, &hallTrial{lockTrial: x, form: f}) }
	}
	return append([]lockCase{
		{"in together, out together",
			"Nobody is in before enough have come, and nobody is out before those it waits for want to leave; then all are, and no node of theirs is left.",
			at(hallTogether)},
		{"any schedule",
			"The same whoever comes and goes when.",
			at(hallAnySchedule)},
		{"one looks too late",
			"Whoever sees that all are in may want to leave at once, before a slower one has looked. That one was let in all the same: if it counts who is left it waits for ever, and so does everybody who waits for it to leave.",
			at(hallLooksLate)},
		{"one gives up outside",
			"Who gives up before enough have come leaves no node, and does not count.",
			at(hallGivenUpOutside)},
		{"one gives up inside",
			"Who gives up while it waits to leave leaves no node, and nobody waits for it.",
			at(hallGivenUpInside)},
		{"a session is lost outside",
			"Who loses its session before enough have come does not count, and is not in.",
			at(hallLostOutside)},
		{"the session of the lowest is lost inside", whyLostInside, at(hallLostInside(0))},
		{"the session of one in the middle is lost inside", whyLostInside, at(hallLostInside(1))},
		{"the session of the highest is lost inside", whyLostInside, at(hallLostInside(3))},
		{"replies to creates are lost",
			"The service made the node, the reply never arrived, and the session lives on. A client that creates again without looking for its GUID counts twice, and nobody gets out any more.",
			at(hallCreatesLost)},
		{"any replies are lost",
			"Sessions survive broken connections, and nobody is in or out too early whichever replies are lost.",
			at(hallRepliesLost)},
	}, togetherCosts(workloads.Form{Recipe: "double-barrier", Name: f.Name, Family: f.family(), New: workloads.DoubleBarriers(f.New)})...)
}

const whyLostInside = "Who loses its session inside learns it, since the context to work under ends, and nobody waits for it to leave."

// A hallTrial is the state of one case.
type hallTrial struct {
	*lockTrial
	form  DoubleBarrierForm
	halls int
}

// A guest is a client with its handle on the double barrier.
type guest struct {
	*lockClient
	barrier workloads.DoubleBarrier
	inside  context.Context // set once the client has entered
}

func (g *guest) enter(ctx context.Context) (err error) {
	g.inside, err = g.barrier.Enter(ctx)
	return err
}

// hall creates the node of a new double barrier.
func (x *hallTrial) hall(ctx context.Context) string {
	x.Helper()
	x.halls++
	hall := fmt.Sprintf("%s/hall-%d", x.dir, x.halls)
	_, err := x.admin.Create(ctx, hall, nil, 0)
	x.done(err)
	return hall
}

// close fails the case if a client's node is left, and removes the hall.
func (x *hallTrial) close(ctx context.Context, hall string) {
	x.Helper()
	x.expectGuests(ctx, hall, 0)
	if err := x.admin.Delete(ctx, path.Join(hall, "ready"), drivers.AnyVersion); err != nil && !errors.Is(err, drivers.ErrNoNode) {
		x.Fatalf("removing the node ready: %v", err)
	}
	x.done(x.admin.Delete(ctx, hall, drivers.AnyVersion))
}

// expectGuests fails the case unless the hall has this number of client nodes.
func (x *hallTrial) expectGuests(ctx context.Context, hall string, want int) {
	x.Helper()
	x.done(x.admin.Sync(ctx, hall))
	nodes, err := x.admin.Children(ctx, hall, nil)
	x.done(err)
	nodes = slices.DeleteFunc(nodes, func(c drivers.Child) bool { return c.Name == "ready" })
	if len(nodes) != want {
		x.Fatalf("the clients have nodes %v, want %d", nodes, want)
	}
}

// guests opens n sessions with handles on the double barrier.
func (x *hallTrial) guests(ctx context.Context, hall string, n, size int) []*guest {
	x.Helper()
	guests := make([]*guest, n)
	for i := range guests {
		guests[i] = x.guest(x.client(ctx), hall, size)
	}
	return guests
}

func (x *hallTrial) guest(c *lockClient, hall string, size int) *guest {
	return &guest{lockClient: c, barrier: x.form.New(c.conn, hall, size)}
}

// come has the guests start to enter, one at a time.
func (x *hallTrial) come(ctx context.Context, guests ...*guest) {
	x.Helper()
	for _, g := range guests {
		g.send(ctx, g.enter)
		x.settle(ctx)
	}
}

// wantOut has the guests start to leave, one at a time.
func (x *hallTrial) wantOut(ctx context.Context, guests ...*guest) {
	x.Helper()
	for _, g := range guests {
		g.send(ctx, g.barrier.Leave)
		x.settle(ctx)
	}
}

func (x *hallTrial) expect(ctx context.Context, through bool, guests ...*guest) {
	x.Helper()
	clients := make([]*lockClient, len(guests))
	for i, g := range guests {
		clients[i] = g.lockClient
	}
	x.expectBack(ctx, through, clients...)
}

// full has four guests enter, which arrive one at a time.
func (x *hallTrial) full(ctx context.Context, hall string) []*guest {
	x.Helper()
	guests := x.guests(ctx, hall, 4, 4)
	x.come(ctx, guests[:3]...)
	x.expect(ctx, false, guests[:3]...)
	x.come(ctx, guests[3])
	x.expect(ctx, true, guests...)
	return guests
}

func hallTogether(ctx context.Context, x *hallTrial) {
	hall := x.hall(ctx)
	guests := x.full(ctx, hall)
	x.expectGuests(ctx, hall, 4)
	slices.Reverse(guests)
	x.wantOut(ctx, guests[:3]...)
	x.expect(ctx, false, guests[:3]...)
	x.wantOut(ctx, guests[3])
	x.expect(ctx, true, guests...)
	for _, g := range guests {
		if g.inside.Err() == nil {
			x.Errorf("the context to work under inside has not ended outside")
		}
	}
	x.close(ctx, hall)
}

// hallLooksLate delays the first guest: it holds back the reply to the guest's first read
// without a watch until the others have entered and want to leave.
func hallLooksLate(ctx context.Context, x *hallTrial) {
	hall := x.hall(ctx)
	guests := x.guests(ctx, hall, 4, 4)
	late, others := guests[0], guests[1:]
	held, free := make(chan struct{}), make(chan struct{})
	letGo := sync.OnceFunc(func() { close(free) })
	defer letGo() // otherwise a case that fails would wait for the delayed session
	var once sync.Once
	late.lose(func(m drivers.Message) bool {
		if m.Op.IsRead() && !m.Watch {
			once.Do(func() { close(held); <-free })
		}
		return false
	})
	late.send(ctx, late.enter)
	x.await(ctx, held)
	for _, g := range others {
		g.send(ctx, g.enter)
	}
	for _, g := range others {
		g.returned(ctx)
		g.send(ctx, g.barrier.Leave)
	}
	for slices.ContainsFunc(others, func(g *guest) bool { return !g.parked() }) {
		x.done(drivers.Pause(ctx, time.Millisecond))
	}
	letGo()
	x.expect(ctx, true, late)
	x.expect(ctx, false, others...)
	x.wantOut(ctx, late)
	x.expect(ctx, true, guests...)
	x.close(ctx, hall)
}

func hallGivenUpOutside(ctx context.Context, x *hallTrial) {
	hall := x.hall(ctx)
	guests := x.guests(ctx, hall, 5, 4)
	x.come(ctx, guests[:3]...)
	guests[1].giveUp(ctx)
	x.expectGuests(ctx, hall, 2)
	guests = slices.Delete(guests, 1, 2)
	x.come(ctx, guests[2])
	x.expect(ctx, false, guests[:3]...)
	x.come(ctx, guests[3])
	x.expect(ctx, true, guests...)
	slices.Reverse(guests)
	x.wantOut(ctx, guests...)
	x.expect(ctx, true, guests...)
	x.close(ctx, hall)
}

func hallGivenUpInside(ctx context.Context, x *hallTrial) {
	for _, who := range []int{3, 2, 0} {
		hall := x.hall(ctx)
		guests := x.full(ctx, hall)
		if _, weaker := guests[who].barrier.(workloads.Placed); weaker && who == 0 {
			who = 1 // the lowest client does not have to wait
		}
		x.wantOut(ctx, guests[who])
		guests[who].giveUp(ctx)
		x.expectGuests(ctx, hall, 3)
		guests = slices.Delete(guests, who, who+1)
		slices.Reverse(guests)
		x.wantOut(ctx, guests...)
		x.expect(ctx, true, guests...)
		x.close(ctx, hall)
	}
}

func hallLostOutside(ctx context.Context, x *hallTrial) {
	hall := x.hall(ctx)
	guests := x.guests(ctx, hall, 5, 4)
	x.come(ctx, guests[:3]...)
	x.done(guests[1].conn.Close())
	x.settle(ctx)
	guests[1].failed(ctx, drivers.ErrSessionLost)
	guests = slices.Delete(guests, 1, 2)
	x.come(ctx, guests[2])
	x.expect(ctx, false, guests[:3]...)
	x.come(ctx, guests[3])
	x.expect(ctx, true, guests...)
	slices.Reverse(guests)
	x.wantOut(ctx, guests...)
	x.expect(ctx, true, guests...)
	x.close(ctx, hall)
}

// hallLostInside closes the session of a guest while the others wait to leave.
func hallLostInside(who int) func(context.Context, *hallTrial) {
	return func(ctx context.Context, x *hallTrial) {
		hall := x.hall(ctx)
		guests := x.full(ctx, hall)
		lost := guests[who]
		guests = slices.Delete(guests, who, who+1)
		slices.Reverse(guests)
		x.wantOut(ctx, guests...)
		x.done(lost.conn.Close())
		x.await(ctx, lost.inside.Done())
		if cause := context.Cause(lost.inside); !errors.Is(cause, drivers.ErrSessionLost) {
			x.Errorf("the context to work under ended with cause %v, want %v", cause, drivers.ErrSessionLost)
		}
		x.expect(ctx, true, guests...)
		if err := lost.barrier.Leave(ctx); !errors.Is(err, drivers.ErrSessionLost) {
			x.Errorf("leaving with a lost session: %v, want %v", err, drivers.ErrSessionLost)
		}
		x.close(ctx, hall)
	}
}

func hallAnySchedule(ctx context.Context, x *hallTrial) {
	for seed := range x.seeds() {
		x.rush(ctx, seed, nil)
	}
}

func hallRepliesLost(ctx context.Context, x *hallTrial) {
	for seed := range x.seeds() {
		x.rush(ctx, seed, oneInFive)
	}
}

func hallCreatesLost(ctx context.Context, x *hallTrial) {
	var lost atomic.Int64
	for seed := range x.seeds() {
		x.rush(ctx, seed, func(*rand.Rand) func(drivers.Message) bool {
			fresh := true
			return func(m drivers.Message) bool {
				lose := fresh && m.Op == drivers.OpCreate
				fresh = fresh && !lose
				lost.Add(one(lose))
				return lose
			}
		})
	}
	if want := int64(x.seeds()) * crowd; lost.Load() != want {
		x.Errorf("%d replies to creates were lost, want %d", lost.Load(), want)
	}
}

// crowd is the number of clients in a rush.
const crowd = 6

// rush has a crowd enter and leave at random times, and checks that no client enters or
// leaves too early.
func (x *hallTrial) rush(ctx context.Context, seed uint64, lose func(*rand.Rand) func(drivers.Message) bool) {
	x.Helper()
	hall := x.hall(ctx)
	var w crowdWatch
	x.atOnce(ctx, crowd, seed, lose, func(_ int, c *lockClient, rng *rand.Rand) error {
		g := x.guest(c, hall, crowd)
		if err := drivers.Pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		w.comes()
		if err := g.enter(ctx); err != nil {
			return err
		}
		w.isIn(g)
		if rng.IntN(2) == 0 { // the others leave as soon as they can
			if err := drivers.Pause(ctx, upTo(rng, time.Millisecond)); err != nil {
				return err
			}
		}
		w.wantsOut(g)
		if err := g.barrier.Leave(ctx); err != nil {
			return err
		}
		return w.isOut(g)
	})
	x.close(ctx, hall)
	x.dismiss()
}

// A crowdWatch records which clients have arrived and which want to leave.
type crowdWatch struct {
	mu      sync.Mutex
	came    int
	inside  []*guest // the clients that do not want to leave yet
	leaving int      // the number of clients that want to leave or have left
	early   error    // the first client that entered too early
}

func (w *crowdWatch) comes() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.came++
}

func (w *crowdWatch) isIn(g *guest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.came < crowd && w.early == nil {
		w.early = fmt.Errorf("one of %d is in when %d have come", crowd, w.came)
	}
	w.inside = append(w.inside, g)
}

func (w *crowdWatch) wantsOut(g *guest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving++
	w.inside = slices.DeleteFunc(w.inside, func(other *guest) bool { return other == g })
}

// isOut returns the errors so far.
func (w *crowdWatch) isOut(g *guest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, weaker := g.barrier.(workloads.Placed)
	switch {
	case weaker && slices.ContainsFunc(w.inside, func(other *guest) bool {
		return other.barrier.(workloads.Placed).Place() < p.Place()
	}):
		return errors.Join(w.early, errors.New("one is out when one below it does not want to leave yet"))
	case !weaker && w.leaving < crowd:
		return errors.Join(w.early, fmt.Errorf("one of %d is out when %d want to leave", crowd, w.leaving))
	}
	return w.early
}
