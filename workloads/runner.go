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

// A runner is a run in progress.
type runner struct {
	plan  Plan
	crew  *crew
	pacer *pace.Pacer // of an open loop; nil in a closed one
	// beside is the background load; nil if there is none.
	beside *backdrop

	rounds   context.Context // the context of rounds: it outlives the stop, so that rounds can end
	stopping atomic.Bool     // no more rounds begin
	stop     chan struct{}   // closed with stopping
	stopOnce sync.Once
	gathered chan struct{} // closed when all clients have arrived; nil if they arrive at the same time
	begun    atomic.Bool   // the window is open
	hurried  bool          // the run was interrupted
	all      atomic.Int64  // rounds that have ended since the start
	before   atomic.Int64  // rounds that had ended before the window opened

	mu      sync.Mutex
	turns   []int64 // where a round takes all clients: how many turns at least one client has begun, by instance
	errors  map[string]int64
	failure error
	cut     bool // counts do not cover whole rounds: rounds abandoned, or notifications unconfirmed
	queued  bool // too many turns were in progress for their rounds to end in time
}

func newRunner(ctx context.Context, p Plan, c *crew) *runner {
	return &runner{plan: p, crew: c, rounds: context.WithoutCancel(ctx),
		stop: make(chan struct{}), turns: make([]int64, len(c.instances)), errors: make(map[string]int64)}
}

// halt makes every client stop after its current round.
func (r *runner) halt() {
	r.stopOnce.Do(func() {
		r.stopping.Store(true)
		close(r.stop)
	})
}

// endTime is how long rounds in progress may take to end. eachEndTime is added for each client,
// since all of them may be waiting for one lock.
const (
	endTime     = 15 * time.Second
	eachEndTime = 5 * time.Millisecond
)

// roughEndTime is the limit in a run with faults: sessions have to expire and servers have to come
// back before other clients can continue.
const roughEndTime = time.Minute

// letEnd waits until the rounds in progress have ended. It abandons those that do not end in time,
// or that cannot at the rate the window measured.
func (r *runner) letEnd(clients *sync.WaitGroup, abandon context.CancelFunc, window *metrics.Record) {
	if r.failed() {
		abandon() // the run has failed: no round needs to end cleanly
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

// queueTime estimates how long the turns in progress at the end of a closed loop's window take at
// the window's rate, in workloads where clients wait for one holder after another. It is 0 for
// other workloads, and if the rate is unknown.
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

// client takes turns until the run stops. It opens a new session whenever one is lost.
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
			s.Conn.Close() // what it left on the service goes with the session
		}
		if !r.reopen(s) {
			return
		}
	}
}

// over reports whether the session has ended. It waits a little: a client may learn that its nodes
// are gone shortly before it learns that its session is.
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

// reopen opens a new session for the seat and reports whether the run continues. It retries, since
// faults may keep it from connecting.
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

// turn makes the client of the seat take one turn.
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

// again reports whether the client takes another turn.
func (r *runner) again(s *Seat) bool {
	if !r.crew.instances[s.instance].Together() {
		return !r.stopping.Load()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failure != nil || r.cut:
		return false
	case s.turns < r.turns[s.instance]: // other clients have begun this turn
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

// done returns how many rounds have ended in the window, which must be open.
func (r *runner) done() int64 { return r.all.Load() - r.before.Load() }

func (r *runner) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure != nil
}

// noteError counts an error. Sessions may be lost in any run; in a run with faults, connections
// may also be lost or fail to open. Any other error ends the run.
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

// unreached reports whether the error comes from the connection and not from the form.
func unreached(err error) bool {
	var network net.Error
	return errors.Is(err, drivers.ErrConnectionLoss) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network)
}

// fail ends the run with the error.
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

// arrived waits for notifications in transit. If their arrival cannot be confirmed, the counts do
// not cover whole rounds.
func (r *runner) arrived(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fenceTime)
	defer cancel()
	if err := r.crew.fence(ctx); err != nil && !errors.Is(err, drivers.ErrSessionLost) { // a lost session gets none
		r.cut = true
	}
}
