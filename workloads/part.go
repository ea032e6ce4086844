package workloads

import (
	"context"
	"errors"
	"path"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
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
	// Faults, if set, are those of the larger run.
	Faults *PartFaults
	// Meet returns when all processes have come to the point.
	Meet func(context.Context, Point) error
	// Post passes a message to all other processes. It returns when they will get it. Receive calls take
	// with each message of the others, in the order in which each has posted its own, until the context ends.
	Post    func(ctx context.Context, text []byte) error
	Receive func(ctx context.Context, take func(text []byte) error) error
	// Background is this process's part of the background: its numbers and its subtree. Nothing else is set.
	Background *Part
	// Window returns when the window opens, the same moment in all processes. It is called when the clients
	// are warm or, in an open loop, before they begin: the window then opens after the warm-up.
	Window func(context.Context) (opens time.Time, err error)
}

// A PartFaults says that faults are injected into the larger run: those of the plan into the clients that it names, each
// by its process, and others into the service.
type PartFaults struct {
	Log      *metrics.FaultLog // of what they do to this process's clients
	Sessions int               // of the larger run
	Claims   faults.Claims     // decides which process injects a fault into the holder
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
type Site struct {
	plan, mix        Plan  // mix is that of the background
	pool, background *Pool // background is nil if the plan has none
}

// NewSite chooses where the subtree will be. It creates nothing.
func NewSite(p Plan) (*Site, error) {
	if err := p.checkFaults(); err != nil {
		return nil, err
	}
	s := &Site{plan: p, pool: newPool(p)}
	s.pool.base = s.pool.namespace.NewBase()
	if p.Background.Clients > 0 {
		s.mix = p.Background.plan(p)
		s.background = newPool(s.mix)
		s.background.base = s.background.namespace.NewBase()
	}
	return s, nil
}

// Create creates the subtree and what the plan has on the service before its clients arrive. The caller must
// call Close whether or not Create fails.
func (s *Site) Create(ctx context.Context) error {
	if err := s.pool.stage(ctx, s.plan); err != nil || s.background == nil {
		return err
	}
	return s.background.stage(ctx, s.mix)
}

// Base returns the path of the subtree.
func (s *Site) Base() string { return s.pool.base }

// BackgroundBase returns the path of the background's subtree, "" if there is none.
func (s *Site) BackgroundBase() string {
	if s.background == nil {
		return ""
	}
	return s.background.base
}

// Close removes the subtrees.
func (s *Site) Close() error {
	var failed []error
	for _, p := range []*Pool{s.background, s.pool} {
		if p != nil {
			failed = append(failed, p.Close())
		}
	}
	return errors.Join(failed...)
}

// exchanges returns the exchanges with the other processes of the run, nil if there are none.
func (p Plan) exchanges() *exchange.RunExchange {
	if p.Part == nil {
		return nil
	}
	return exchange.New(exchange.Place{
		Process: p.Part.Number, Processes: max(p.Part.Of, 1), First: p.Part.First, Count: p.Part.Count,
	}, p.Part.Post)
}

// exchange starts to exchange with the other processes of the run, if there are any. The caller must call end
// when the run has ended.
func (r *runner) exchange(ctx context.Context) (end func()) {
	x := r.pool.exchanges
	if x == nil || r.plan.Part.Post == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var both sync.WaitGroup
	for _, run := range []func(context.Context) error{
		x.Send, func(ctx context.Context) error { return r.plan.Part.Receive(ctx, x.Receive) },
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

// A writelessConn is a session for the Setup of a workload whose nodes another process has created: it
// writes nothing.
type writelessConn struct{ drivers.Conn }

// Create returns what the creation of the node would have returned.
func (c writelessConn) Create(_ context.Context, at string, _ []byte, _ drivers.Mode) (drivers.Child, error) {
	return drivers.Child{Name: path.Base(at), Seq: drivers.NoSeq}, nil
}

// Delete does nothing.
func (c writelessConn) Delete(context.Context, string, int32) error { return nil }

// Set does nothing.
func (c writelessConn) Set(context.Context, string, []byte, int32) (drivers.Stat, error) {
	return drivers.Stat{}, nil
}

// tapped returns the probe of a session as the part wraps it.
func (p *Part) tapped(session int, probe drivers.Probe) drivers.Probe {
	if p == nil || p.Probe == nil {
		return probe
	}
	return p.Probe(session, probe)
}

// fullConn returns the session itself, of which Setup got another.
func fullConn(c drivers.Conn) drivers.Conn {
	if b, ok := c.(writelessConn); ok {
		return b.Conn
	}
	return c
}

// The topics by which the processes of a run agree. They belong to no instance, except lastTopic.
const (
	lastTopic    = "last"    // the last turn that a process has begun when it stopped
	roundsTopic  = "rounds"  // rounds that have ended in the window
	drainedTopic = "drained" // a process has no more arrivals of the window
	windowTopic  = "window"  // rounds that had ended in a process when its window was to end for the n-th time
)

// noInstance is the instance of topics that belong to none.
const noInstance = -1

// agreeWindow returns when the window opens in all processes, or now if they do not agree: this part of the
// run ends then.
func (r *runner) agreeWindow(ctx context.Context) time.Time {
	if r.failed() || ctx.Err() != nil {
		return time.Now()
	}
	opens, err := r.plan.Part.Window(ctx)
	if err == nil {
		return opens
	}
	if ctx.Err() == nil {
		r.fail(err)
	}
	return time.Now()
}

// awaitWindow waits until the window opens: when that is decided, when the processes of the run have agreed,
// in a window of so many rounds when one more round has ended, and otherwise now.
func (r *runner) awaitWindow(ctx context.Context) {
	p := r.plan
	if p.AwaitWindow != nil {
		p.AwaitWindow(ctx)
	}
	switch {
	case p.Part != nil && p.Part.Window != nil && !r.window.IsOpen():
		r.window.Open(r.agreeWindow(ctx))
	case p.Part == nil && p.Rounds > 0 && r.pacer == nil:
		r.opensWith.Store(true)
		select {
		case <-r.opened:
			return
		case <-r.stop:
		case <-ctx.Done():
		}
		if !r.opensWith.CompareAndSwap(true, false) {
			<-r.opened
			return
		}
	}
	if r.window.IsOpen() {
		r.wait(ctx, time.Until(r.window.Opens()))
	}
	r.openWindow()
}

// agreeTurns makes the processes agree, when they stop, on the last turn that all clients of an instance take:
// the last that any of them has begun.
func (r *runner) agreeTurns() {
	x := r.pool.exchanges
	if x == nil {
		return
	}
	go func() {
		select {
		case <-r.stop:
		case <-r.rounds.Done():
			return
		}
		r.mu.Lock() // no client of this process begins a further turn
		defer r.mu.Unlock()
		for instance, turns := range r.turns {
			x.Instance(instance).AnnounceValue(lastTopic, 0, turns)
		}
	}()
}

// lastTurn returns how many turns the clients of an instance take. It waits until all processes have stopped.
func (r *runner) lastTurn(instance int) int64 {
	x := r.pool.exchanges
	all, err := x.Instance(instance).AwaitTally(r.rounds, lastTopic, 0, exchange.Counted(x.Processes))
	if err != nil {
		return 0
	}
	return all.Most
}

// countEvery is the time between two counts of the rounds of all processes.
const countEvery = 10 * time.Millisecond

// countTogether counts the rounds of all processes in a window that ends after a number of rounds, and stops
// this process when there are so many.
func (r *runner) countTogether(ctx context.Context) {
	x := r.pool.exchanges
	if x == nil || r.plan.Rounds == 0 {
		return
	}
	all := x.Instance(noInstance)
	go func() {
		for told := int64(0); ctx.Err() == nil && !r.stopping.Load(); r.wait(ctx, countEvery) {
			if done := r.done(); done > told {
				all.AnnounceValue(roundsTopic, 0, done-told)
				told = done
			}
		}
	}()
	go func() {
		if _, err := all.AwaitTally(r.rounds, roundsTopic, 0, func(t exchange.Tally) bool { return t.Sum >= r.plan.Rounds }); err == nil {
			r.closeWindow()
			close(r.enough)
		}
	}()
}

// doneTogether returns how many rounds have ended in the windows of all processes when they were to end for
// the n-th time.
func (r *runner) doneTogether(ctx context.Context, n int64) int64 {
	x := r.pool.exchanges
	if x == nil {
		return r.done()
	}
	x.Instance(noInstance).AnnounceValue(windowTopic, n, r.done())
	all, err := x.Instance(noInstance).AwaitTally(ctx, windowTopic, n, exchange.Counted(x.Processes))
	if err != nil {
		return r.plan.LeastRounds // the run ends
	}
	return all.Sum
}
