package recipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/history"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Lock is one client's handle on a lock that several clients share.
type Lock interface {
	// Acquire blocks until this client holds the lock. The context it returns ends when the lock
	// may no longer be held because the session is lost, and when Release is called. If Acquire
	// fails, for instance because its context ended, it leaves nothing on the service.
	Acquire(ctx context.Context) (held context.Context, err error)
	// Token returns the fencing token of the current hold. It is greater than the token of every
	// earlier holder, so that a resource can refuse a holder that does not know yet that it has
	// lost the lock. Forms without tokens return drivers.NoSeq.
	Token() int64
	// Release releases the lock.
	Release(ctx context.Context) error
}

// Locks returns the workload constructor for a form of lock: every client acquires, holds,
// releases and thinks, in a closed loop. open creates one client's handle on the lock at a path,
// which is an existing node. The type S says which kind of session the form needs.
func Locks[S drivers.Conn, L Lock](open func(c S, path string) L) workloads.Constructor {
	return lockWorkloads(openerOf[Lock](open), defaultLockTerms())
}

func defaultLockTerms() lockTerms {
	return lockTerms{
		recipe: "lock", acquire: "acquire", handoff: "handoff", release: "release",
		arrives: "arrives", holds: "holds", releases: "releases",
	}
}

// lockWorkloads returns the workload constructor for a recipe in which one client at a time holds
// something that all want, whatever the recipe calls it.
func lockWorkloads(open opener[Lock], words lockTerms) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		return newLockWorkload(s, open, words, words.acquire)
	}
}

// newLockWorkload creates the workload of a lock with these steps before the release. Progress
// reports show the first step.
func newLockWorkload(s workloads.Settings, open opener[Lock], words lockTerms, steps ...string) *lockWorkload {
	w := &lockWorkload{holdTime: s.HoldTime(), think: s.ThinkTime(), polls: s.Polls, open: open, terms: words,
		recorded: s.Steps(), newQueue: s.NewQueue, handoff: s.Latency(words.handoff), release: s.Latency(words.release)}
	for _, step := range steps {
		w.steps = append(w.steps, s.Latency(step))
	}
	w.Timings = append(slices.Clone(w.steps), w.handoff, w.release)
	w.judge = check.NewLockJudge(func(released, granted check.TimedStep) {
		took := granted.Middle() - released.Middle()
		w.slots[granted.Client].Record(w.handoff, took, took)
	})
	w.recorded.JudgeBy(w.judge.Take)
	return w
}

// lockTerms are the terms of a recipe.
type lockTerms struct {
	recipe                    string
	acquire, handoff, release string // its phases
	arrives, holds, releases  string // what a client does when it arrives, holds, and releases
}

type lockWorkload struct {
	metrics.Timings
	holdTime, think time.Duration
	polls           int
	open            opener[Lock]
	terms           lockTerms
	path            string
	slots           []*workloads.Slot // by index; nil before the client has joined

	judge            *check.LockJudge
	operations       check.Operations
	recorded         *check.Steps
	newQueue         func(clients int) *metrics.Queue
	queue            *metrics.Queue // which clients asked, and which were granted
	holder           atomic.Int64   // number of the client that was granted the lock last; 0 if it released it
	steps            []*metrics.Latency
	handoff, release *metrics.Latency
}

func (w *lockWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.path = base + "/" + w.terms.recipe
	w.queue, w.slots = w.newQueue(clients), make([]*workloads.Slot, clients)
}

func (w *lockWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	return namespace.CreateNode(ctx, c, w.path, nil, 0)
}

func (w *lockWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *lockWorkload) join(s *workloads.Slot) (*lockClient, error) {
	l, err := w.open(s.Conn, w.path)
	if err != nil {
		return nil, err
	}
	w.slots[s.Index] = s
	return &lockClient{lockWorkload: w, slot: s, lock: l, acquired: w.steps[0]}, nil
}

func (w *lockWorkload) Together() bool { return false }

func (w *lockWorkload) Grants() {}

func (w *lockWorkload) NeedsTwo() []string { return []string{w.terms.handoff, workloads.WakeUps} }

func (w *lockWorkload) Fill(r *metrics.Record) {
	w.Timings.Fill(r)
	r.Rounds = r.Phases[len(r.Phases)-1].Service.TotalCount()
	fairness := w.queue.Fairness(time.Now())
	r.Fairness = &fairness
}

// Holder returns the client that was granted the lock last, if it still holds it.
func (w *lockWorkload) Holder() (index int, holds bool) {
	number := int(w.holder.Load())
	return number - 1, number > 0
}

func (w *lockWorkload) Verdict() metrics.Safety { return w.operations.JudgeLock(w.judge.Verdict()) }

// Settle lets all clients arrive, one at a time, and then release, one at a time. Forms that poll
// look Polls times during each hold, the last time just after its release.
func (w *lockWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients, err := joinAll(st, w.join, func(c *lockClient) error { return c.arrive(ctx, st, w.terms.arrives) })
	if err != nil {
		return err
	}
	return w.releaseAll(ctx, st, clients)
}

// arrive lets the client request the lock and waits until everything is at rest.
func (c *lockClient) arrive(ctx context.Context, st *settled.Stepper, title string) error {
	return st.Do(ctx, c.slot.Index, title, c.terms.holds, func(ctx context.Context) error {
		_, err := c.acquireLock(ctx)
		return err
	})
}

// releaseAll lets the current holder release the lock, one client at a time, until every client
// has held it.
func (w *lockWorkload) releaseAll(ctx context.Context, st *settled.Stepper, clients []*lockClient) error {
	for range clients {
		holder := slices.IndexFunc(clients, (*lockClient).holds)
		if holder < 0 {
			return fmt.Errorf("no client holds the %s and all clients wait", w.terms.recipe)
		}
		if err := st.Tick(ctx, w.polls-1); err != nil {
			return err
		}
		if err := st.Do(ctx, holder, w.terms.releases, "", clients[holder].releaseLock); err != nil {
			return err
		}
		if err := st.Tick(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// A lockClient is one client that performs rounds.
type lockClient struct {
	*lockWorkload
	slot     *workloads.Slot
	lock     Lock
	shared   bool             // the lock is of a kind that several clients can share
	shares   bool             // the next hold is shared
	acquired *metrics.Latency // the step in which the client acquires
	due      time.Time        // when the client's work was due; zero means when it asks
	hold     *hold            // the current hold; nil if there is none
	priority int64            // of the next hold, if the lock has priorities
	// deposable: other clients may end its hold by force.
	deposable bool
}

// A hold is the time from a grant to its release.
type hold struct {
	disturbances int64       // the client's disturbances when it asked for the hold
	call         *history.Op // the recorded call; nil if it is not recorded
}

func (c *lockClient) holds() bool { return c.hold != nil }

func (c *lockClient) Turn(ctx context.Context) (rounds int64, err error) {
	if !c.arrives(ctx) {
		return 0, nil
	}
	held, err := c.acquireLock(ctx)
	if err != nil {
		return 0, err
	}
	c.slot.Hold(held, c.holdTime)
	if err := c.releaseLock(ctx); err != nil {
		return 0, err
	}
	return 1, nil
}

// arrives waits until the client wants the lock, and reports whether it does before the run stops.
func (c *lockClient) arrives(ctx context.Context) (ok bool) {
	c.due, ok = c.slot.Arrive(ctx, c.think)
	return ok
}

func (c *lockClient) acquireLock(ctx context.Context) (held context.Context, err error) {
	asked := time.Now()
	if c.due.IsZero() {
		c.due = asked
	}
	h := &hold{disturbances: c.slot.Disturbances()}
	c.queue.Asked(c.slot.Index, asked, c.shares)
	c.recorded.Record(check.Step{Kind: check.Asked, Client: c.slot.Index, Shared: c.shares, Value: c.priority})
	if c.inHistory() {
		h.call = c.operations.LockRequested(c.slot.Index)
	}
	c.slot.Marks.PhaseBegin()
	held, err = c.lock.Acquire(ctx)
	now := time.Now()
	c.slot.Marks.PhaseEnd()
	if err != nil {
		c.queue.GaveUp(c.slot.Index, now)
		c.recorded.Record(check.Step{Kind: check.GaveUp, Client: c.slot.Index,
			Disturbed: c.slot.Disturbances() != h.disturbances, Deposed: c.deposable && errors.Is(err, drivers.ErrNoNode)})
		return nil, fmt.Errorf("%s: %w", c.terms.acquire, err)
	}
	c.queue.Granted(c.slot.Index, now)
	c.slot.Served(now)
	token := c.lock.Token()
	c.recorded.Record(check.Step{Kind: check.Granted, Client: c.slot.Index, Token: token})
	c.holder.Store(int64(c.slot.Number()))
	c.operations.LockGranted(h.call, token)
	c.slot.Record(c.acquired, now.Sub(asked), now.Sub(c.due))
	c.hold = h
	return held, nil
}

// inHistory reports whether the client's holds are recorded for the history check: in a run with
// faults, for a lock that one client holds at a time until it releases it.
func (c *lockClient) inHistory() bool { return c.slot.HasFaults() && !c.shared && !c.deposable }

func (c *lockClient) releaseLock(ctx context.Context) error {
	h := c.hold
	c.hold = nil
	c.holder.CompareAndSwap(int64(c.slot.Number()), 0)
	c.recorded.Record(check.Step{Kind: check.Releasing, Client: c.slot.Index})
	release := c.operations.ReleaseCalled(h.call)
	began := time.Now()
	err := c.lock.Release(ctx)
	took := time.Since(began)
	disturbed := c.slot.Disturbances() != h.disturbances
	released := check.Step{Kind: check.Released, Client: c.slot.Index, Disturbed: disturbed}
	c.operations.ReleaseReturned(h.call, release, err == nil && !disturbed)
	if c.deposable && errors.Is(err, drivers.ErrNoNode) {
		released.Deposed, err = true, nil
	}
	c.recorded.Record(released)
	if err != nil {
		return fmt.Errorf("%s: %w", c.terms.release, err)
	}
	c.slot.Record(c.release, took, took)
	return nil
}

// Judge returns the safety, the fairness and the hand-offs, of which each process saw only those among its
// own clients.
func (w *lockWorkload) Judge(g divided.Gathered) divided.Findings {
	var f divided.Findings
	judge := check.NewLockJudge(func(released, granted check.TimedStep) {
		if g.Window.Contains(granted.Middle()) {
			took := max(granted.Middle()-released.Middle(), 0) // the error of the clocks may exceed it
			f.Times = append(f.Times, check.Time{Phase: w.terms.handoff, Service: took, Response: took,
				Error: released.Error() + granted.Error()})
		}
	})
	for _, s := range check.InOrder(g.Steps) {
		judge.Take(s)
	}
	safety, fairness := judge.Verdict(), check.FairnessOf(g.Steps, g.Clients, g.Window)
	f.Safety, f.Fairness = &safety, &fairness
	return f
}

// An opener creates one session's handle on the object at a path, or returns an error if it
// cannot.
type opener[H any] = func(c drivers.Conn, path string) (H, error)

// openerOf makes an opener from a form's constructor. The constructor returns its own type, and its
// parameter says which kind of session it needs: any drivers.Conn, or one with more capabilities.
func openerOf[H any, S drivers.Conn, F any](open func(S, string) F) opener[H] {
	return func(c drivers.Conn, path string) (H, error) {
		return handle[H](c, func(session S) F { return open(session, path) })
	}
}

// handle calls the constructor with the session. It returns ErrUnsupported if the session is not
// of the kind that the constructor needs, or if the constructor returns nil: not every client
// library ships every form.
func handle[H any, S drivers.Conn, F any](c drivers.Conn, open func(S) F) (h H, err error) {
	session, ok := drivers.Capability[S](c)
	if ok {
		h, ok = any(open(session)).(H)
	}
	if !ok {
		return h, fmt.Errorf("this form by the session's client library: %w", drivers.ErrUnsupported)
	}
	return h, nil
}
