package workloads

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/pace"
)

// Settings are the user's settings of a workload. The zero Settings have no hold time and no think
// time.
type Settings struct {
	Hold  time.Duration // how long a holder keeps what it acquired
	Think time.Duration // how long a client pauses between two rounds
	// Polls is how often each waiting client of a polling form polls during one hold in a settled
	// run, where ticks are injected; 0 means once.
	Polls int
	// Namespace is the node below which a run creates all its nodes; "" means DefaultNamespace.
	// Its parent must exist.
	Namespace string
	// Readers is the number of readers of a shared lock per writer; 0 means DefaultReaders.
	Readers int
	// RevokeEvery sets how often a round of a revocable lock begins by revoking it: one round in
	// RevokeEvery on average; 0 means DefaultRevokeEvery.
	RevokeEvery int

	// AbortRate is the share of the transactions of a two-phase commit in which a site votes to
	// abort, 0 to 1.
	AbortRate float64

	Queue QueueSettings
	Mix   MixSettings

	// Updates is how often a settled run changes the value that all clients see; 0 means twice.
	Updates int64
	// Names is the number of names to look up; 0 means 3. Lookups is how often each client looks
	// up each name per update; 0 means twice.
	Names, Lookups int64

	readsLag bool // reads may return data older than what the session has already seen
	// readsFresh: a read returns every write that was acknowledged before it, by any client.
	readsFresh bool
	timings    map[string]*metrics.Latency // by phase; nil: each workload has its own
	told       *fanoutTimes                // of a fan-out; nil: each workload has its own
	used       map[string]bool             // the settings that the workload being created uses; nil: not recorded
}

// A Workload is one recipe in one form, ready for one run.
type Workload interface {
	// Setup creates the nodes that all clients share, below base, which exists.
	Setup(ctx context.Context, c drivers.Conn, base string, clients int) error
	// Join creates the client of a seat.
	Join(s *Seat) (Client, error)
	// Together reports whether a round takes all clients: either all of them take their n-th turn
	// or none does, so that no client waits for one that has stopped.
	Together() bool
	// Begin opens the measured window and discards the times recorded before it.
	Begin()
	// Lap returns the response times of the recipe's first phase since the last call of Lap.
	Lap() metrics.Lap
	// End closes the window and fills in what the workload measured: Rounds, Phases, Fairness.
	End(r *metrics.Record)
	// Verdict returns the findings of the safety check since Setup. Call it when every round that
	// began has ended.
	Verdict() metrics.Safety
	// Settle performs one settled run on the stage.
	Settle(ctx context.Context, s *Stage) error
}

// A Client takes one turn after the other.
type Client interface {
	// Turn does the client's next piece of work, a whole round or its part in one, and returns how
	// many rounds ended with it. After an error that reports a lost session the client is not used
	// again: its seat opens a new session and joins again.
	Turn(ctx context.Context) (rounds int64, err error)
}

// A Finisher is a Client with work to do when no more turns begin, for instance to take the items
// that others have put.
type Finisher interface {
	// Finish does that work and returns how many rounds ended with it. After an error that reports
	// a lost session, the seat joins again and the new client is asked to finish.
	Finish(ctx context.Context) (rounds int64, err error)
}

// A Seat is one client's place in a run: its session and its state.
type Seat struct {
	Index int // from 0, among the clients of one instance of the recipe
	Conn  drivers.Conn
	Rand  *rand.Rand // the client's own generator, derived from the run's seed
	// Marks records where the client's phases begin and end. They distinguish useful from wasted
	// wake-ups.
	Marks *metrics.Session
	// Stopping is closed when no more turns begin. A client that waits for new work can stop
	// waiting then.
	Stopping <-chan struct{}

	pacer        *pace.Pacer    // of an open loop; nil in a closed one
	ticket       *pace.Ticket   // the seat's own
	tickets      []*pace.Ticket // of its other lanes
	cycle        *cycle         // nil where turns are not tracked
	further      *cycles        // holds the cycles of its other lanes
	number       int            // among all seats of the run, from 0
	enter        chan struct{}  // closed when the client may arrive; nil if it may arrive immediately
	gathered     chan struct{}  // closed when all clients have arrived; nil if they arrive at the same time
	instance     int            // index of the recipe's instance, from 0
	name         string         // the client's name in messages
	turns        int64          // turns completed so far
	probe        drivers.Probe
	service      drivers.Service
	lags         bool // see [drivers.Info.Lags]
	disturbances atomic.Int64
	harm         *harm // nil in a run without faults
}

// Arrive waits until the client has work: in a closed loop until it has paused for think, in an
// open loop until its next arrival is due. It returns the time from which the response time
// counts. When no more turns begin it returns the current time and false.
func (s *Seat) Arrive(ctx context.Context, think time.Duration) (due time.Time, ok bool) {
	if s.ticket != nil {
		return s.next(ctx, s.ticket)
	}
	if think <= 0 {
		return time.Now(), true
	}
	s.cycle.rest()
	keep(ctx, think)
	due = time.Now() // the timer's lateness is not the service's
	s.cycle.due(due)
	return due, true
}

// begins returns when the client starts work that was due: immediately, except for an arrival,
// which may have had to wait until the client was free.
func (s *Seat) begins(due time.Time) time.Time {
	if s.ticket == nil {
		return due
	}
	return time.Now()
}

// fails records that the client's arrival, if it has one, failed: its turn ends without completing
// it.
func (s *Seat) fails() {
	if s.ticket != nil {
		s.ticket.Fail()
	}
}

// completes completes the client's arrival, if it has one.
func (s *Seat) completes() {
	if s.ticket != nil {
		s.ticket.Finish()
	}
}

// next is Arrive with a ticket other than the seat's own.
func (s *Seat) next(ctx context.Context, t *pace.Ticket) (due time.Time, ok bool) {
	if due, ok = t.Next(ctx); ok {
		return due, true
	}
	select {
	case <-s.Stopping:
	case <-ctx.Done():
	}
	return time.Now(), false
}

// onState is the callback drivers.Options.OnState of the seat's session.
func (s *Seat) onState(state drivers.State) {
	if state != drivers.Connected {
		s.disturbances.Add(1)
	}
	s.harm.state(state)
}

// Disturbances returns how often the seat's session was disconnected or lost.
func (s *Seat) Disturbances() int64 { return s.disturbances.Load() }

// A led workload has rounds with a leader that is not one of the clients: it opens a barrier, for
// instance, or coordinates a transaction. The leader has a seat of its own, after the clients'
// seats, and its session is counted like theirs.
type led interface{ Leads() bool }
