package workloads

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/pace"
)

// A runner is a run that goes on.
type runner struct {
	plan  Plan
	crew  *crew
	pacer *pace.Pacer // of an open loop; nil in a closed one
	// beside is what goes on at the same time; nil if nothing does.
	beside *backdrop

	rounds   context.Context // what rounds run under: it outlives the stop, so that they can end
	stopping atomic.Bool     // no round begins any more
	stop     chan struct{}   // closed with stopping
	stopOnce sync.Once
	gathered chan struct{} // closed when all clients have arrived; nil if they come at once
	begun    atomic.Bool   // the window is open
	hurried  bool          // the run was interrupted
	all      atomic.Int64  // rounds that ended at all
	before   atomic.Int64  // those of them that ended before it opened

	mu      sync.Mutex
	turns   []int64 // where a round takes all clients: how many turns somebody has begun, by instance
	errors  map[string]int64
	failure error
	cut     bool // rounds had to be abandoned
	queued  bool // they had: so many clients waited that their rounds would have taken too long
}

func newRunner(ctx context.Context, p Plan, c *crew) *runner {
	return &runner{plan: p, crew: c, rounds: context.WithoutCancel(ctx),
		stop: make(chan struct{}), turns: make([]int64, len(c.instances)), errors: make(map[string]int64)}
}

// halt makes every client stop after its round.
func (r *runner) halt() {
	r.stopOnce.Do(func() {
		r.stopping.Store(true)
		close(r.stop)
	})
}

// endTime is how long the rounds that have begun may take to end, and eachEndTime by
// how much longer for each client, since all of them may wait for a lock.
const (
	endTime     = 15 * time.Second
	eachEndTime = 5 * time.Millisecond
)

// roughEndTime is that where things are broken on purpose: sessions have to end, and
// servers to come back, before others can go on.
const roughEndTime = time.Minute

// letEnd waits for the rounds that have begun. Those that do not end in time, or cannot
// by what the window measured, are abandoned.
func (r *runner) letEnd(clients *sync.WaitGroup, abandon context.CancelFunc, window *metrics.Record) {
	if r.failed() {
		abandon() // there is nothing to keep whole
	}
	limit := endTime + time.Duration(len(r.crew.seats))*eachEndTime
	if r.plan.rough && !r.hurried {
		limit = roughEndTime
	}
	if r.queued = r.queueTime(window) > limit; r.queued {
		limit = 0
	}
	t := time.AfterFunc(limit, func() {
		r.mu.Lock()
		r.cut = true
		r.mu.Unlock()
		abandon()
	})
	defer t.Stop()
	clients.Wait()
}

// queueTime is how long the turns in progress when the window of a closed loop closed
// take at the rate of the window, where clients wait for one holder after the other; 0 if
// they do not, or if that rate is not known.
func (r *runner) queueTime(window *metrics.Record) time.Duration {
	if _, queue := r.crew.instances[0].(holding); !queue || window.Rounds == 0 || r.pacer != nil {
		return 0
	}
	return time.Duration(float64(window.Duration) * float64(window.Generator.Unfinished) / float64(window.Rounds))
}

func (r *runner) startClients() *sync.WaitGroup {
	var clients sync.WaitGroup
	r.spread()
	for _, s := range r.crew.seats {
		clients.Go(func() {
			if r.arrive(s) {
				r.client(s)
			}
		})
	}
	return &clients
}

// client takes turns until the run stops, with a new session whenever one is
// lost.
func (r *runner) client(s *Seat) {
	s.Stopping = r.stop
	for {
		err := r.attend(s)
		if err == nil {
			return
		}
		if r.plan.rough && !errors.Is(err, drivers.ErrSessionLost) && over(s.Conn) {
			err = fmt.Errorf("%w: %w", drivers.ErrSessionLost, err)
		}
		if r.noteError(s, err); r.failed() || r.rounds.Err() != nil {
			return
		}
		if !errors.Is(err, drivers.ErrSessionLost) {
			s.Conn.Close() // what is left of it goes with the session
		}
		if !r.reopen(s) {
			return
		}
	}
}

// over tells whether a session has ended, of which its client may be told a little
// later than that what it had made is gone.
func over(c drivers.Conn) bool {
	t := time.NewTimer(aLittle)
	defer t.Stop()
	select {
	case <-c.Done():
		return true
	case <-t.C:
		return false
	}
}

const aLittle = time.Second

// reopen gives a seat a new session, and tells whether the run goes on. Where
// things are broken on purpose it may have to try again.
func (r *runner) reopen(s *Seat) bool {
	for {
		err := s.open(r.rounds)
		if err == nil {
			return true
		}
		if r.noteError(s, err); r.failed() || r.rounds.Err() != nil {
			return false
		}
		keep(r.rounds, lapTime)
	}
}

// attend takes turns in one session.
func (r *runner) attend(s *Seat) error {
	c, err := r.crew.instances[s.instance].Join(s)
	if err != nil {
		return err
	}
	if lanes := lanesOf(c, s); len(lanes) > 1 {
		return r.pipeline(lanes)
	}
	defer s.cycle.stop()
	for r.again(s) {
		if err := r.turn(s, c); err != nil {
			return err
		}
		s.turns++
	}
	f, ok := c.(Finisher)
	if !ok {
		return nil
	}
	rounds, err := f.Finish(r.rounds)
	r.ended(rounds)
	return err
}

// turn has the client on the seat take one turn.
func (r *runner) turn(s *Seat, c Client) error {
	s.cycle.begin()
	rounds, err := c.Turn(r.rounds)
	if err != nil {
		s.cycle.stop()
		s.fails()
		return err
	}
	s.cycle.end()
	s.completes()
	s.harm.turned()
	r.ended(rounds)
	return nil
}

// again tells whether the client takes another turn.
func (r *runner) again(s *Seat) bool {
	if !r.crew.instances[s.instance].Together() {
		return !r.stopping.Load()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failure != nil || r.cut:
		return false
	case s.turns < r.turns[s.instance]: // others are in it
		return true
	case r.stopping.Load():
		return false
	}
	r.turns[s.instance] = s.turns + 1
	return true
}

func (r *runner) ended(rounds int64) {
	r.all.Add(rounds)
	if limit := r.plan.Rounds; limit > 0 && r.begun.Load() && r.done() >= limit {
		r.halt()
	}
}

// begin opens the window.
func (r *runner) begin() {
	r.before.Store(r.all.Load())
	r.begun.Store(true)
}

// done is how many rounds have ended in the window, which is open.
func (r *runner) done() int64 { return r.all.Load() - r.before.Load() }

func (r *runner) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure != nil
}

// noteError counts an error. A lost session is part of life, and where things are
// broken on purpose so is a connection that is lost or not had; any other means
// that the run cannot go on.
func (r *runner) noteError(s *Seat, err error) {
	sentinel := drivers.ErrSessionLost
	if !errors.Is(err, sentinel) {
		sentinel = drivers.ErrConnectionLoss
	}
	if sentinel == drivers.ErrConnectionLoss && !(r.plan.rough && unreached(err)) {
		r.fail(fmt.Errorf("%s: %v: %w", s.name, r.plan.Form, err))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors[sentinel.Error()]++
	s.harm.failed(sentinel)
}

// unreached tells whether an error is the connection's, not the form's.
func unreached(err error) bool {
	var network net.Error
	return errors.Is(err, drivers.ErrConnectionLoss) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network)
}

// fail ends the run.
func (r *runner) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil && r.rounds.Err() == nil {
		r.failure = err
	}
	r.halt()
}

// fenceTime bounds the wait for the last notifications.
const fenceTime = 5 * time.Second

// arrived waits for the notifications that are still on their way. Where it
// cannot be known that they arrived, the counts are not of whole rounds.
func (r *runner) arrived(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fenceTime)
	defer cancel()
	if err := r.crew.fence(ctx); err != nil && !errors.Is(err, drivers.ErrSessionLost) { // nothing comes to one that is lost
		r.cut = true
	}
}
