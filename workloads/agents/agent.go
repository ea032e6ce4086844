package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/clock"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/agents/journal"
	"github.com/stampede-bench/stampede/workloads/agents/merge"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/opening"
)

// An Agent runs parts of the load of a coordinator.
type Agent struct {
	control.Agent
	Plane *control.Plane
	Forms []workloads.Form
	// Security is how the agent connects to a service that needs TLS or credentials. If it is zero, the
	// coordinator says how.
	Security drivers.Security
	// Joined, if set, is called when the agent waits for its first run, and Runs before each run, with the
	// form and the number of sessions.
	Joined func()
	Runs   func(form string, sessions int)

	clock  func(time.Time) clock.Moment // what it shows when time.Now returns that; nil: it starts with Run
	offset *clock.Estimator
	access drivers.Security // to the service of the latest run
}

// Errors that end an agent.
var (
	ErrCoordinatorLost = errors.New("the coordinator has gone: its run, and this agent's part of it, have ended")
	ErrCutOff          = errors.New("the control plane no longer hears from this agent: its part of the run has ended")
	errAborted         = errors.New("the coordinator has ended the run")
)

// Run takes part in the runs of one coordinator, for which it waits. It returns nil when the coordinator
// needs it no longer.
func (a *Agent) Run(ctx context.Context) (err error) {
	user := ctx // it ends when the user ends this agent
	c, err := a.Plane.AwaitCoordinator(ctx)
	if err != nil {
		return err
	}
	if c.Version != a.Version {
		return fmt.Errorf("the coordinator is stampede %s, and this agent is %s: use the same", c.Version, a.Version)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go a.watchMemberships(ctx, cancel)
	end, err := a.startClock(ctx, c)
	if err != nil {
		return err
	}
	defer end()
	a.Secured = !a.Security.IsZero()
	if err := a.Plane.Join(ctx, a.Agent); err != nil {
		return caused(ctx, err)
	}
	if a.Joined != nil {
		a.Joined()
	}
	var latest visited
	defer func() {
		if err != nil && latest.Base != "" {
			a.removeLeft(latest, err, user.Err() != nil)
		}
	}()
	for number := 1; ; number++ {
		at, err := a.learn(ctx, number)
		if at.Base != "" {
			latest = visited{site: at}
		}
		if err != nil {
			return left(ctx, err)
		}
		if at.Base == "" { // there are no further runs
			return nil
		}
		if err := a.doRun(ctx, &latest); err != nil {
			return left(ctx, err)
		}
	}
}

// doRun waits for the assignment of a run whose site the agent knows, and takes part in it.
func (a *Agent) doRun(ctx context.Context, at *visited) error {
	var work assignment
	if err := a.Plane.GetJSON(ctx, at.document(assigned), &work); err != nil {
		return err
	}
	if work.Form == "" { // it could not begin
		return nil
	}
	at.made = true
	if s, ok := work.shareOf(a.Name); ok {
		return a.takePart(ctx, work, s)
	}
	return nil
}

// caused returns why the context has ended, if it has, instead of an error that follows from it.
func caused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// left returns why the agent leaves the coordinator, of an error that may follow from it. A call may notice
// that the session with the control plane has ended before the context does.
func left(ctx context.Context, err error) error {
	if ctx.Err() == nil && errors.Is(err, drivers.ErrSessionLost) {
		return ErrCutOff
	}
	return caused(ctx, err)
}

// watchMemberships ends the context when this process or the coordinator is no longer a member.
func (a *Agent) watchMemberships(ctx context.Context, cancel context.CancelCauseFunc) {
	gone := make(chan error, 1)
	go func() { gone <- a.Plane.AwaitEnd(ctx) }()
	select {
	case <-a.Plane.Lost():
		cancel(ErrCutOff)
	case err := <-gone:
		if err == nil {
			cancel(ErrCoordinatorLost)
		} else {
			cancel(ErrCutOff)
		}
	case <-ctx.Done():
	}
}

// exchangeEvery is the time between two exchanges with the coordinator's clock.
const exchangeEvery = 10 * time.Millisecond

// startClock estimates the coordinator's clock from now on, until end is called.
func (a *Agent) startClock(ctx context.Context, c control.Coordinator) (end func(), err error) {
	if a.clock == nil {
		a.clock = clock.StartClock().Reading
	}
	if a.offset, err = clock.NewEstimator(clock.DefaultMaxDrift); err != nil {
		return nil, err
	}
	peer, err := clock.Dial(ctx, c.Clock, c.Key, func() clock.Moment { return a.clock(time.Now()) })
	if err != nil {
		return nil, err
	}
	first, err := peer.Exchange(ctx)
	if err == nil {
		err = a.offset.Add(first)
	}
	if err != nil {
		peer.Close()
		return nil, fmt.Errorf("%w: does a firewall let UDP to %s through?", err, c.Clock)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = a.offset.Collect(ctx, peer, exchangeEvery) // the estimator keeps the error
	}()
	return func() {
		cancel()
		<-ended
		peer.Close()
	}, nil
}

func (a *Agent) now() time.Duration { return a.reading(time.Now()) }

// reading returns what the agent's clock showed when time.Now returned t.
func (a *Agent) reading(t time.Time) time.Duration { return a.clock(t).SinceStart() }

// takePart runs the agent's share and hands in its report, also of a failure.
func (a *Agent) takePart(ctx context.Context, work assignment, s share) error {
	if a.Runs != nil {
		a.Runs(work.Form, s.Count)
	}
	r, err := a.measure(ctx, work, s)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r = report{Failure: err.Error(), Sessions: r.Sessions}
	}
	text, err := r.encode()
	if err != nil {
		return err
	}
	return a.Plane.Put(ctx, work.report(a.Name), text)
}

// measure runs the agent's share until it has ended, or the coordinator ends the run.
func (a *Agent) measure(ctx context.Context, work assignment, s share) (_ report, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if _, err := a.Plane.Get(ctx, work.document(aborted)); err == nil {
			cancel(errAborted)
		}
	}()
	plan, err := work.plan(ctx, a.Forms, a.access)
	if err != nil {
		return report{}, err
	}
	defer func() {
		if e := plan.Service.Close(); err == nil {
			err = e
		}
	}()
	began := a.now()
	p := &agentRun{agent: a, work: work, share: s, packets: journal.New(a.now)}
	end, err := p.join(ctx, &plan)
	if err != nil {
		return report{}, err
	}
	record, err := workloads.RunPart(ctx, plan, p.part)
	end()
	if errors.Is(err, workloads.ErrInterrupted) && record != nil && context.Cause(ctx) == errAborted {
		err = nil // the coordinator wants what was measured until then
	}
	var failed workloads.FormError
	var lost *workloads.ServiceLost
	if (errors.As(err, &failed) || errors.As(err, &lost)) && ctx.Err() == nil {
		in, unable := p.report(record, began)
		if unable != nil {
			return report{}, err
		}
		in.Failure, in.Lost = err.Error(), lost
		return in, nil
	}
	if err != nil {
		return report{Sessions: p.sessions(err)}, caused(ctx, err)
	}
	return p.report(record, began)
}

// A agentRun is an agent's share of a run in progress.
type agentRun struct {
	agent   *Agent
	work    assignment
	share   share
	part    *workloads.Part
	packets *journal.Journal
	open    atomic.Int64              // sessions of clients, until all are
	laps    []*hdrhistogram.Histogram // the response times of each interval
}

// partEndTime is how long rounds in progress may take to end in an interrupted run: another process may be
// gone, for whose clients they wait.
const partEndTime = 5 * time.Second

// join makes the part of the plan. The caller calls end when the run has ended.
func (p *agentRun) join(ctx context.Context, plan *workloads.Plan) (end func(), err error) {
	board, err := p.agent.Plane.Board(ctx, p.work.document("board"), p.agent.Name, p.work.names())
	if err != nil {
		return nil, err
	}
	at := exchange.Place{Process: p.work.number(p.agent.Name), Processes: len(p.work.Shares),
		First: p.share.First, Count: p.share.Count}
	p.part = workloads.NewPart(at, p.work.Base)
	p.part.Exchange = exchange.New(at, board.Post, board.Receive)
	p.part.Steps, p.part.EndTime = check.KeepSteps(p.agent.reading), partEndTime
	p.part.Meet, p.part.Window = p.meet, p.awaitWindow
	if of := p.share.Background; of.Count > 0 {
		at := exchange.Place{First: of.First, Count: of.Count}
		p.part.Background = workloads.NewPart(at, p.work.BackgroundBase)
	}
	if len(p.work.Faults)+len(p.work.ServerFaults) > 0 {
		servers, err := parsed(p.work.ServerFaults)
		if err != nil {
			return nil, err
		}
		p.part.Faults = &workloads.PartFaults{Log: metrics.NewFaultLog(p.share.Count),
			Sessions: p.work.sessions(), Claims: claims{p.agent, p.work.site}, Servers: servers}
	}
	if notifies(*plan) {
		p.part.Probe = p.packets.Probe
	}
	plan.Settings.Joining = func(open, _ int) { p.open.Store(int64(open)) }
	w := &stateWriter{state: state{Run: p.work.Number}}
	plan.Progress = func(now workloads.Progress) {
		if now.Lap.Times != nil { // else it only says how many errors there were in all
			p.laps = append(p.laps, now.Lap.Times)
		}
		w.add(now)
	}
	return p.writeStates(ctx, w), nil
}

// notifies reports whether writes of the run can wake clients.
func notifies(p workloads.Plan) bool {
	return p.Form.Recipe != "mix" || p.Settings.Mix.Watchers > 0
}

// meet returns when the other agents have come to the point too, or the coordinator has ended the run, so
// that what was measured until then is handed in.
func (p *agentRun) meet(ctx context.Context, at workloads.Point) error {
	p.open.Store(int64(p.share.Count))
	err := p.agent.Plane.Meet(ctx, p.work.document(string(at)), len(p.work.Shares))
	if context.Cause(ctx) == errAborted {
		return nil
	}
	return err
}

// awaitWindow waits until all clients are warm, and returns the time at which all agents open the window.
func (p *agentRun) awaitWindow(ctx context.Context, _ func() time.Time) (time.Time, error) {
	a := p.agent
	if err := a.Plane.Meet(ctx, p.work.document(warm), len(p.work.Shares)+1); err != nil {
		return time.Time{}, err
	}
	var opens time.Duration // on the coordinator's clock
	if err := a.Plane.GetJSON(ctx, p.work.document(window), &opens); err != nil {
		return time.Time{}, err
	}
	now := time.Now()
	shown, err := a.offset.Convert(a.clock(now))
	return now.Add(opens - shown.Middle().SinceStart()), err
}

// sessions returns how many sessions the part has opened, and why no more if that has ended it.
func (p *agentRun) sessions(err error) opening.Shortage {
	if partly := new(opening.Error); errors.As(err, &partly) {
		return partly.Shortage
	}
	return opening.Shortage{Open: int(p.open.Load()), Sessions: p.share.Count}
}

// report returns what the agent hands in.
func (p *agentRun) report(m *metrics.Record, began time.Duration) (r report, err error) {
	for i, times := range p.laps {
		m.Intervals[i].Times = times
	}
	r.Sessions = p.sessions(nil)
	if r.Record, err = merge.Marshal(m); err != nil {
		return r, err
	}
	var packets bytes.Buffer
	if _, err := p.packets.WriteTo(&packets); err != nil {
		return r, err
	}
	r.Journal, r.Steps = packets.Bytes(), p.part.Steps.All()
	if f := p.part.Faults; f != nil {
		r.Faults, r.FaultsBegan = f.Log.Events(), p.agent.reading(f.Log.Begun())
	}
	if r.Clock, err = timelineOf(p.agent.offset, began, p.agent.now()); err != nil {
		return r, err
	}
	drift, err := p.agent.offset.Drift()
	r.Drift = float64(drift.Mean)
	return r, err
}
