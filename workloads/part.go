package workloads

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A Part is the sessions of a run that one process has. A run in one process has one part. Package agents
// divides a run among processes, and merges the records of its parts.
type Part struct {
	exchange.Place        // which sessions and which process
	Base           string // the run's subtree, which a Site has made
	// Exchange passes what clients do to all clients of the run.
	Exchange *exchange.RunExchange
	// Steps records the steps of this process's clients that matter to the judges of the run.
	Steps *check.Steps
	// Probe wraps the probe of each session.
	Probe func(session int, p drivers.Probe) drivers.Probe
	// Faults are those of the run; nil if it has none.
	Faults *PartFaults
	// Meet returns when all processes have come to the point.
	Meet func(context.Context, Point) error
	// Background is this process's part of the background: its numbers and its subtree; nil if there is none.
	Background *Part
	// Window returns when the window opens, the same moment in all processes. It is called when the clients
	// are warm or, in an open loop, before they begin: the window then opens after the warm-up. due returns when
	// this process would open it, and may wait for that.
	Window func(ctx context.Context, due func() time.Time) (opens time.Time, err error)
	// Counters reads the servers' own counters, nil if they have none that count this part alone.
	Counters func(context.Context) (drivers.Reading, error)
	// EndTime bounds the time that rounds in progress may take to end when the run is interrupted.
	EndTime time.Duration
}

// NewPart returns the part of a process that waits for no other and tells no other process anything.
func NewPart(at exchange.Place, base string) *Part {
	began := time.Now()
	return &Part{
		Place: at, Base: base, Exchange: exchange.Alone(at), EndTime: endless,
		Steps:    check.NewSteps(func(at time.Time) time.Duration { return at.Sub(began) }),
		Probe:    func(_ int, p drivers.Probe) drivers.Probe { return p },
		Meet:     func(context.Context, Point) error { return nil },
		Window:   func(_ context.Context, due func() time.Time) (time.Time, error) { return due(), nil },
		Counters: func(context.Context) (drivers.Reading, error) { return nil, nil },
	}
}

// A PartFaults says that faults are injected into the run: those of the plan into the clients that it names,
// each by its process, and maybe others into the service.
type PartFaults struct {
	Log      *metrics.FaultLog // of what they do to this process's clients
	Sessions int               // of the run
	Claims   faults.Claims     // decides which process injects a fault into the holder; nil: this one
	Servers  faults.Schedule   // of servers, which another process injects
}

// A Point of a run is where the processes that share it wait for each other.
type Point string

const (
	SessionsOpen    Point = "sessions-open"    // no client has begun
	RoundsEnded     Point = "rounds-ended"     // all rounds have ended
	NotificationsIn Point = "notifications-in" // no notification is outstanding; the sessions are still open
)

// meet waits until all processes of the run have come to the point.
func (r *runner) meet(ctx context.Context, at Point) {
	if r.failed() || ctx.Err() != nil { // the coordinator ends the other parts of a failed one
		return
	}
	if err := r.part.Meet(ctx, at); err != nil {
		r.fail(err)
	}
}

// A Site is the subtree of a run.
type Site struct {
	plan, mix        Plan  // mix is that of the background
	pool, background *Pool // background is nil if the plan has none
}

// NewSite chooses where the subtree will be. It creates nothing.
func NewSite(p Plan) (*Site, error) {
	p.window = metrics.NewWindow()
	if err := p.checkFaults(nil); err != nil {
		return nil, err
	}
	newSite := func(p Plan) *Pool {
		base := p.Settings.namespace().NewBase()
		part := NewPart(exchange.Everywhere(), base)
		part.Counters = serverCounters(p.Service)
		if n := Sessions(p); p.faulty && len(p.Faults) > 0 {
			part.Faults = &PartFaults{Log: metrics.NewFaultLog(n), Sessions: n}
		}
		c := newPool(p, part)
		c.base = base
		return c
	}
	s := &Site{plan: p, pool: newSite(p)}
	if p.Background.Clients > 0 {
		s.mix = p.Background.plan(p)
		s.background = newSite(s.mix)
	}
	return s, nil
}

// Create creates the subtree and what the plan has on the service before its clients arrive. The caller must
// call Conclude whether or not Create fails.
func (s *Site) Create(ctx context.Context) error {
	if err := s.pool.create(ctx, s.plan); err != nil || s.background == nil {
		return err
	}
	return s.background.create(ctx, s.mix)
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

// Conclude closes all sessions and removes the subtrees. It returns the error of the run. Nodes that remain
// are a warning of its record, if it has one, unless they go with their service.
func (s *Site) Conclude(m *metrics.Record, err error) error {
	gone := m != nil && slices.ContainsFunc(m.Doubts, func(d metrics.Warning) bool { return d.Code == metrics.ServiceLost }) // an agent may have found it
	pools := slices.DeleteFunc([]*Pool{s.background, s.pool}, func(p *Pool) bool { return p == nil })
	for _, p := range pools {
		if gone {
			p.giveUp()
		}
	}
	var left *namespace.RemainError
	for _, p := range pools {
		if lost := p.preloadLost.Load(); lost > 0 && m != nil {
			m.Warn(metrics.Warning{Code: metrics.PreloadLost, Numbers: metrics.Numbers{
				"lost": float64(lost), "sessions": float64(len(p.watchers))}})
		}
		failed, on := p.Close(), p.Service.Info()
		if r, ok := p.Service.(drivers.Reacher); ok && m != nil && p == s.pool {
			if all := r.Unreached(); len(all) > 0 {
				m.Warn(metrics.Warning{Code: metrics.Unreached, Numbers: metrics.Numbers{"unreached": float64(len(all)), "servers": float64(on.Servers)},
					Names: metrics.Names{"addresses": strings.Join(all, ", ")}})
			}
		}
		switch is := errors.As(failed, &left); {
		case failed == nil:
		case m == nil || !is:
			err = errors.Join(err, failed)
		case on.Started == "":
			m.Warn(metrics.Warning{Code: metrics.NodesRemain, Names: metrics.Names{
				"path": left.Base, "namespace": string(p.namespace), "backend": on.URL, "why": left.Err.Error()}})
		}
	}
	return err
}

// exchange exchanges with the other processes of the run. The caller must call end when the run has ended.
func (r *runner) exchange(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.part.Exchange.Run(ctx); err != nil && ctx.Err() == nil {
			r.fail(err)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
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
// run ends then. due returns when this process would open it.
func (r *runner) agreeWindow(ctx context.Context, due func() time.Time) time.Time {
	if r.failed() || ctx.Err() != nil {
		return time.Now()
	}
	opens, err := r.part.Window(ctx, due)
	if err == nil {
		return opens
	}
	if ctx.Err() == nil {
		r.fail(err)
	}
	return time.Now()
}

// awaitWindow waits until the window opens: when that is decided, or when the processes of the run agree.
func (r *runner) awaitWindow(ctx context.Context) {
	if !r.window.IsOpen() {
		opens := r.agreeWindow(ctx, func() time.Time { return r.nextRound(ctx) })
		if !r.window.IsOpen() && opens.After(time.Now()) {
			r.window.Open(opens)
		}
	}
	if r.window.IsOpen() {
		r.wait(ctx, time.Until(r.window.Opens()))
	}
	never := ctx.Err() != nil || r.stopping.Load() // the run ended before: nothing belongs to the window
	if never {
		r.window.CloseNow()
	}
	if r.openWindow(); never {
		r.shutAt(r.before)
	}
}

// nextRound returns the present. In a closed loop with a window of so many rounds it first waits until one
// more round has ended, and opens the window at that moment.
func (r *runner) nextRound(ctx context.Context) time.Time {
	if r.plan.Rounds > 0 && r.pacer == nil {
		r.opensWith.Store(true)
		select {
		case <-r.opened:
		case <-r.stop:
		case <-ctx.Done():
		}
		if !r.opensWith.CompareAndSwap(true, false) {
			<-r.opened
		}
	}
	return time.Now()
}

// agreeTurns makes the processes agree, when they stop, on the last turn that all clients of an instance
// take: the last that any of them has begun.
func (r *runner) agreeTurns() {
	go func() {
		select {
		case <-r.stop:
		case <-r.rounds.Done():
			return
		}
		r.mu.Lock() // no client of this process begins a further turn
		defer r.mu.Unlock()
		for instance, turns := range r.turns {
			r.part.Exchange.Instance(instance).AnnounceValue(lastTopic, 0, turns)
		}
	}()
}

// lastTurn returns how many turns the clients of an instance take. It waits until all processes have stopped.
func (r *runner) lastTurn(instance int) int64 {
	x := r.part.Exchange
	all, err := x.Instance(instance).AwaitTally(r.rounds, lastTopic, 0, exchange.Counted(x.Processes))
	if err != nil {
		return 0
	}
	return all.Most
}

// countRounds counts rounds that ended in the window, and closes the window if they are enough, in all
// processes together.
func (r *runner) countRounds(rounds int64) {
	r.inWindow.Add(rounds)
	if limit := r.plan.Rounds; limit > 0 {
		all := r.part.Exchange.Instance(noInstance).AnnounceValue(roundsTopic, 0, rounds).Sum
		if all >= limit && all-rounds < limit {
			r.closeWindow()
		}
	}
}

// awaitRounds closes the window when enough rounds have ended in all processes, if it is a window of so many
// rounds.
func (r *runner) awaitRounds() {
	if r.plan.Rounds == 0 {
		return
	}
	go func() {
		enough := func(t exchange.Tally) bool { return t.Sum >= r.plan.Rounds }
		if _, err := r.part.Exchange.Instance(noInstance).AwaitTally(r.rounds, roundsTopic, 0, enough); err == nil {
			r.closeWindow()
			close(r.enough)
		}
	}()
}
