package workloads

import (
	"context"
	"path"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/check"
)

// A Part makes a run one part of a larger run, whose sessions several processes share. Package agents
// divides a run, and merges the records of its parts.
type Part struct {
	First, Count int    // the sessions of this process, numbered from 0 among all sessions of the larger run
	Number, Of   int    // the number of this process, from 0, and how many there are
	Base         string // the larger run's subtree, which a Site has made
	// Steps records the steps of this process's clients that matter to the clients of other processes.
	Steps *check.Steps
	// Probe, if set, wraps the probe of each session.
	Probe func(session int, p drivers.Probe) drivers.Probe
	// Meet returns when all processes have come to the point.
	Meet func(context.Context, Point) error
	// Post passes a message to all other processes. It returns when they will get it. Receive calls take
	// with each message of the others, in the order in which each has posted its own, until the context ends.
	Post    func(ctx context.Context, text []byte) error
	Receive func(ctx context.Context, take func(text []byte) error) error
	// Window returns when the window opens, the same moment in all processes. It is called when the clients
	// are warm or, in an open loop, before they begin: the window then opens after the warm-up.
	Window func(context.Context) (opens time.Time, err error)
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

// A Site is the subtree of a run whose sessions are opened by other processes.
type Site struct{ pool *Pool }

// NewSite creates the subtree and what the plan has on the service before its clients arrive. The
// caller must call Close whether or not NewSite fails.
func NewSite(ctx context.Context, p Plan) (*Site, error) {
	s := &Site{newPool(p)}
	return s, s.pool.stage(ctx, p)
}

// Base returns the path of the subtree.
func (s *Site) Base() string { return s.pool.base }

// Close removes the subtree.
func (s *Site) Close() error { return s.pool.Close() }

// exchange starts to exchange with the other processes of the run, if there are any. The caller must call end
// when the run has ended.
func (r *runner) exchange(ctx context.Context) (end func()) {
	x := r.pool.exchanges
	if x == nil || x.post == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var both sync.WaitGroup
	for _, run := range []func(context.Context) error{
		x.send, func(ctx context.Context) error { return r.plan.Part.Receive(ctx, x.receive) },
	} {
		both.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				r.fail(err)
			}
		})
	}
	return func() {
		cancel()
		both.Wait()
	}
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

// unbuilt returns the session itself, of which Setup got another.
func unbuilt(c drivers.Conn) drivers.Conn {
	if b, ok := c.(builtConn); ok {
		return b.Conn
	}
	return c
}
