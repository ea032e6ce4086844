package workloads

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Barrier is one session's handle on a barrier that blocks all clients.
type Barrier interface {
	// Set creates the barrier.
	Set(ctx context.Context) error
	// Wait blocks until the barrier is open.
	Wait(ctx context.Context) error
	// Open opens the barrier and releases all clients that wait.
	Open(ctx context.Context) error
}

// Barriers returns the workload constructor for a form of barrier. In each round all clients wait
// at a barrier. When the last has come and the hold has passed, the opener, which is not a client
// and has its own session, opens it. Creating the barrier is not counted. open creates one
// session's handle on the barrier at a path. Before Set only the path's parent exists.
func Barriers[S drivers.Conn, B Barrier](open func(c S, path string) B) func(Settings) Workload {
	return func(s Settings) Workload {
		return &barrierWorkload{
			hold: s.hold(), polls: s.Polls, newBarrier: at[Barrier](open),
			pass: s.latency("pass"), open: s.latency("open"),
		}
	}
}

type barrierWorkload struct {
	hold       time.Duration
	polls      int
	newBarrier opener[Barrier]
	clients    int
	rounds     rounds[opening]

	pass *metrics.Latency // from the opening until one client is past
	open *metrics.Latency
}

// An opening is the state of one round: one barrier that is opened once.
type opening struct {
	waiting *gate // each client comes to it, then the opener opens the barrier
	opened  *gate // the opener comes to it, then clients may be past
}

func (w *barrierWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.clients = clients
	w.rounds = rounds[opening]{admin: c, stem: base + "/barrier-", seats: clients + 1, begin: w.begin, judge: judgeOpening}
	return w.rounds.first(ctx)
}

func (w *barrierWorkload) begin(ctx context.Context, path string) (*opening, error) {
	b, err := w.newBarrier(w.rounds.admin, path)
	if err != nil {
		return nil, err
	}
	return &opening{
		waiting: newGate(w.clients, ""),
		opened:  newGate(1, "was past the barrier before it was opened"),
	}, b.Set(ctx)
}

func judgeOpening(s *metrics.Safety, o *opening, disturbed func(*Seat) bool) {
	o.opened.judge(s, everybody, disturbed)
}

// Leads returns true: the leader opens the barrier.
func (w *barrierWorkload) Leads() bool { return true }

func (w *barrierWorkload) Together() bool { return true }

func (w *barrierWorkload) Join(s *Seat) (Client, error) {
	if s.Index == w.clients {
		return &barrierOpener{w, s}, nil
	}
	return &barrierClient{w, s}, nil
}

func (w *barrierWorkload) Begin() {
	w.pass.Reset()
	w.open.Reset()
}

func (w *barrierWorkload) Lap() metrics.Lap { return w.pass.Lap() }

func (w *barrierWorkload) End(r *metrics.Record) {
	r.Phases = []metrics.Phase{w.pass.Phase(), w.open.Phase()}
	r.Rounds = r.Phases[1].Service.TotalCount()
}

func (w *barrierWorkload) Verdict() metrics.Safety { return w.rounds.verdict() }

// Settle lets all clients come to the barrier, one at a time, and opens it. Forms that poll look
// Polls more times, the last time just after the opening.
func (w *barrierWorkload) Settle(ctx context.Context, st *Stage) error {
	for i, seat := range st.Seats[:w.clients] {
		c := &barrierClient{w, seat}
		st.Do(ctx, i, "arrives", "goes on", func(ctx context.Context) error {
			_, err := c.Turn(ctx)
			return err
		})
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	for range w.polls - 1 {
		st.Tick()
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	opener := &barrierOpener{w, st.Seats[w.clients]}
	r, err := w.rounds.join(ctx, opener.seat)
	if err != nil {
		return err
	}
	st.Do(ctx, w.clients, "opens the barrier", "", func(ctx context.Context) error { return opener.openBarrier(ctx, r) })
	if err := st.Rest(ctx); err != nil {
		return err
	}
	st.Tick()
	return st.Rest(ctx)
}

// A barrierClient waits at the barrier of each round.
type barrierClient struct {
	*barrierWorkload
	seat *Seat
}

func (c *barrierClient) Turn(ctx context.Context) (int64, error) {
	r, err := c.rounds.join(ctx, c.seat)
	if err != nil {
		return 0, err
	}
	b, err := c.newBarrier(c.seat.Conn, r.path)
	if err != nil {
		return 0, err
	}
	r.share.waiting.come(c.seat)
	c.seat.Marks.PhaseBegin()
	err = b.Wait(ctx)
	now := time.Now()
	c.seat.Marks.PhaseEnd()
	if err != nil {
		return 0, err
	}
	if took, opened := r.share.opened.past(c.seat, now); opened {
		c.pass.Record(took, r.responded(now, took))
	}
	// No client may run ahead through barriers that fail to block.
	if err := r.share.opened.wait(ctx); err != nil {
		return 0, err
	}
	return c.rounds.finish(ctx, c.seat)
}

// A barrierOpener opens the barrier of each round.
type barrierOpener struct {
	*barrierWorkload
	seat *Seat
}

func (o *barrierOpener) Turn(ctx context.Context) (int64, error) {
	r, err := o.rounds.join(ctx, o.seat)
	if err != nil {
		return 0, err
	}
	if err := r.share.waiting.wait(ctx); err != nil {
		return 0, err
	}
	o.seat.keep(ctx, o.hold)
	if err := o.openBarrier(ctx, r); err != nil {
		return 0, err
	}
	return o.rounds.finish(ctx, o.seat)
}

func (o *barrierOpener) openBarrier(ctx context.Context, r *round[opening]) error {
	b, err := o.newBarrier(o.seat.Conn, r.path)
	if err != nil {
		return err
	}
	r.share.opened.come(o.seat)
	began := time.Now()
	if err := b.Open(ctx); err != nil {
		return err
	}
	now := time.Now()
	took := now.Sub(began)
	o.open.Record(took, r.responded(now, took))
	return nil
}
