package recipe

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// An Election is one client's handle on an election among several clients.
type Election interface {
	// Campaign blocks until this client leads. The context it returns ends when the client may no
	// longer lead because the session is lost, and when Resign is called. If Campaign fails it
	// leaves nothing on the service.
	Campaign(ctx context.Context) (leading context.Context, err error)
	// Token returns the fencing token of the current leader. It is greater than that of every
	// earlier leader. Forms without tokens return drivers.NoSeq.
	Token() int64
	// Resign gives up leadership.
	Resign(ctx context.Context) error
}

// An Acknowledger is an Election whose leader announces that it leads.
type Acknowledger interface {
	Election
	// Acknowledge is called once between Campaign and Resign, when the leader procedure has run.
	// If it fails the client has resigned.
	Acknowledge(ctx context.Context) error
}

// Elections returns the workload constructor for a form of election: every client campaigns, leads
// for the hold time, resigns and thinks, in a closed loop. Where the form requires it, the client
// leads once it has acknowledged; the leader procedure is empty. The safety check is that of a
// lock. open creates one client's handle on the election at a path, which is an existing node.
func Elections[S drivers.Conn, E Election](open func(c S, path string) E) workloads.Constructor {
	election := openerOf[Election](open)
	office := func(c drivers.Conn, path string) (Lock, error) {
		e, err := election(c, path)
		return ElectionLock{e}, err
	}
	return lockWorkloads(office, lockTerms{
		recipe: "election", acquire: "campaign", handoff: "failover", release: "resign",
		arrives: "campaigns", holds: "leads", releases: "resigns",
	})
}

// An ElectionLock is an election used as a lock: leadership is held by one client at a time.
type ElectionLock struct{ Election }

// Acquire campaigns, and acknowledges if the form requires it.
func (o ElectionLock) Acquire(ctx context.Context) (held context.Context, err error) {
	held, err = o.Campaign(ctx)
	if err != nil {
		return nil, err
	}
	if a, ok := o.Election.(Acknowledger); ok {
		if err := a.Acknowledge(ctx); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// Release resigns.
func (o ElectionLock) Release(ctx context.Context) error { return o.Resign(ctx) }
