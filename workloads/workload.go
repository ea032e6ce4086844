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

// Settings are what a person chooses of a workload. The zero Settings hold and
// think for no time.
type Settings struct {
	Hold  time.Duration // how long a holder keeps what it got
	Think time.Duration // how long a client rests between two rounds
	// Polls is how often each waiter of a polling form looks during one hold
	// when the ticks are injected; 0 means once.
	Polls int
	// Namespace is the node below which everything is made; "" means
	// DefaultNamespace. The node above it must exist.
	Namespace string
	// Readers is how many readers of a shared lock there are to each writer;
	// 0 means DefaultReaders.
	Readers int
	// RevokeEvery is how many rounds of a revocable lock there are to each that
	// begins by revoking it; 0 means DefaultRevokeEvery.
	RevokeEvery int

	// AbortRate is the share of the transactions of a two-phase commit in which
	// a site votes to abort, 0 to 1.
	AbortRate float64

	Queue QueueSettings
	Mix   MixSettings

	// Updates is how often a settled run changes what all clients see; 0
	// means twice.
	Updates int64
	// Names is how many names there are to look up, and Lookups how often each
	// client looks each of them up for every update; 0 means 3 names, twice.
	Names, Lookups int64

	readsLag bool // reads may show what is older than what the session has seen
	// readsFresh: they show what was acknowledged before them, by whomever.
	readsFresh bool
	timings    map[string]*metrics.Latency // by phase; nil: of each workload's own
	told       *fanoutTimes                // of a fan-out; nil likewise
	used       map[string]bool             // what the workload being made uses; nil: not noted
}

// A Workload is one recipe in one form, made ready for one run.
type Workload interface {
	// Setup makes under base, which exists, what all clients share.
	Setup(ctx context.Context, c drivers.Conn, base string, clients int) error
	// Join makes the client that sits on a seat.
	Join(s *Seat) (Client, error)
	// Together says that a round takes all clients: either all take their
	// n-th turn or none does, so that nobody waits for one who has stopped.
	Together() bool
	// Begin opens the measured window: what was timed so far is forgotten.
	Begin()
	// Lap is of the response time of the recipe's first phase since the last Lap.
	Lap() metrics.Lap
	// End closes the window and fills in what the workload timed: Rounds,
	// Phases, Fairness.
	End(r *metrics.Record)
	// Verdict is what the safety check saw since Setup. Call it when every
	// round begun has ended.
	Verdict() metrics.Safety
	// Settle plays one settled run on the stage.
	Settle(ctx context.Context, s *Stage) error
}

// A Client takes turns, one after the other.
type Client interface {
	// Turn does what this client has to do next, a whole round or its part in
	// one, and returns how many rounds ended with it. After an error of a lost
	// session the client is not used again; its seat gets a new session and
	// joins anew.
	Turn(ctx context.Context) (rounds int64, err error)
}

// A Finisher is a Client with something left to do when no more turns begin, for
// instance to take what others have put.
type Finisher interface {
	// Finish does it and returns how many rounds ended with it. After an error
	// of a lost session a client that has joined anew is asked to finish.
	Finish(ctx context.Context) (rounds int64, err error)
}

// A Seat is one client's place in a run: its session and what is known of it.
type Seat struct {
	Index int // from 0, among the clients of one instance of the recipe
	Conn  drivers.Conn
	Rand  *rand.Rand // the client's own, derived from the run's seed
	// Marks receives the phases; useful and wasted wake-ups are told by them.
	Marks *metrics.Session
	// Stopping is closed when no more turns begin: whoever waits for work to
	// come need not wait any longer.
	Stopping <-chan struct{}

	pacer        *pace.Pacer    // of an open loop; nil in a closed one
	ticket       *pace.Ticket   // the seat's own
	tickets      []*pace.Ticket // of its further lanes
	cycle        *cycle         // nil where turns are not followed
	further      *cycles        // where those of its further lanes are
	number       int            // among all seats of the run, from 0
	enter        chan struct{}  // closed when the client may arrive; nil if it may at once
	gathered     chan struct{}  // closed when all clients have arrived; nil if they come at once
	instance     int            // of the recipe, from 0
	name         string         // what messages call the client
	turns        int64          // begun so far
	probe        drivers.Probe
	service      drivers.Service
	lags         bool // see [drivers.Info.Lags]
	disturbances atomic.Int64
	harm         *harm // nil where nothing is broken on purpose
}

// Arrive waits until the client has something to do: in a closed loop until it
// has rested for think, in an open one until the next arrival is due. It returns
// when that was, from when on response times count; or now, and false, when no
// more turns begin.
func (s *Seat) Arrive(ctx context.Context, think time.Duration) (due time.Time, ok bool) {
	if s.ticket != nil {
		return s.next(ctx, s.ticket)
	}
	if think <= 0 {
		return time.Now(), true
	}
	s.cycle.rest()
	keep(ctx, think)
	due = time.Now() // what the timer was late is not the service's
	s.cycle.due(due)
	return due, true
}

// begins is when the client begins what was due: at once, but for an arrival, for which
// it may not have been free.
func (s *Seat) begins(due time.Time) time.Time {
	if s.ticket == nil {
		return due
	}
	return time.Now()
}

// fails gives up the arrival that the client has, if any: its turn ends without it.
func (s *Seat) fails() {
	if s.ticket != nil {
		s.ticket.Fail()
	}
}

// completes completes the arrival that the client has, if any.
func (s *Seat) completes() {
	if s.ticket != nil {
		s.ticket.Finish()
	}
}

// next is Arrive with another ticket than the seat's own.
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

// onState is the session's drivers.Options.OnState.
func (s *Seat) onState(state drivers.State) {
	if state != drivers.Connected {
		s.disturbances.Add(1)
	}
	s.harm.state(state)
}

// Disturbances counts how often the seat's session was disconnected or lost.
func (s *Seat) Disturbances() int64 { return s.disturbances.Load() }

// A led workload has rounds that somebody leads who is no client: who opens a
// barrier, who coordinates. It sits on a seat of its own, after the clients', with
// a session that is counted like theirs.
type led interface{ Leads() bool }
