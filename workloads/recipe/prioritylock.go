package recipe

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A PriorityLock is one client's handle on a shared lock that goes to the most urgent of those that
// wait, and whose holders are asked to release it by clients that are more urgent. With force, it
// is a [Deposer] too.
type PriorityLock interface {
	// AcquireRead and AcquireWrite work like [Lock.Acquire]. Of the clients that wait, those with the
	// least number come first, and among these the one that asked first.
	AcquireRead(ctx context.Context, priority uint16) (held context.Context, err error)
	AcquireWrite(ctx context.Context, priority uint16) (held context.Context, err error)
	// Revoked blocks until a more urgent client wants the lock. It works like [RevocableLock.Revoked].
	Revoked(ctx context.Context) error
	// Token is like [SharedLock.Token].
	Token() int64
	// Release releases the lock.
	Release(ctx context.Context) error
}

// urgentEvery sets how often a round is urgent: one in urgentEvery of each client. If the same
// clients were always urgent, the others would not get the lock while there is contention.
const urgentEvery = 4

// The priorities of a run.
const (
	urgent uint16 = iota
	ordinary
)

// PriorityLocks returns the workload constructor for a form of priority lock. It is the workload of
// a revocable lock, except that it is the urgent clients that ask the others to release the lock.
// open creates one client's handle on the lock at a path, which is an existing node.
func PriorityLocks[S drivers.Conn, L PriorityLock](open func(c S, path string) L) workloads.Constructor {
	lock := openerOf[PriorityLock](open)
	side := func(c drivers.Conn, path string) (SharedLock, error) {
		line := &lineObserver{Conn: c, queued: func() {}, leaving: func() {}}
		l, err := lock(line, path)
		return &prioritySide{PriorityLock: l, line: line}, err
	}
	return func(s workloads.Settings) workloads.Workload {
		w := &priorityWorkload{newSharedWorkload(s, side, "urgent", "ordinary"), check.NewPriorityJudge()}
		w.recorded.JudgeBy(func(s check.TimedStep) {
			w.judge.Take(s)
			w.order.Take(s)
		})
		return w
	}
}

// A prioritySide is a priority lock used as a shared lock, with one priority.
type prioritySide struct {
	PriorityLock
	line     *lineObserver
	priority uint16
}

func (l *prioritySide) AcquireRead(ctx context.Context) (held context.Context, err error) {
	return l.PriorityLock.AcquireRead(ctx, l.priority)
}

func (l *prioritySide) AcquireWrite(ctx context.Context) (held context.Context, err error) {
	return l.PriorityLock.AcquireWrite(ctx, l.priority)
}

// A lineObserver is a session that notices when its client has joined the line, and when it is about to
// leave it.
type lineObserver struct {
	drivers.Conn
	node            string
	queued, leaving func()
}

func (o *lineObserver) Create(ctx context.Context, node string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	child, err := o.Conn.Create(ctx, node, data, mode)
	if err == nil {
		o.node = child.Name
		o.queued()
	}
	return child, err
}

func (o *lineObserver) Delete(ctx context.Context, node string, version int32) error {
	if path.Base(node) == o.node {
		o.leaving()
	}
	return o.Conn.Delete(ctx, node, version)
}

type priorityWorkload struct {
	*sharedWorkload
	order *check.PriorityJudge
}

func (w *priorityWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *priorityWorkload) join(s *workloads.Slot) (*priorityClient, error) {
	c, err := w.sharedWorkload.join(s)
	if err != nil {
		return nil, err
	}
	side := c.lock.(*sharedLockSide).SharedLock.(*prioritySide)
	step := func(kind check.StepKind) func() {
		return func() { w.recorded.Record(check.Step{Kind: kind, Client: s.Index}) }
	}
	side.line.queued, side.line.leaving = step(check.Queued), step(check.Leaving)
	return &priorityClient{tenant: newTenant(c, side.PriorityLock), side: side}, nil
}

func (w *priorityWorkload) Verdict() metrics.Safety {
	return w.sharedWorkload.Verdict().Add(w.order.Verdict(), check.MaxDetails)
}

// Judge also judges the order of the grants.
func (w *priorityWorkload) Judge(g divided.Gathered) divided.Findings {
	f := w.sharedWorkload.Judge(g)
	order := check.NewPriorityJudge()
	for _, s := range check.InOrder(g.Steps) {
		order.Take(s)
	}
	safety := f.Safety.Add(order.Verdict(), check.MaxDetails)
	f.Safety = &safety
	return f
}

// Settle lets all clients arrive to write, one at a time, each more urgent than those before. Forms
// with force depose the holder then. Otherwise the first holder releases the lock on request, and the
// others, the last one first, when they have had their turn.
func (w *priorityWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients, err := joinAll(st, w.join, func(c *priorityClient) error {
		c.take(false)
		c.want(uint16(len(st.Slots) - 1 - c.slot.Index))
		if err := st.Do(ctx, c.slot.Index, "arrives", w.terms.holds, func(ctx context.Context) error {
			_, err := c.acquireLock(ctx)
			return err
		}); err != nil {
			return err
		}
		return st.Tick(ctx, 1)
	})
	if err != nil {
		return err
	}
	left := make([]bool, len(clients))
	for range clients {
		i := slices.IndexFunc(clients, func(c *priorityClient) bool { return c.holds() })
		if i < 0 {
			return fmt.Errorf("no client holds the lock and all clients wait")
		}
		c, title := clients[i], "releases at the end of its turn"
		asked := slices.Contains(left[i+1:], false)
		if asked {
			title = "releases on request"
		}
		if err := st.Do(ctx, i, title, "", func(ctx context.Context) error {
			if asked {
				if err := c.asked.Revoked(ctx); err != nil && !c.wasDeposed(err) {
					return err
				}
			}
			return c.releaseLock(ctx)
		}); err != nil {
			return err
		}
		left[i] = true
	}
	return nil
}

// A priorityClient is one client that performs rounds.
type priorityClient struct {
	*tenant
	side  *prioritySide
	turns int
}

// want sets the priority of the next acquisition.
func (c *priorityClient) want(priority uint16) {
	c.side.priority, c.priority = priority, int64(priority)
	c.acquired = c.steps[min(priority, ordinary)]
}

// Turn takes a turn as a reader or a writer.
func (c *priorityClient) Turn(ctx context.Context) (rounds int64, err error) {
	c.draw()
	priority := ordinary
	if (c.slot.Index+c.turns)%urgentEvery == 0 {
		priority = urgent
	}
	c.turns++
	c.want(priority)
	if !c.arrives(ctx) {
		return 0, nil
	}
	return c.hold(ctx, c.acquireLock)
}

// acquireLock also records how many clients were deposed by force.
func (c *priorityClient) acquireLock(ctx context.Context) (held context.Context, err error) {
	held, err = c.tenant.acquireLock(ctx)
	c.recordForce()
	return held, err
}
