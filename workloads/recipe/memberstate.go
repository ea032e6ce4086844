package recipe

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A MemberState is one member's handle on the states of all members.
type MemberState interface {
	// Update changes this member's state to a result of change, which gets the state, nil if there is
	// none. ErrBadVersion means that the member has given up: the update was not applied.
	Update(ctx context.Context, change func(state []byte) []byte) error
	// States returns the states of all members, by name.
	States(ctx context.Context) (map[string][]byte, error)
}

// MemberStates returns the workload constructor for a form of member state. In each turn all members
// update their states at the same time, and a round is one of these updates. A member that gives up
// begins its update again. When all updates are acknowledged, one member, in turn, reads the states of
// all, and in the end every member does. open creates the handle of the member with a name on the
// states at a path, which is an existing node.
func MemberStates[S drivers.Conn, M MemberState](open func(c S, path, member string) M) workloads.Constructor {
	newState := func(c drivers.Conn, path, member string) (MemberState, error) {
		return handle[MemberState](c, func(session S) M { return open(session, path, member) })
	}
	return func(s workloads.Settings) workloads.Workload {
		w := &memberStateWorkload{think: s.ThinkTime(), updateCount: s.UpdateCount(), open: newState,
			update: s.Latency("update"), giveUp: s.Latency("give-up")}
		w.gathering = gather(s, 0, w.update, w.giveUp)
		return w
	}
}

type memberStateWorkload struct {
	gathering
	think       time.Duration
	updateCount int64 // of each member in a settled run
	open        func(c drivers.Conn, path, member string) (MemberState, error)
	path        string
	names       []string
	progress    []memberProgress // by client
	states      *check.MemberStates

	update *metrics.Latency // from the request for an update until it is acknowledged
	giveUp *metrics.Latency // from the request until the member gives up
}

// A memberProgress is how far one client is, in all its sessions.
type memberProgress struct {
	begun, acknowledged atomic.Int64 // updates
	ready               atomic.Int64 // turns for which it was ready
}

func (w *memberStateWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.path, w.clients, w.progress = base+"/states", clients, make([]memberProgress, clients)
	for i := range clients {
		w.names = append(w.names, fmt.Sprintf("member-%d", i+1))
	}
	w.states = check.NewMemberStates(w.names)
}

func (w *memberStateWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	return namespace.CreateNode(ctx, c, w.path, nil, 0)
}

func (w *memberStateWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *memberStateWorkload) join(s *workloads.Slot) (*memberStateClient, error) {
	m, err := w.open(s.Conn, w.path, w.names[s.Index])
	if err != nil {
		return nil, err
	}
	return &memberStateClient{w, s, m, &w.progress[s.Index]}, nil
}

func (w *memberStateWorkload) Verdict() metrics.Safety { return w.states.Verdict() }

// Judge finds nothing: each process knows how many updates all members have made after each turn.
func (w *memberStateWorkload) Judge(divided.Gathered) divided.Findings { return divided.Findings{} }

// Settle lets all members make an update, one at a time, and then one member read all states, as many
// times as there are updates.
func (w *memberStateWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients, err := joinAll(st, w.join, nil)
	if err != nil {
		return err
	}
	for turn := range w.updateCount {
		for i, c := range clients {
			update := func(ctx context.Context) error { return c.makeUpdate(ctx, turn+1, time.Now()) }
			if err := st.Do(ctx, i, "updates its state", "", update); err != nil {
				return err
			}
		}
		reader := w.reader(turn)
		read := func(ctx context.Context) error { return clients[reader].readAll(ctx, turn+1) }
		if err := st.Do(ctx, reader, "reads all states", "", read); err != nil {
			return err
		}
	}
	return nil
}

// reader returns the client that reads all states in a turn.
func (w *memberStateWorkload) reader(turn int64) int { return int(turn % int64(w.clients)) }

// A memberStateClient is one member that updates its state.
type memberStateClient struct {
	*memberStateWorkload
	slot   *workloads.Slot
	member MemberState
	*memberProgress
}

// updatedTopic is announced by a member whose update of the turn is acknowledged.
const updatedTopic = "updated"

// Turn makes one update at the same time as all other members, and waits until theirs are
// acknowledged. A client with a new session continues where its last one was.
func (c *memberStateClient) Turn(ctx context.Context) (rounds int64, err error) {
	turn := c.slot.TurnsTaken()
	// The others have written since, and its member of an ensemble may not know of it yet.
	if err := drivers.Steady(c.slot.Conn).Sync(ctx, c.path); err != nil {
		return 0, err
	}
	if c.ready.CompareAndSwap(turn, turn+1) {
		c.exchange.Announce(readyTopic, turn)
	}
	if err := c.exchange.Await(ctx, readyTopic, turn, c.clients); err != nil {
		return 0, err
	}
	if c.acknowledged.Load() == turn {
		due, _ := c.slot.Arrive(ctx, c.think) // all others wait for its update, even if no more turns begin
		c.slot.Marks.PhaseBegin()
		if err := c.makeUpdate(ctx, turn+1, due); err != nil {
			return 0, err
		}
		c.slot.Marks.PhaseEnd()
		c.exchange.Announce(updatedTopic, turn)
	}
	if err := c.exchange.Await(ctx, updatedTopic, turn, c.clients); err != nil {
		return 0, err
	}
	if c.reader(turn) == c.slot.Index {
		if err := c.readAll(ctx, turn+1); err != nil {
			return 0, err
		}
	}
	return 1, nil
}

// Finish reads all states once more.
func (c *memberStateClient) Finish(ctx context.Context) (rounds int64, err error) {
	return 0, c.readAll(ctx, c.slot.TurnsTaken())
}

// makeUpdate makes the update with the number, counted from 1, until it is acknowledged.
func (c *memberStateClient) makeUpdate(ctx context.Context, number int64, due time.Time) error {
	unknown := !c.begun.CompareAndSwap(number-1, number) // a lost session may have made it
	update := func() error {
		return c.member.Update(ctx, func(state []byte) []byte { return check.NextState(state, number, unknown) })
	}
	for {
		asked := time.Now()
		err := update()
		now := time.Now()
		switch {
		case err == nil:
			c.acknowledged.Store(number)
			c.slot.Record(c.update, now.Sub(asked), now.Sub(due))
			return nil
		case !errors.Is(err, drivers.ErrBadVersion):
			return err
		}
		c.slot.Record(c.giveUp, now.Sub(asked), now.Sub(due))
	}
}

func (c *memberStateClient) readAll(ctx context.Context, updates int64) error {
	if err := drivers.Steady(c.slot.Conn).Sync(ctx, c.path); err != nil {
		return err
	}
	states, err := c.member.States(ctx)
	if err != nil {
		return err
	}
	c.states.Saw(c.slot.Index, states, updates)
	return nil
}
