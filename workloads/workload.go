package workloads

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Workload is one recipe in one form, ready for one run.
type Workload interface {
	// Setup creates the nodes that all clients share, below base, which exists.
	Setup(ctx context.Context, c drivers.Conn, base string, clients int) error
	// Join creates the client of a slot.
	Join(s *Slot) (Client, error)
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
}

// A Client takes one turn after the other.
type Client interface {
	// Turn does the client's next piece of work, a whole round or its part in one, and returns how
	// many rounds ended with it. After an error that reports a lost session the client is not used
	// again: its slot opens a new session and joins again.
	Turn(ctx context.Context) (rounds int64, err error)
}

// A Finisher is a Client with work to do when no more turns begin, for instance to take the items
// that others have put.
type Finisher interface {
	// Finish does that work and returns how many rounds ended with it. After an error that reports
	// a lost session, the slot joins again and the new client is asked to finish.
	Finish(ctx context.Context) (rounds int64, err error)
}

// A leader workload has rounds with a leader that is not one of the clients: it opens a barrier, for
// instance, or coordinates a transaction. The leader has a slot of its own, after the clients'
// slots, and its session is counted like theirs.
type leader interface{ Leads() bool }

// An observed workload has additional sessions, after its clients', that only watch what the clients
// do.
type observed interface{ Observers() int }
