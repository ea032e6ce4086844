package workloads

import (
	"context"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
)

// A Part makes a run one part of a larger run, whose sessions several processes share. Package agents
// divides a run, and merges the records of its parts.
type Part struct {
	First, Count int    // the sessions of this process, numbered from 0 among all sessions of the larger run
	Base         string // the larger run's subtree, which a Site has made
	// Steps records the steps of this process's clients that matter to the clients of other processes.
	Steps *check.Steps
	// Probe, if set, wraps the probe of each session.
	Probe func(session int, p drivers.Probe) drivers.Probe
	// Faults, if set, are those of the larger run.
	Faults *PartFaults
	// Meet returns when all processes have come to the point.
	Meet func(context.Context, Point) error
}

// A PartFaults says that faults are injected into the larger run: those of the plan into the clients that it names, each
// by its process, and others into the service.
type PartFaults struct {
	Log      *metrics.FaultLog // of what they do to this process's clients
	Sessions int               // of the larger run
}

// A Point of a run is where the processes that share it wait for each other.
type Point string

const (
	SessionsOpen    Point = "sessions-open"    // no client has begun
	RoundsEnded     Point = "rounds-ended"     // all rounds have ended
	NotificationsIn Point = "notifications-in" // no notification is outstanding; the sessions are still open
)

// meet waits for the other processes of the run, if there are any.
func (r *runner) meet(ctx context.Context, at Point) {
	if r.plan.Part == nil || r.failed() || ctx.Err() != nil { // the coordinator ends the other parts of a failed one
		return
	}
	if err := r.plan.Part.Meet(ctx, at); err != nil {
		r.fail(err)
	}
}

// A Divisible workload can have its clients in several processes.
type Divisible interface {
	Workload
	// Judge completes the merged record of all processes with what only the steps of all clients show
	// together, such as safety and hand-offs.
	Judge(r *metrics.Record, steps []check.TimedStep, window check.Window)
}

// Divide returns a workload that judges divided runs of the form, and false if the form cannot be
// divided.
func (f Form) Divide(s Settings) (Divisible, bool) {
	d, ok := f.New(s).(Divisible)
	return d, ok
}

// A Site is the subtree of a run whose sessions are opened by other processes.
type Site struct{ pool *Pool }

// NewSite creates the subtree and what the plan has on the service before its clients arrive. The
// caller must call Close whether or not NewSite fails.
func NewSite(ctx context.Context, p Plan) (*Site, error) {
	if p.faulty = len(p.Faults) > 0; p.faulty {
		if err := p.Faults.Check(p.powers()); err != nil {
			return &Site{}, err
		}
	}
	s := &Site{newPool(p)}
	return s, s.pool.stage(ctx, p)
}

// Base returns the path of the subtree.
func (s *Site) Base() string { return s.pool.base }

// Close removes the subtree.
func (s *Site) Close() error {
	if s.pool == nil {
		return nil
	}
	return s.pool.Close()
}

// A builtConn is a session for the Setup of a workload whose nodes another process has created: it
// writes nothing.
type builtConn struct{ drivers.Conn }

// Create returns what the creation of the node would have returned.
func (c builtConn) Create(_ context.Context, at string, _ []byte, _ drivers.Mode) (drivers.Child, error) {
	return drivers.Child{Name: path.Base(at), Seq: drivers.NoSeq}, nil
}

// Delete does nothing.
func (c builtConn) Delete(context.Context, string, int32) error { return nil }

// Set does nothing.
func (c builtConn) Set(context.Context, string, []byte, int32) (drivers.Stat, error) {
	return drivers.Stat{}, nil
}

// tapped returns the probe of a session as the part wraps it.
func (p *Part) tapped(session int, probe drivers.Probe) drivers.Probe {
	if p == nil || p.Probe == nil {
		return probe
	}
	return p.Probe(session, probe)
}
