package workloads

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// An Election is one client's handle on an election that several clients take
// part in.
type Election interface {
	// Campaign blocks until this client leads. The context it returns ends
	// when the client can no longer be sure to lead, because the session is
	// lost, and when Resign is called. If Campaign fails nothing of it is left
	// on the service.
	Campaign(ctx context.Context) (leading context.Context, err error)
	// Token is the current leader's fencing token: it is above that of every
	// earlier leader. Forms without tokens say drivers.NoSeq.
	Token() int64
	// Resign gives the lead up.
	Resign(ctx context.Context) error
}

// An Acknowledger is an Election whose leader makes known that it leads.
type Acknowledger interface {
	Election
	// Acknowledge is called once between Campaign and Resign, when the leader
	// procedure has run. If it fails the client has resigned.
	Acknowledge(ctx context.Context) error
}

// Elections makes the workload of an election's form: every client campaigns,
// leads for as long as it would hold, resigns and thinks, in a closed loop. It
// leads once it has acknowledged, where the form asks for that; the leader
// procedure is nothing. What is safe is what is safe for a lock. open makes one
// client's handle on the election at a path, a node that exists.
func Elections[S drivers.Conn, E Election](open func(c S, path string) E) func(Settings) Workload {
	election := at[Election](open)
	office := func(c drivers.Conn, path string) (Lock, error) {
		e, err := election(c, path)
		return Office{e}, err
	}
	return turns(office, turnWords{
		recipe: "election", acquire: "campaign", handoff: "failover", release: "resign",
		arrives: "campaigns", holds: "leads", releases: "resigns",
	})
}

// An Office is what an election is about, held by one client at a time: the
// election as a lock.
type Office struct{ Election }

// Acquire campaigns, and acknowledges if the form does.
func (o Office) Acquire(ctx context.Context) (held context.Context, err error) {
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
func (o Office) Release(ctx context.Context) error { return o.Resign(ctx) }
