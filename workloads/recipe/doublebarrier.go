package recipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A DoubleBarrier is one client's handle on a double barrier.
type DoubleBarrier interface {
	// Enter blocks until all clients have arrived. The context it returns ends when the session is
	// lost, and when Leave is called.
	Enter(ctx context.Context) (inside context.Context, err error)
	// Leave blocks until all clients want to leave.
	Leave(ctx context.Context) error
}

// A Placed double barrier has a weaker guarantee: its Leave waits only for clients with a lower
// place.
type Placed interface {
	DoubleBarrier
	// Place returns the client's place once it has entered.
	Place() int64
}

// DoubleBarriers returns the workload constructor for a form of double barrier. In each round all
// clients enter, stay inside for the hold, and leave. open creates one client's handle on the
// double barrier at a path, which is an existing node, for this number of clients.
func DoubleBarriers[S drivers.Conn, B DoubleBarrier](open func(c S, path string, clients int) B) workloads.Constructor {
	newBarrier := func(c drivers.Conn, path string, clients int) (DoubleBarrier, error) {
		return handle[DoubleBarrier](c, func(session S) B { return open(session, path, clients) })
	}
	return func(s workloads.Settings) workloads.Workload {
		w := &doubleBarrierWorkload{hold: s.HoldTime(), newBarrier: newBarrier, enter: s.Latency("enter"), leave: s.Latency("leave")}
		w.gathering = gather(s, 1, w.enter, w.leave)
		w.perClient = true
		return w
	}
}

type doubleBarrierWorkload struct {
	gathering
	hold         time.Duration
	newBarrier   func(c drivers.Conn, path string, clients int) (DoubleBarrier, error)
	rounds       workloads.Rounds
	judge        *check.RoundJudge[doubleBarrierRound]
	enter, leave *metrics.Latency
}

// A doubleBarrierRound is what the judge knows of one round: all clients enter and all leave.
type doubleBarrierRound struct {
	in, out *check.Barrier
	places  map[check.Client]int64 // of a Placed form
}

func (w *doubleBarrierWorkload) Attach(admin drivers.Conn, base string, clients int) {
	w.clients = clients
	w.rounds = workloads.Rounds{Admin: admin, PathPrefix: base + "/barrier-", Slots: clients, Create: createPath,
		Exchange: w.exchange, Steps: w.recorded}
	w.judge = newDoubleBarrierJudge(clients)
	w.recorded.JudgeBy(w.judge.Take)
}

func (w *doubleBarrierWorkload) Setup(ctx context.Context, _ drivers.Conn) error {
	return w.rounds.CreateFirst(ctx)
}

// createPath creates the node of a round.
func createPath(ctx context.Context, c drivers.Conn, path string) error {
	return namespace.CreateNode(ctx, c, path, nil, 0)
}

// The points of a round.
const (
	entersPoint = "enters"
	leavesPoint = "leaves"
)

// Judge judges whether clients were in, or out, too early.
func (w *doubleBarrierWorkload) Judge(g divided.Gathered) divided.Findings {
	safety := newDoubleBarrierJudge(g.Clients).TakeAll(g.Steps)
	return divided.Findings{Safety: &safety}
}

func newDoubleBarrierJudge(clients int) *check.RoundJudge[doubleBarrierRound] {
	return &check.RoundJudge[doubleBarrierRound]{
		Slots: clients,
		Share: func() *doubleBarrierRound {
			return &doubleBarrierRound{
				in:     check.NewBarrier(clients, "was in before all clients arrived"),
				out:    check.NewBarrier(clients, "was out before the clients that it waits for wanted to leave"),
				places: make(map[check.Client]int64),
			}
		},
		Apply: applyDoubleBarrier, Judge: judgeDoubleBarrier,
	}
}

func applyDoubleBarrier(r *doubleBarrierRound, c check.Client, s check.TimedStep) {
	at := r.in
	if s.Name == leavesPoint {
		at = r.out
	}
	switch s.Kind {
	case check.Arrived:
		at.Arrive(c)
	case check.Passed:
		at.Pass(c)
	case check.Placed:
		r.places[c] = s.Value
	}
}

func judgeDoubleBarrier(safety *metrics.Safety, s *doubleBarrierRound, disturbed func(check.Client) bool) {
	s.in.Judge(safety, check.AllClients, disturbed)
	if len(s.places) == 0 {
		s.out.Judge(safety, check.AllClients, disturbed)
		return
	}
	safety.Weaker = "a client waits only for those below it to leave"
	s.out.Judge(safety, func(slot, other check.Client) bool { return s.places[other] < s.places[slot] }, disturbed)
}

func (w *doubleBarrierWorkload) Join(s *workloads.Slot) (workloads.Client, error) {
	return &doubleBarrierClient{w, s}, nil
}

func (w *doubleBarrierWorkload) Verdict() metrics.Safety {
	w.rounds.End()
	return w.judge.Verdict()
}

// Settle lets all clients enter, one at a time, and then leave, one at a time, the last one first.
func (w *doubleBarrierWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	visits := make([]*visit, len(st.Slots))
	for i, slot := range st.Slots {
		c := &doubleBarrierClient{w, slot}
		if err := st.Do(ctx, i, "arrives", "enters", func(ctx context.Context) (err error) {
			visits[i], err = c.goIn(ctx)
			return err
		}); err != nil {
			return err
		}
	}
	if slices.Contains(visits, nil) {
		return errors.New("all clients have arrived and one still waits to enter")
	}
	for i, v := range slices.Backward(visits) {
		if err := st.Do(ctx, i, "wants to leave", "leaves", v.goOut); err != nil {
			return err
		}
	}
	return nil
}

// A doubleBarrierClient enters and leaves in each round.
type doubleBarrierClient struct {
	*doubleBarrierWorkload
	slot *workloads.Slot
}

// A visit is one client's part in one round.
type visit struct {
	*doubleBarrierClient
	stay    *workloads.Round
	barrier DoubleBarrier
	inside  context.Context
}

func (c *doubleBarrierClient) Turn(ctx context.Context) (int64, error) {
	v, err := c.goIn(ctx)
	if err != nil {
		return 0, err
	}
	c.slot.Hold(v.inside, c.hold)
	if err := v.goOut(ctx); err != nil {
		return 0, err
	}
	return c.rounds.Finish(ctx, c.slot)
}

func (c *doubleBarrierClient) goIn(ctx context.Context) (*visit, error) {
	r, err := c.rounds.Join(ctx, c.slot)
	if err != nil {
		return nil, err
	}
	b, err := c.newBarrier(c.slot.Conn, r.Path, c.clients)
	if err != nil {
		return nil, err
	}
	c.rounds.Arrive(r, c.slot, entersPoint)
	began := time.Now()
	c.slot.Marks.PhaseBegin()
	inside, err := b.Enter(ctx)
	now := time.Now()
	c.slot.Marks.PhaseEnd()
	if err != nil {
		return nil, fmt.Errorf("enter: %w", err)
	}
	c.rounds.Note(r, c.slot, now, check.Step{Kind: check.Passed, Name: entersPoint})
	c.rounds.Record(c.enter, r, c.slot, now, now.Sub(began))
	if p, ok := b.(Placed); ok {
		c.rounds.Note(r, c.slot, now, check.Step{Kind: check.Placed, Value: p.Place()})
	}
	return &visit{c, r, b, inside}, nil
}

func (v *visit) goOut(ctx context.Context) error {
	v.rounds.Arrive(v.stay, v.slot, leavesPoint)
	began := time.Now()
	v.slot.Marks.PhaseBegin()
	err := v.barrier.Leave(ctx)
	now := time.Now()
	v.slot.Marks.PhaseEnd()
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	v.rounds.Note(v.stay, v.slot, now, check.Step{Kind: check.Passed, Name: leavesPoint})
	v.slot.RecordIn(&v.stay.Times, v.leave, now.Sub(began), now.Sub(began))
	return nil
}
