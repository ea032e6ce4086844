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
	"github.com/stampede-bench/stampede/workloads/opening"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// A runner is a run in progress.
type runner struct {
	plan  Plan
	pool  *Pool
	part  *Part
	pacer *openloop.Pacer // of an open loop; nil in a closed one
	// background is the background load; nil if there is none.
	background *backgroundLoad

	rounds      context.Context // the context of rounds: it outlives the stop, so that rounds can end
	stopping    atomic.Bool     // no more rounds begin
	stop        chan struct{}   // closed with stopping
	stopOnce    sync.Once
	gathered    chan struct{} // closed when all clients have arrived; nil if they arrive at the same time
	interrupted bool          // the run was interrupted
	outside     atomic.Int64  // rounds that ended before or after the window

	window      *metrics.Window
	inWindow    atomic.Int64  // rounds that ended in the window
	opensWith   atomic.Bool   // the window opens when the next round ends
	opened      chan struct{} // closed when it has opened with a round
	enough      chan struct{} // closed when all rounds of a window of so many rounds have ended
	closing     sync.Once
	shut        atomic.Bool // met is known
	opening     sync.Once
	before, met poolCounts // before the window and until its end

	mu      sync.Mutex
	turns   []int64          // where a round takes all clients: how many turns at least one client has begun, by instance
	errors  map[string]int64 // in the window
	allErrs int64            // errors at any time
	failure error
	lost    *ServiceLost // why the run ended without its service
	abandon func()       // ends the context of rounds
	silence atomic.Int64 // a time.Duration: see [monitor.silence]
	cut     bool         // counts do not cover whole rounds: rounds abandoned, or notifications unconfirmed
	queued  bool         // too many turns were in progress for their rounds to end in time
}

func newRunner(ctx context.Context, p Plan, c *Pool) *runner {
	return &runner{plan: p, pool: c, part: c.part, rounds: context.WithoutCancel(ctx), window: c.Window,
		stop: make(chan struct{}), opened: make(chan struct{}), enough: make(chan struct{}),
		turns: make([]int64, len(c.instances)), errors: make(map[string]int64)}
}

// halt makes every client stop after its current round.
func (r *runner) halt() {
	r.stopOnce.Do(func() {
		r.stopping.Store(true)
		close(r.stop)
		if r.pacer != nil {
			r.pacer.End()
		}
	})
}

// endTime is how long rounds in progress may take to end. eachEndTime is added for each client,
// since all of them may be waiting for one lock.
const (
	endTime     = 15 * time.Second
	eachEndTime = 5 * time.Millisecond
)

// faultsEndTime is the limit in a run with faults: sessions have to expire and servers have to come
// back before other clients can continue.
const faultsEndTime = time.Minute

// awaitEnd waits until the rounds in progress have ended. It abandons those that do not end in time,
// or that cannot at the rate the window measured.
func (r *runner) awaitEnd(clients *sync.WaitGroup, abandon context.CancelFunc, window *metrics.Record) {
	if r.failed() {
		abandon() // the run has failed: no round needs to end cleanly
	}
	limit := endTime + time.Duration(len(r.pool.Slots))*eachEndTime
	if r.plan.faulty && !r.interrupted {
		limit = faultsEndTime
	}
	if r.interrupted {
		limit = min(limit, r.part.EndTime)
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
	r.part.Exchange.Wait()
}

// queueTime estimates how long the turns in progress at the end of a closed loop's window take at
// the window's rate, in workloads where clients wait for one holder after another. It is 0 for
// other workloads, and if the rate is unknown.
func (r *runner) queueTime(window *metrics.Record) time.Duration {
	if _, queue := r.pool.instances[0].(holder); !queue || window.Rounds == 0 || r.pacer != nil {
		return 0
	}
	return time.Duration(float64(window.Duration) * float64(window.Generator.Unfinished) / float64(window.Rounds))
}

func (r *runner) startClients() *sync.WaitGroup {
	var clients sync.WaitGroup
	r.holdArrivals()
	for _, s := range r.pool.Slots {
		s.window, s.ends = r.window, r.ended
	}
	for _, s := range r.pool.Slots {
		clients.Go(func() {
			if r.arrive(s) {
				r.client(s)
			}
		})
	}
	return &clients
}

// client takes turns until the run stops. It opens a new session whenever one is lost.
func (r *runner) client(s *Slot) {
	s.Stopping = r.stop
	for {
		err := r.session(s)
		if err == nil {
			return
		}
		at := time.Now()
		s.faults.waitWhileFrozen()
		if !errors.Is(err, drivers.ErrSessionLost) && r.rounds.Err() == nil && sessionEnded(s.Conn) {
			err = fmt.Errorf("%w: %w", drivers.ErrSessionLost, err)
		}
		if r.countError(s, at, err); r.failed() || r.rounds.Err() != nil {
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

// sessionEnded reports whether the session has ended. It waits a little: a client may learn that its nodes
// are gone shortly before it learns that its session is.
func sessionEnded(c drivers.Conn) bool {
	t := time.NewTimer(sessionEndWait)
	defer t.Stop()
	select {
	case <-c.Done():
		return true
	case <-t.C:
		return false
	}
}

const sessionEndWait = time.Second

// reopen opens a new session for the slot and reports whether the run continues. It retries, since faults may keep it from
// connecting, and since a monitor decides whether the service is gone. A service that has sessions of other clients, and
// refuses this one's, ends a run without faults.
func (r *runner) reopen(s *Slot) bool {
	for {
		err := r.pool.reopen(r.rounds, s)
		if err == nil {
			return true
		}
		var partly *opening.Error
		if limited := errors.As(err, &partly) && partly.Limited(); limited || r.plan.faulty || !isConnectionError(err) {
			r.countError(s, time.Now(), err)
			if limited && !r.window.ClosesAfter(time.Now()) { // nothing more is measured, and turns in progress wait for this client
				r.fail(err)
			}
		}
		if r.failed() || r.rounds.Err() != nil {
			return false
		}
		Sleep(r.rounds, lapTime)
	}
}

// session takes turns in one session.
func (r *runner) session(s *Slot) error {
	c, err := r.pool.instances[s.instance].Join(s)
	if err != nil {
		return err
	}
	if lanes := streamsOf(c, s); len(lanes) > 1 {
		return r.pipeline(lanes)
	}
	defer s.Tracker.Stop()
	for r.takesTurn(s) {
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
	s.endTurn(rounds)
	return err
}

// turn makes the client of the slot take one turn.
func (r *runner) turn(s *Slot, c Client) error {
	s.Tracker.Begin()
	rounds, err := c.Turn(r.rounds)
	if err != nil {
		s.failTurn()
		return err
	}
	s.endTurn(rounds)
	return nil
}

// takesTurn reports whether the client takes another turn.
func (r *runner) takesTurn(s *Slot) bool {
	if !r.pool.instances[s.instance].Together() {
		return !r.stopping.Load()
	}
	takes, decided := r.takesTurnTogether(s)
	if !decided {
		return s.turns < r.lastTurn(s.instance)
	}
	return takes
}

// takesTurnTogether reports whether the client of a workload that takes all clients together takes another
// turn. That is not decided where other processes may have begun it.
func (r *runner) takesTurnTogether(s *Slot) (takes, decided bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failure != nil || r.cut:
		return false, true
	case s.turns < r.turns[s.instance]: // other clients have begun this turn
		return true, true
	case r.stopping.Load():
		return false, false
	}
	r.turns[s.instance] = s.turns + 1
	return true, true
}

// ended counts rounds that have ended, which count if they did so in the window.
func (r *runner) ended(rounds int64, counts bool) {
	if rounds == 0 {
		return
	}
	opens := r.opensWith.Load() && r.opensWith.CompareAndSwap(true, false)
	if counts && !opens {
		r.countRounds(rounds)
		return
	}
	r.outside.Add(rounds)
	if opens {
		r.openWindow()
		close(r.opened)
	}
}

// all returns how many rounds have ended, in the window and outside it.
func (r *runner) all() int64 { return r.outside.Load() + r.inWindow.Load() }

// done returns how many rounds have ended in the window.
func (r *runner) done() int64 { return r.inWindow.Load() }

func (r *runner) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure != nil
}

// countError counts an error, in the window if it happened in it. Sessions may be lost in any run; in a run
// with faults, connections may also be lost or fail to open. Any other error ends the run.
func (r *runner) countError(s *Slot, at time.Time, err error) {
	sentinel := drivers.ErrSessionLost
	if !errors.Is(err, sentinel) {
		sentinel = drivers.ErrConnectionLoss
	}
	if sentinel == drivers.ErrConnectionLoss && !(r.plan.faulty && isConnectionError(err)) {
		r.fail(fmt.Errorf("%s: %v: %w", s.name, r.plan.Form, err))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.allErrs++; r.window.Contains(at) {
		r.errors[sentinel.Error()]++
	}
	s.faults.failed(sentinel)
}

// isConnectionError reports whether the error comes from the connection and not from the form.
func isConnectionError(err error) bool {
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

// flushTime bounds the wait for the last notifications.
const flushTime = 5 * time.Second

// awaitNotifications waits for notifications in transit. If their arrival cannot be confirmed, the counts do
// not cover whole rounds.
func (r *runner) awaitNotifications() {
	if r.pool.gone.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(r.pool.waiting, flushTime)
	defer cancel()
	if err := r.pool.Flush(ctx); err != nil && !errors.Is(err, drivers.ErrSessionLost) { // a lost session gets none
		r.cut = true
	}
}
