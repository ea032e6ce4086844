package recipetest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A setting is the environment in which a case runs.
type setting struct {
	service drivers.Service
	bubble  bool // runs in a synctest bubble, together with the service
}

// seeds returns how often a case repeats its random actions, each time with another seed. In
// a bubble, repetitions differ only by their seed. Elsewhere no two are the same anyway, and
// each takes as long as the service needs.
func (s setting) seeds() uint64 {
	if s.bubble {
		return 3
	}
	return 1
}

// turns returns how many turns each of several clients takes before the counts of an
// arbitrary schedule are checked. It is lower where turns take long.
func (s setting) turns() int {
	if s.bubble {
		return 12
	}
	return 4
}

// sizes returns the numbers of clients for which settled costs are compared. The bubble
// checks the shape of the formulas; elsewhere the comparison only checks the counting.
func (s setting) sizes() []int64 {
	if s.bubble {
		return []int64{1, 2, 3, 5, 8, 16}
	}
	return []int64{3}
}

// patience is the time after which a case counts as hung: far longer than any case takes on
// a slow machine.
const patience = 10 * time.Minute

var errHung = errors.New("the case hung")

// A lockTrial is the state of one case: a lock of its own, and its clients.
type lockTrial struct {
	testing.TB
	setting
	form    LockForm
	dir     string       // the lock's node
	admin   drivers.Conn // creates, inspects and removes dir
	clients []*lockClient
	guard   guard
	ledger  ledger
}

// check runs the case.
func (c lockCase) check(t testing.TB, s setting, form LockForm) {
	defer func() {
		if t.Failed() {
			t.Logf("what is asked of a lock: %s", c.why)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errHung)
	defer cancel()
	x := beginLock(ctx, t, s, form)
	defer x.end()
	c.run(ctx, x)
	if !t.Failed() {
		x.expectNodes(ctx, 0)
	}
}

func beginLock(ctx context.Context, t testing.TB, s setting, form LockForm) *lockTrial {
	admin, err := s.service.Dial(ctx, drivers.Options{})
	if err != nil {
		t.Fatalf("opening a session: %v", err)
	}
	x := &lockTrial{TB: t, setting: s, form: form, admin: admin, dir: "/recipetest-" + rand.Text()}
	x.guard = guard{TB: t, newest: drivers.NoSeq, writer: drivers.NoSeq}
	if _, err := admin.Create(ctx, x.dir, nil, 0); err != nil {
		admin.Close()
		t.Fatalf("creating the lock's node: %v", err)
	}
	return x
}

// end dismisses all clients and removes the lock.
func (x *lockTrial) end() {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(x.Context()), patience, errHung)
	defer cancel()
	x.dismiss()
	if err := x.remove(ctx); err != nil {
		x.Errorf("removing the lock's node: %v", err)
	}
	if err := x.admin.Close(); err != nil {
		x.Errorf("closing the session that cleans up: %v", err)
	}
}

// dismiss cancels all calls and closes all sessions.
func (x *lockTrial) dismiss() {
	for _, c := range x.clients {
		c.replies.Store(nil)
		for _, a := range c.calls() {
			a.cancel(errGivenUp)
		}
	}
	for _, c := range x.clients {
		for _, a := range c.calls() {
			<-a.done
		}
		if err := c.conn.Close(); err != nil {
			x.Errorf("closing a session: %v", err)
		}
	}
	x.clients = nil
}

// remove removes the lock's node and its children.
func (x *lockTrial) remove(ctx context.Context) error {
	for {
		left, err := x.nodes(ctx)
		if err != nil {
			return err
		}
		for _, child := range left {
			err := x.admin.Delete(ctx, x.dir+"/"+child.Name, drivers.AnyVersion)
			if err != nil && !errors.Is(err, drivers.ErrNoNode) {
				return err
			}
		}
		err = x.admin.Delete(ctx, x.dir, drivers.AnyVersion)
		if !errors.Is(err, drivers.ErrNotEmpty) {
			return err
		}
	}
}

func (x *lockTrial) nodes(ctx context.Context) ([]drivers.Child, error) {
	if err := x.admin.Sync(ctx, x.dir); err != nil {
		return nil, err
	}
	return x.admin.Children(ctx, x.dir, nil)
}

// expectNodes fails the case unless the lock's node has the children that this number of
// holding and waiting clients needs: one per client if the clients form a line, otherwise one
// for all, plus the holder's marks.
func (x *lockTrial) expectNodes(ctx context.Context, clients int) {
	x.Helper()
	want := clients
	if !x.guard.ordered() {
		want = min(clients, 1)
	}
	want += min(clients, 1) * x.form.Marks
	nodes, err := x.nodes(ctx)
	if err != nil {
		x.Fatalf("listing the lock's node: %v", err)
	}
	if len(nodes) != want {
		x.Fatalf("%d clients hold the lock or wait for it, and there are nodes %v, want %d", clients, nodes, want)
	}
}

// settle is rest, then one more poll of each polling client.
func (x *lockTrial) settle(ctx context.Context) {
	x.Helper()
	x.rest(ctx)
	x.tick(ctx)
}

// tick lets each polling client poll once.
func (x *lockTrial) tick(ctx context.Context) {
	x.Helper()
	ticked := false
	for _, c := range x.clients {
		ticked = c.spot.Tick() || ticked
	}
	if ticked {
		x.rest(ctx)
	}
}

// rest returns when each Acquire has returned or is parked and no message is in flight. In a
// bubble, synctest.Wait waits for that. Elsewhere there is a proof: all clients are parked,
// every session is fenced, and no message has arrived since.
func (x *lockTrial) rest(ctx context.Context) {
	x.Helper()
	if x.bubble {
		synctest.Wait()
		return
	}
	for ctx.Err() == nil {
		before, parked := x.moves()
		for _, c := range x.clients {
			if err := c.fence(ctx); err != nil {
				x.Fatalf("fencing a session: %v", err)
			}
		}
		after, still := x.moves()
		if parked && still && before == after {
			return
		}
	}
	x.Fatalf("coming to rest: %v", context.Cause(ctx))
}

// moves returns the number of messages that all sessions have seen, and whether all clients
// are parked.
func (x *lockTrial) moves() (messages int64, parked bool) {
	x.ledger.mu.Lock()
	messages = x.ledger.messages
	x.ledger.mu.Unlock()
	return messages, !slices.ContainsFunc(x.clients, func(c *lockClient) bool { return !c.parked() })
}
