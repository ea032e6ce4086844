package recipe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Group is one client's handle on a group.
type Group interface {
	// Join makes this client a member until it leaves or its session is lost.
	Join(ctx context.Context) error
	// Name returns this member's name in the lists that Follow shows. Place returns its place in
	// the order of joining.
	Name() string
	Place() int64
	// Follow calls see with the names of the members, and again whenever this member is notified
	// of a change, until the context ends or the session is lost.
	Follow(ctx context.Context, see func(members []string)) error
	// Leave ends the membership of a member that no longer follows.
	Leave(ctx context.Context) error
}

// Groups returns the workload constructor for a form of group in which every member is notified of
// every change. All clients join. Then one client at a time leaves and joins again, each time when
// the members that are notified have seen the last change and the client has thought. open creates
// one client's handle on the group at a path, which is an existing node.
func Groups[S drivers.Conn, G Group](open func(c S, path string) G) workloads.Constructor {
	return groups(openerOf[Group](open), false)
}

// Rings is Groups for a form in which only neighbours are notified of a change.
func Rings[S drivers.Conn, G Group](open func(c S, path string) G) workloads.Constructor {
	return groups(openerOf[Group](open), true)
}

func groups(open opener[Group], ring bool) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		w := &groupWorkload{think: s.ThinkTime(), open: open, ring: ring,
			converge: s.Latency("converge"), change: s.Latency("change")}
		w.gathering = gather(s, 1, w.converge, w.change)
		return w
	}
}

type groupWorkload struct {
	gathering
	think time.Duration
	open  opener[Group]
	path  string

	ring       bool
	membership *check.Membership
	updates    *updates

	converge *metrics.Latency // from the request for a change until one member sees it
	change   *metrics.Latency // joining and leaving
}

// NeedsTwo returns what a member alone cannot have: it watches only its own changes.
func (w *groupWorkload) NeedsTwo() []string { return []string{workloads.WakeUps} }

func (w *groupWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.path, w.clients, w.updates = base+"/group", clients, newUpdates(clients, w.exchange, w.recorded, w.converge)
	w.membership = check.NewMembership(w.ring, func(change string) { w.exchange.Tell(membersTopic, change) })
	w.exchange.Handle(membersTopic, w.membership.Learn)
}

func (w *groupWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	return namespace.CreateNode(ctx, c, w.path, nil, 0)
}

func (w *groupWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *groupWorkload) join(s *workloads.Slot) (*groupClient, error) {
	g, err := w.open(s.Conn, w.path)
	if err != nil {
		return nil, err
	}
	return &groupClient{groupWorkload: w, slot: s, group: g}, nil
}

func (w *groupWorkload) Verdict() metrics.Safety { return w.membership.Verdict() }

// Settle lets all clients join, one at a time, and then leave, one at a time in the same order.
func (w *groupWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients, err := joinAll(st, w.join, func(c *groupClient) error {
		if err := st.Do(ctx, c.slot.Index, "joins", "", func(ctx context.Context) error {
			var following context.Context
			err := recordTime(c.slot, nil, c.change, time.Now(), func() (err error) {
				following, err = c.enter(ctx)
				return err
			})
			if err != nil {
				return err
			}
			return c.follow(following)
		}); err != nil {
			return err
		}
		w.membership.CheckAll()
		return nil
	})
	if err != nil {
		return err
	}
	for i, c := range clients {
		if err := st.Do(ctx, i, "leaves", "", func(ctx context.Context) error {
			return recordTime(c.slot, nil, c.change, time.Now(), func() error { return c.leave(ctx) })
		}); err != nil {
			return err
		}
		w.membership.CheckAll()
	}
	return nil
}

// A groupClient is one client that joins and leaves.
type groupClient struct {
	*groupWorkload
	slot    *workloads.Slot
	group   Group
	member  *check.GroupMember      // nil if the client is not a member
	stop    context.CancelCauseFunc // ends its Follow
	stopped chan struct{}           // closed when it no longer follows
}

// membersTopic is the name under which processes tell each other of changes of membership.
const membersTopic = "members"

// errLeaves ends the Follow of a client that leaves.
var errLeaves = errors.New("leaves the group")

// Turn observes one change of membership. The client whose change it is also makes it. A client
// with a new session joins again first.
func (c *groupClient) Turn(ctx context.Context) (rounds int64, err error) {
	who, leaves := c.changes(c.slot.TurnsTaken())
	mine := who == c.slot.Index
	if c.member == nil && c.slot.TurnsTaken() > int64(c.slot.Index) && (leaves || !mine) {
		if err := c.come(ctx); err != nil {
			return 0, err
		}
	}
	if err := c.converged(ctx, nil); err != nil {
		return 0, err
	}
	c.slot.Marks.PhaseBegin()
	s := c.updates.join(c.slot)
	if mine {
		if err := c.makeChange(ctx, s, leaves); err != nil {
			return 0, fmt.Errorf("change: %w", err)
		}
	}
	if err := s.awaitMade(ctx); err != nil {
		return 0, err
	}
	if err := c.converged(ctx, s); err != nil {
		return 0, err
	}
	c.slot.Marks.PhaseEnd()
	return c.updates.leave(ctx, c.slot), nil
}

// changes returns which client changes its membership in a turn, and whether it leaves. First all
// clients join, one after the other. After that, a client chosen at random leaves in one turn and
// joins again in the next.
func (w *groupWorkload) changes(turn int64) (who int, leaves bool) {
	turn -= int64(w.clients)
	if turn < 0 {
		return int(turn) + w.clients, false
	}
	draw := rand.New(rand.NewPCG(uint64(turn/2), 0))
	return draw.IntN(w.clients), turn%2 == 0
}

func (c *groupClient) makeChange(ctx context.Context, s *update, leaves bool) error {
	change := c.come
	if leaves {
		change = c.leave
	}
	return s.make(ctx, c.slot, c.think, func(due time.Time) error {
		return recordTime(c.slot, &s.times, c.change, due, func() error { return change(ctx) })
	})
}

// come joins and follows until the client leaves, the session is lost or the run ends.
func (c *groupClient) come(ctx context.Context) error {
	following, err := c.enter(ctx)
	if err == nil {
		go c.follow(following)
	}
	return err
}

// enter joins and returns the context to follow under.
func (c *groupClient) enter(ctx context.Context) (following context.Context, err error) {
	if err := c.group.Join(ctx); err != nil {
		return nil, err
	}
	c.member = c.membership.Joined(c.slot.Index, c.group.Name(), c.group.Place())
	following, c.stop = context.WithCancelCause(ctx)
	c.stopped = make(chan struct{})
	return following, nil
}

// follow passes what the client sees to the check until the client leaves.
func (c *groupClient) follow(ctx context.Context) error {
	defer close(c.stopped)
	m := c.member
	err := c.group.Follow(ctx, func(names []string) { c.membership.Saw(m, names) })
	c.membership.Stopped(m, err)
	if context.Cause(ctx) == errLeaves {
		return nil
	}
	return err
}

func (c *groupClient) leave(ctx context.Context) error {
	c.stop(errLeaves)
	<-c.stopped
	if err := c.group.Leave(ctx); err != nil {
		return err
	}
	c.membership.Left(c.member)
	c.member = nil
	return nil
}

// converged waits until this client, if it is a member, sees what it must. With an update it
// records how long that took.
func (c *groupClient) converged(ctx context.Context, s *update) error {
	if c.member == nil {
		return nil
	}
	before := c.slot.Disturbances()
	at, err := c.membership.Await(ctx, c.member)
	if err != nil {
		if ctx.Err() != nil && s != nil && c.slot.Disturbances() == before {
			c.membership.CheckMember(c.member)
		}
		return fmt.Errorf("follow: %w", err)
	}
	if s != nil {
		s.converged(c.slot, at)
	}
	return nil
}
