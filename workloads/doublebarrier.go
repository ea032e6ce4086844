package workloads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A DoubleBarrier is one client's handle on a double barrier.
type DoubleBarrier interface {
	// Enter blocks until all clients have come. The context it returns ends when the session is
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
func DoubleBarriers[S drivers.Conn, B DoubleBarrier](open func(c S, path string, clients int) B) func(Settings) Workload {
	newBarrier := func(c drivers.Conn, path string, clients int) (DoubleBarrier, error) {
		return handle[DoubleBarrier](c, func(session S) B { return open(session, path, clients) })
	}
	return func(s Settings) Workload {
		return &doubleBarrierWorkload{hold: s.hold(), newBarrier: newBarrier,
			enter: s.latency("enter"), leave: s.latency("leave")}
	}
}

type doubleBarrierWorkload struct {
	hold         time.Duration
	newBarrier   func(c drivers.Conn, path string, clients int) (DoubleBarrier, error)
	clients      int
	rounds       rounds[stay]
	enter, leave *metrics.Latency
}

// A stay is the state of one round: all clients enter and all leave.
type stay struct {
	in, out *gate

	mu     sync.Mutex
	places map[*Seat]int64 // of a Placed form
}

func (w *doubleBarrierWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.clients = clients
	w.rounds = rounds[stay]{admin: c, stem: base + "/barrier-", seats: clients, begin: w.begin, judge: judgeStay}
	return w.rounds.first(ctx)
}

func (w *doubleBarrierWorkload) begin(ctx context.Context, path string) (*stay, error) {
	return &stay{
		in:     newGate(w.clients, "was in before all had come"),
		out:    newGate(w.clients, "was out before those it waits for wanted to leave"),
		places: make(map[*Seat]int64),
	}, makeNode(ctx, w.rounds.admin, path, nil, 0)
}

func judgeStay(safety *metrics.Safety, s *stay, disturbed func(*Seat) bool) {
	s.in.judge(safety, everybody, disturbed)
	if len(s.places) == 0 {
		s.out.judge(safety, everybody, disturbed)
		return
	}
	safety.Weaker = "a client waits only for those below it to leave"
	s.out.judge(safety, func(seat, other *Seat) bool { return s.places[other] < s.places[seat] }, disturbed)
}

func (w *doubleBarrierWorkload) Together() bool { return true }

func (w *doubleBarrierWorkload) Join(s *Seat) (Client, error) { return &doubleBarrierClient{w, s}, nil }

func (w *doubleBarrierWorkload) Begin() {
	w.enter.Reset()
	w.leave.Reset()
}

func (w *doubleBarrierWorkload) Lap() metrics.Lap { return w.enter.Lap() }

func (w *doubleBarrierWorkload) End(r *metrics.Record) {
	r.Phases = []metrics.Phase{w.enter.Phase(), w.leave.Phase()}
	r.Rounds = r.Phases[1].Service.TotalCount() / int64(w.clients)
}

func (w *doubleBarrierWorkload) Verdict() metrics.Safety { return w.rounds.verdict() }

// Settle lets all clients enter, one at a time, and then leave, one at a time, the last one first.
func (w *doubleBarrierWorkload) Settle(ctx context.Context, st *Stage) error {
	visits := make([]*visit, len(st.Seats))
	for i, seat := range st.Seats {
		c := &doubleBarrierClient{w, seat}
		st.Do(ctx, i, "comes", "goes in", func(ctx context.Context) (err error) {
			visits[i], err = c.goIn(ctx)
			return err
		})
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	if slices.Contains(visits, nil) {
		return errors.New("all have come and somebody still waits to be let in")
	}
	for i, v := range slices.Backward(visits) {
		st.Do(ctx, i, "wants to leave", "goes out", v.goOut)
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A doubleBarrierClient enters and leaves in each round.
type doubleBarrierClient struct {
	*doubleBarrierWorkload
	seat *Seat
}

// A visit is one client's part in one round.
type visit struct {
	*doubleBarrierClient
	stay    *stay
	barrier DoubleBarrier
	inside  context.Context
}

func (c *doubleBarrierClient) Turn(ctx context.Context) (int64, error) {
	v, err := c.goIn(ctx)
	if err != nil {
		return 0, err
	}
	c.seat.keep(v.inside, c.hold)
	if err := v.goOut(ctx); err != nil {
		return 0, err
	}
	return c.rounds.finish(ctx, c.seat)
}

func (c *doubleBarrierClient) goIn(ctx context.Context) (*visit, error) {
	r, err := c.rounds.join(ctx, c.seat)
	if err != nil {
		return nil, err
	}
	b, err := c.newBarrier(c.seat.Conn, r.path, c.clients)
	if err != nil {
		return nil, err
	}
	r.share.in.come(c.seat)
	began := time.Now()
	c.seat.Marks.PhaseBegin()
	inside, err := b.Enter(ctx)
	now := time.Now()
	c.seat.Marks.PhaseEnd()
	if err != nil {
		return nil, fmt.Errorf("enter: %w", err)
	}
	r.share.in.past(c.seat, now)
	c.enter.Record(now.Sub(began), r.responded(now, now.Sub(began)))
	if p, ok := b.(Placed); ok {
		r.share.placed(c.seat, p.Place())
	}
	return &visit{c, r.share, b, inside}, nil
}

func (v *visit) goOut(ctx context.Context) error {
	v.stay.out.come(v.seat)
	began := time.Now()
	v.seat.Marks.PhaseBegin()
	err := v.barrier.Leave(ctx)
	now := time.Now()
	v.seat.Marks.PhaseEnd()
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	v.stay.out.past(v.seat, now)
	v.leave.Record(now.Sub(began), now.Sub(began))
	return nil
}

func (s *stay) placed(seat *Seat, place int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[seat] = place
}
