package workloads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// A Slot is one client's place in a run: its session and its state.
type Slot struct {
	Index int // from 0, among the clients of one instance of the recipe
	Conn  drivers.Conn
	Rand  *rand.Rand // the client's own generator, derived from the run's seed
	// Marks records where the client's phases begin and end. They distinguish useful from wasted
	// wake-ups.
	Marks *fanout.Session
	// Stopping is closed when no more turns begin. A client that waits for new work can stop
	// waiting then.
	Stopping <-chan struct{}

	window *metrics.Window // of the run; nil in a settled run, in which all counts
	times  metrics.Times   // of the turn in progress
	ended  time.Time       // when that turn ended; zero until it has
	counts bool            // the turn ended in the window; known with ended
	// ends counts the rounds that end with a turn.
	ends func(rounds int64, counts bool)

	pacer        *openloop.Pacer       // of an open loop; nil in a closed one
	ticket       *openloop.Ticket      // the slot's own
	tickets      []*openloop.Ticket    // of its other streams
	Tracker      *metrics.TurnTracker  // nil where turns are not tracked
	trackers     *metrics.TurnTrackers // holds the trackers of its other streams
	number       int                   // among all slots of the run, from 0
	mayArrive    chan struct{}         // closed when the client may arrive; nil if it may arrive immediately
	gathered     chan struct{}         // closed when all clients have arrived; nil if they arrive at the same time
	instance     int                   // index of the recipe's instance, from 0
	name         string                // the client's name in messages
	turns        int64                 // turns completed so far
	probe        drivers.Probe
	service      drivers.Service
	timeout      time.Duration                // of its sessions; 0 if that was not chosen
	patience     time.Duration                // with which they are opened
	lags         bool                         // see [drivers.Info.Lags]
	current      atomic.Pointer[drivers.Conn] // Conn, for others than the client; nil before the first
	disturbances atomic.Int64
	state        atomic.Uint32                           // a drivers.State, the session's last
	states       [drivers.SessionClosed + 1]atomic.Int64 // how often the session came to each, not meant
	meant        atomic.Uint32                           // the state to which the client itself brings the session; 0 for none
	before       [drivers.SessionClosed + 1]int64        // as the window opened
	away         bool                                    // the client had no connection then
	faults       *clientFaults                           // nil in a run without faults
}

// Arrive waits until the client has work: in a closed loop until it has paused for think, in an
// open loop until its next arrival is due. It returns the time from which the response time
// counts. When no more turns begin it returns the current time and false.
func (s *Slot) Arrive(ctx context.Context, think time.Duration) (due time.Time, ok bool) {
	if s.ticket != nil {
		return s.AwaitArrival(ctx, s.ticket)
	}
	if think <= 0 {
		return time.Now(), true
	}
	s.Tracker.Rest()
	Sleep(ctx, think)
	due = time.Now() // the timer's lateness is not the service's
	s.Tracker.Due(due)
	return due, true
}

// StartOf returns when the client starts work that was due: immediately, except for an arrival,
// which may have had to wait until the client was free.
func (s *Slot) StartOf(due time.Time) time.Time {
	if s.ticket == nil {
		return due
	}
	return time.Now()
}

// ArrivalFailed records that the client's arrival, if it has one, failed: its turn ends without completing
// it.
func (s *Slot) ArrivalFailed() { s.ticket.Fail() }

// Record records how long a phase of the client's turn took. The time counts if the turn does: in an open
// loop if its arrival was due in the window, in a closed loop if it ends in the window.
func (s *Slot) Record(l *metrics.Latency, service, response time.Duration) {
	s.RecordIn(&s.times, l, service, response)
}

// RecordIn is Record for a time of a round that the client shares with others: it counts if the round does.
func (s *Slot) RecordIn(round *metrics.Times, l *metrics.Latency, service, response time.Duration) {
	if s.window == nil {
		l.Record(service, response)
		return
	}
	round.Record(l, service, response)
}

// RecordLast is Record for the last time of a turn, which ends at the given time, and returns whether that lies
// in the window. It need not be kept until it is known whether the turn counts.
func (s *Slot) RecordLast(l *metrics.Latency, service, response time.Duration, now time.Time) (inWindow bool) {
	s.endsAt(now)
	l.End(service, response, s.window == nil || s.belongs(s.ticket, s.counts))
	return s.counts
}

// Count adds to a counter what the client did in its turn, which counts if the turn does.
func (s *Slot) Count(c *atomic.Int64, n int64) { s.times.Count(c, n) }

// InWindow reports whether the time lies in the window of the run.
func (s *Slot) InWindow(at time.Time) bool { return s.window != nil && s.window.Contains(at) }

// DueInWindow reports whether the client's work, which was due then, belongs to the window. Where the client waited for an
// arrival, it was due when the client woke, which may be after the window in which the arrival was due.
func (s *Slot) DueInWindow(due time.Time) bool { return s.belongs(s.ticket, s.InWindow(due)) }

// belongs reports whether work belongs to the window, by its arrival, or without one by whether it ended in
// it.
func (s *Slot) belongs(arrival *openloop.Ticket, ended bool) bool {
	if due, given := arrival.InWindow(); given {
		return due
	}
	return ended
}

// endsAt sets the time at which the turn in progress ends.
func (s *Slot) endsAt(now time.Time) { s.ended, s.counts = now, s.InWindow(now) }

// EndRound records that a round that several clients share ends with the turn in progress. arrival is the
// round's, nil in a closed loop and in a process that does not have it; the round was due at the given time,
// if that is known.
func (s *Slot) EndRound(round *metrics.Times, arrival *openloop.Ticket, due time.Time) {
	if s.window == nil {
		return
	}
	s.endsAt(time.Now())
	count := s.counts
	if !due.IsZero() {
		count = s.window.Contains(due)
	}
	round.Settle(s.belongs(arrival, count))
}

// endTurn records that the turn in progress has ended, and so many rounds with it.
func (s *Slot) endTurn(rounds int64) {
	if s.ended.IsZero() {
		s.endsAt(time.Now())
	}
	now := s.ended
	s.ended = time.Time{}
	s.times.Settle(s.belongs(s.ticket, s.counts))
	s.Tracker.End(now, s.counts)
	s.ticket.Finish()
	s.faults.turned()
	s.ends(rounds, s.counts)
}

// failTurn records that the turn in progress has failed.
func (s *Slot) failTurn() {
	s.ended = time.Time{}
	s.times.Settle(false)
	s.Tracker.Stop()
	s.ArrivalFailed()
}

// EndWork counts a round that ends now, apart from the turns of the client, and reports whether it belongs
// to the window. arrival is the round's, nil in a closed loop.
func (s *Slot) EndWork(arrival *openloop.Ticket) bool {
	if s.window == nil {
		return true
	}
	now := time.Now()
	ended := s.window.Contains(now)
	s.ends(1, ended)
	return s.belongs(arrival, ended)
}

// AwaitArrival is Arrive with a ticket other than the slot's own.
func (s *Slot) AwaitArrival(ctx context.Context, t *openloop.Ticket) (due time.Time, ok bool) {
	return s.awaitArrival(ctx, t, func(time.Duration) {})
}

// awaitArrival is AwaitArrival, and calls taken as [openloop.Ticket.NextTold] does.
func (s *Slot) awaitArrival(ctx context.Context, t *openloop.Ticket, taken func(due time.Duration)) (due time.Time, ok bool) {
	if due, ok = t.NextTold(ctx, taken); ok {
		return due, true
	}
	select {
	case <-s.Stopping:
	case <-ctx.Done():
	}
	return time.Now(), false
}

// onState is the callback drivers.Options.OnState of the slot's session.
func (s *Slot) onState(state drivers.State) {
	s.faults.learn(state, func() {
		s.state.Store(uint32(state))
		if uint32(state) > s.meant.Load() {
			s.states[state].Add(1)
		}
		if state == drivers.Connected {
			s.meant.CompareAndSwap(uint32(drivers.Disconnected), 0)
		}
		if state != drivers.Connected {
			s.disturbances.Add(1)
		}
	})
}

// beginStates opens the window in which addStates counts.
func (s *Slot) beginStates() {
	for i := range s.states {
		s.before[i] = s.states[i].Load()
	}
	state := drivers.State(s.state.Load())
	s.away = state != drivers.Connected && state != drivers.SessionClosed && s.meant.Load() == 0
}

// addStates adds what has happened to the slot's session in the window, apart from what the client itself did.
func (s *Slot) addStates(all *metrics.Sessions) {
	since := func(state drivers.State) int64 { return s.states[state].Load() - s.before[state] }
	times, lost, givenUp := since(drivers.Disconnected), since(drivers.SessionLost), since(drivers.SessionGivenUp)
	all.Disconnections, all.Lost, all.GivenUp = all.Disconnections+times, all.Lost+lost, all.GivenUp+givenUp
	if s.away || times+lost+givenUp > 0 {
		all.Disconnected++
	}
}

// Number returns the client's number in messages, from 1, among the clients of one instance.
func (s *Slot) Number() int { return s.Index + 1 }

// Disturbances returns how often the slot's session was disconnected or lost.
func (s *Slot) Disturbances() int64 { return s.disturbances.Load() }

// TurnsTaken returns how many turns the client has completed, in all its sessions.
func (s *Slot) TurnsTaken() int64 { return s.turns }

// OpenLoop reports whether the client's work comes from arrivals.
func (s *Slot) OpenLoop() bool { return s.pacer != nil }

// NewArrival returns a ticket for another series of arrivals, nil in a closed loop.
func (s *Slot) NewArrival() *openloop.Ticket {
	if s.pacer == nil {
		return nil
	}
	return s.pacer.Ticket()
}

// HasFaults reports whether faults are injected into the run.
func (s *Slot) HasFaults() bool { return s.faults != nil }

// Served records, in a run with faults, that the client got what its turn is for.
func (s *Slot) Served(now time.Time) { s.faults.served(now) }

// Operated records, in a run with faults, that an operation of the named phase ended.
func (s *Slot) Operated(phase string, now time.Time) { s.faults.operated(phase, now) }

// Untracked stops tracking the client's turns: it only waits.
func (s *Slot) Untracked() { s.Tracker = nil }

// Open opens a new session for the slot.
func (s *Slot) Open(ctx context.Context) error {
	conn, err := s.service.Dial(ctx, s.faults.options(drivers.Options{SessionTimeout: s.timeout, Patience: s.patience, OnState: s.onState, Probe: s.probe}))
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.Conn = conn
	s.current.Store(&conn)
	s.state.Store(uint32(drivers.Connected))
	s.meant.Store(0)
	s.faults.opened()
	return nil
}

// Cut breaks the connection of the current session, which must be a [drivers.Cutter].
func (s *Slot) Cut() {
	s.meant.Store(uint32(drivers.Disconnected))
	s.Conn.(drivers.Cutter).Cut()
}

// Expire makes the service end the current session.
func (s *Slot) Expire(ctx context.Context) error {
	s.meant.Store(uint32(drivers.SessionLost))
	return s.expire(ctx, s.Conn)
}

func (s *Slot) expire(ctx context.Context, c drivers.Conn) error {
	e, ok := s.service.(drivers.Expirer)
	if !ok {
		return fmt.Errorf("expire a session of %T: %w", s.service, drivers.ErrUnsupported)
	}
	return e.Expire(ctx, c)
}

// Hold waits for d within a round; a frozen client continues only when it is thawed. While clients
// still arrive, keep first waits until all have arrived, since each release may wake all clients
// that are already there.
func (s *Slot) Hold(ctx context.Context, d time.Duration) {
	if s.gathered != nil {
		select {
		case <-s.gathered:
		case <-s.Stopping:
		case <-ctx.Done():
		}
	}
	Sleep(ctx, d)
	s.faults.waitWhileFrozen()
}

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// A streaming Client keeps several requests in flight on one session. Each of its streams makes one
// request after the other.
type streaming interface {
	Streams() []Stream
}

// A Stream is one of the clients that take turns concurrently in one session.
type Stream struct {
	Client
	Slot *Slot // the stream's own view
}

// streamsOf returns the streams of the client on the slot.
func streamsOf(c Client, s *Slot) []Stream {
	if p, ok := c.(streaming); ok {
		return p.Streams()
	}
	return []Stream{{c, s}}
}

// pipeline runs all streams concurrently until the run stops or one of them fails. It returns the
// first error.
func (r *runner) pipeline(lanes []Stream) error {
	var all sync.WaitGroup
	var failed atomic.Bool
	var once sync.Once
	var first error
	for _, lane := range lanes {
		all.Go(func() {
			defer lane.Slot.Tracker.Stop()
			for !failed.Load() && !r.stopping.Load() {
				if err := r.turn(lane.Slot, lane.Client); err != nil {
					once.Do(func() { first = err })
					failed.Store(true)
					return
				}
			}
		})
	}
	all.Wait()
	return first
}

// Stream returns a view of the slot for the i-th concurrent request of its session. Stream 0 is the
// slot itself. Each stream has its own random choices and its own arrivals, which outlive the
// session.
func (s *Slot) Stream(i int) *Slot {
	if i == 0 {
		return s
	}
	l := s.view(i, rand.New(rand.NewPCG(s.Rand.Uint64(), uint64(i))))
	if s.pacer != nil {
		for len(s.tickets) < i {
			s.tickets = append(s.tickets, s.pacer.Ticket())
		}
		l.ticket = s.tickets[i-1]
	}
	return l
}

// view returns the slot as its i-th stream sees it.
func (s *Slot) view(i int, random *rand.Rand) *Slot {
	return &Slot{Index: s.Index, Conn: s.Conn, Rand: random, Marks: s.Marks, Stopping: s.Stopping,
		window: s.window, ends: s.ends, Tracker: s.trackers.Tracker(s.number, i), pacer: s.pacer, name: s.name, faults: s.faults}
}

// FirstStream returns a view of the slot for the first stream of a client that takes the turns of all
// its streams itself. The slot's own turns are no longer tracked.
func (s *Slot) FirstStream() *Slot {
	v := s.view(0, s.Rand)
	s.Tracker = nil
	return v
}
