package recipetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/settled"
)

const (
	whySettledCost = "Settled after each step, a form costs exactly what the cost model says, or is between its bounds. The cost is what shows whether a form causes herds."
	whyIdentities  = "Some relations between the counts hold under any schedule."
)

// model returns the cost model of a form. It skips the case if there is none.
func (x *trial) model(recipe, form string) costmodel.Model {
	x.Helper()
	model, known := costmodel.ModelOf(recipe, form)
	if !known {
		x.Skipf("no cost model of %s/%s", recipe, form)
	}
	return model
}

// expectCost plays the given number of rounds and compares their cost with the model. play
// calls rested whenever everything has come to rest after a write. Between two rests, at most
// one write wakes other clients.
func (x *trial) expectCost(model costmodel.Model, p costmodel.Params, rounds int64, play func(rested func())) {
	x.Helper()
	before := x.ledger.read()
	x.ledger.fanout()
	largest := int64(0)
	play(func() { largest = max(largest, x.ledger.fanout()) })
	got := x.ledger.read().Sub(before)
	x.compareCosts(p.Clients, got, largest, model.Settled(p))
	x.checkIdentities(model, got, rounds, p.Clients)
}

// compareCosts compares counts with the model's, or with its bounds.
func (x *trial) compareCosts(n int64, got metrics.Counts, largest int64, least costmodel.Expected) {
	x.Helper()
	most := least.Upper()
	for _, c := range []struct {
		what        string
		got         int64
		least, most costmodel.Term
	}{
		{"notifications", got.Notifications, least.Notifications, most.Notifications},
		{"reads", got.Reads, least.Reads, most.Reads},
		{"writes", got.Writes, least.Writes, most.Writes},
		{"failed writes", got.FailedWrites, least.FailedWrites, most.FailedWrites},
		{"largest fan-out", largest, least.LargestFanout, most.LargestFanout},
	} {
		if c.got < c.least.Value || c.got > c.most.Value {
			x.Errorf("N = %d: %s %d, want %d = %s to %d = %s", n, c.what, c.got, c.least.Value, c.least.Formula, c.most.Value, c.most.Formula)
		}
	}
}

func (x *trial) checkIdentities(model costmodel.Model, counts metrics.Counts, rounds, clients int64) {
	x.Helper()
	for _, i := range model.Identities {
		if left, right, holds := i.Check(counts, rounds, clients); !holds {
			x.Errorf("after %d rounds %s does not hold: %d and %d", rounds, i.Formula, left, right)
		}
	}
}

// costCases returns the cost cases of a form whose runs package workloads plays.
func costCases(form workloads.Form) []testCase {
	return []testCase{
		{"settled cost", whySettledCost, func(ctx context.Context, x *trial) {
			x.settledRuns(ctx, form, workloads.Settings{Polls: 3})
		}},
		{"identities", whyIdentities, func(ctx context.Context, x *trial) { x.freeRun(ctx, form) }},
	}
}

// settledRuns compares the cost of settled runs of several sizes with the model.
func (x *trial) settledRuns(ctx context.Context, form workloads.Form, settings workloads.Settings) {
	model := x.model(form.Recipe, form.Name)
	for _, n := range x.sizes() {
		s, err := settled.Run(ctx, x.service, form, int(n), settings)
		if err != nil {
			x.Fatalf("N = %d: %v", n, err)
		}
		x.compareCosts(n, s.Counts, s.Largest, model.Settled(settings.Params(int(n))))
		if s.Safety.Violations > 0 || s.Safety.Checked == 0 {
			x.Errorf("N = %d: %+v, want no violation", n, s.Safety)
		}
	}
}

// freeRun checks the identities of a run in which clients do not wait for each other.
func (x *trial) freeRun(ctx context.Context, form workloads.Form) {
	model := x.model(form.Recipe, form.Name)
	const clients = 8
	r, err := workloads.Run(ctx, workloads.Plan{Service: x.service, Form: form, Clients: clients, Rounds: 20, Seed: 1,
		Settings: workloads.Settings{Hold: time.Millisecond}})
	if err != nil {
		x.Fatalf("running freely: %v", err)
	}
	if r.Disturbed || r.Safety.Violations > 0 {
		x.Errorf("disturbed: %v, %+v; want whole rounds and no violation", r.Disturbed, r.Safety)
	}
	x.checkIdentities(model, r.Whole, r.WholeRounds, clients)
}

// A guard is the resource that a lock protects. It checks the clients that enter.
type guard struct {
	testing.TB

	mu     sync.Mutex
	inside []*lockClient
	grants []*lockClient
	newest int64 // the highest token granted
	writer int64 // the highest token granted to a client that does not share
}

// enter fails the case if a client is inside with which c cannot share the lock. It also
// fails the case if c's token is not higher than the earlier tokens of all clients with
// which c could not share the lock.
func (g *guard) enter(c *lockClient) {
	g.Helper()
	token := c.lock.Token()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range g.inside {
		if !c.shares() || !other.shares() {
			g.Errorf("two clients hold the lock: token %d was granted while %d was held", token, other.lock.Token())
		}
	}
	earlier := g.newest
	if c.shares() {
		earlier = g.writer
	}
	if len(g.grants) > 0 && token <= earlier && max(token, earlier) != drivers.NoSeq {
		g.Errorf("token %d was granted after %d: a resource could not refuse the older holder", token, earlier)
	}
	g.newest = max(g.newest, token)
	if !c.shares() {
		g.writer = max(g.writer, token)
	}
	g.inside = append(g.inside, c)
	g.grants = append(g.grants, c)
}

// leave removes the client. It does nothing if the client was deposed and is not inside.
func (g *guard) leave(c *lockClient) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside = slices.DeleteFunc(g.inside, func(other *lockClient) bool { return other == c })
}

// ordered reports whether the form has tokens, and so an order of grants.
func (g *guard) ordered() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.grants) > 0 && g.newest != drivers.NoSeq
}

// order returns the clients that were granted the lock so far, in order.
func (g *guard) order() []*lockClient {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.grants)
}

// has reports whether the client is inside.
func (g *guard) has(c *lockClient) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.inside, c)
}

// A ledger counts what all sessions of a trial sent and received, in the terms of the
// cost model and in the simplest way. It is independent of the accounting of measured
// runs, so that each can be checked against the other.
type ledger struct {
	mu       sync.Mutex
	counts   metrics.Counts
	messages int64               // of all kinds except heartbeats and flushes
	notified map[*tally]struct{} // the sessions that were notified since the last call of fanout
}

func (l *ledger) read() metrics.Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// fanout returns how many sessions were notified since the last call.
func (l *ledger) fanout() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := int64(len(l.notified))
	l.notified = map[*tally]struct{}{}
	return n
}

// A tally is the probe of one session. It writes to the ledger.
type tally struct {
	*ledger
	armed int // watches that have not fired
	open  int // requests that have not been answered
}

// Message counts a message.
func (t *tally) Message(m drivers.Message) {
	if m.Op == drivers.OpPing || m.Op == drivers.OpFlush {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages++
	if m.Op == drivers.OpOther && !m.Watch && m.Kind != drivers.Notification && m.Kind != drivers.Cut {
		return // the library's own traffic
	}
	switch m.Kind {
	case drivers.Request:
		t.open++
	case drivers.Notification:
		t.counts.Notifications++
		if t.notified != nil {
			t.notified[t] = struct{}{}
		}
		t.armed--
	case drivers.Reply:
		t.open--
		t.reply(m)
	case drivers.Cut:
		t.open = 0
	}
}

func (t *tally) reply(m drivers.Message) {
	c := &t.counts
	switch {
	case m.Op.IsRead():
		c.Reads++
	case m.Op.IsWrite():
		c.Writes++
		c.FailedWrites += one(m.Err != nil)
	}
	switch {
	case m.Op == drivers.OpChildren:
		c.Lists++
	case m.Op == drivers.OpExists && m.Watch:
		c.WatchedExists++
		c.WatchedMisses += one(m.Err != nil)
	case m.Op == drivers.OpGet && m.Watch:
		c.WatchedGets++
		c.MissedGets += one(m.Err != nil)
	}
	if m.Watch && (m.Err == nil || m.Op == drivers.OpExists) {
		t.armed++
	}
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// waits reports whether a watch is armed and no request is open. A client that watches
// one node at a time is in this state when it is parked.
func (t *tally) waits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.armed > 0 && t.open == 0
}
