package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/agents/clock"
	"github.com/stampede-bench/stampede/agents/control"
	"github.com/stampede-bench/stampede/agents/journal"
	"github.com/stampede-bench/stampede/agents/merge"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// An Agent runs parts of the load of a coordinator.
type Agent struct {
	control.Agent
	Plane *control.Plane
	Forms []workloads.Form
	// Joined, if set, is called when the agent waits for its first run, and Runs before each run, with the
	// form and the number of sessions.
	Joined func()
	Runs   func(form string, sessions int)

	clock  clock.Clock
	offset *clock.Estimator
}

// Errors that end an agent.
var (
	ErrCoordinatorLost = errors.New("the coordinator has gone: its run, and this agent's part of it, have ended")
	ErrCutOff          = errors.New("the control plane no longer hears from this agent: its part of the run has ended")
	errAborted         = errors.New("the coordinator has ended the run")
)

// Run takes part in the runs of one coordinator, for which it waits. It returns nil when the coordinator
// needs it no longer.
func (a *Agent) Run(ctx context.Context) error {
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
	if err := a.Plane.Join(ctx, a.Agent); err != nil {
		return caused(ctx, err)
	}
	if a.Joined != nil {
		a.Joined()
	}
	for number := 1; ; number++ {
		var work assignment
		if err := a.Plane.GetJSON(ctx, assignment{Number: number}.document(assigned), &work); err != nil {
			return caused(ctx, err)
		}
		if work.Form == "" { // there are no further runs
			return nil
		}
		if s, ok := work.of(a.Name); ok {
			if err := a.takePart(ctx, work, s); err != nil {
				return caused(ctx, err)
			}
		}
	}
}

// caused returns why the context has ended, if it has, instead of an error that follows from it.
func caused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
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
	a.clock = clock.StartClock()
	if a.offset, err = clock.NewEstimator(clock.DefaultMaxDrift); err != nil {
		return nil, err
	}
	peer, err := clock.Dial(ctx, c.Clock, c.Key, a.clock.Now)
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

func (a *Agent) now() time.Duration { return a.clock.Now().Since() }

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
		r = report{Failure: err.Error()}
	}
	text, err := r.encode()
	if err != nil {
		return err
	}
	return a.Plane.Put(ctx, work.report(a.Name), text)
}

// measure runs the agent's share until it has ended, or the coordinator ends the run.
func (a *Agent) measure(ctx context.Context, work assignment, s share) (_ report, err error) {
	whole := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if _, err := a.Plane.Get(ctx, work.document(aborted)); err == nil {
			cancel(errAborted)
		}
	}()
	plan, err := work.plan(ctx, a.Forms)
	if err != nil {
		return report{}, err
	}
	defer func() {
		if whole.Err() != nil { // nobody else may be left who does it
			removeBase(plan, work.Base)
			removeBase(plan, work.Background.Base)
		}
		if e := plan.Service.Close(); err == nil {
			err = e
		}
	}()
	began := a.now()
	p := &part{agent: a, work: work, share: s, steps: check.NewSteps(a.now), packets: journal.New(a.now)}
	end, err := p.join(ctx, &plan)
	if err != nil {
		return report{}, err
	}
	record, err := workloads.Run(ctx, plan)
	end()
	if errors.Is(err, workloads.ErrInterrupted) && record != nil && context.Cause(ctx) == errAborted {
		err = nil // the coordinator wants what was measured until then
	}
	if err != nil {
		return report{}, caused(ctx, err)
	}
	return p.report(record, began)
}

// A part is an agent's share of a run in progress.
type part struct {
	agent   *Agent
	work    assignment
	share   share
	steps   *check.Steps
	packets *journal.Journal
}

// join makes the plan that of the part. The caller calls end when the run has ended.
func (p *part) join(ctx context.Context, plan *workloads.Plan) (end func(), err error) {
	board, err := p.agent.Plane.Board(ctx, p.work.document("board"), p.agent.Name, p.work.names())
	if err != nil {
		return nil, err
	}
	plan.Part = &workloads.Part{
		First: p.share.First, Count: p.share.Count, Number: p.work.number(p.agent.Name), Of: len(p.work.Shares), Base: p.work.Base,
		Steps: p.steps, Meet: p.meet, Post: board.Post, Receive: board.Receive, Window: p.awaitWindow,
		Background: &workloads.Part{First: p.share.Beside.First, Count: p.share.Beside.Count, Base: p.work.Background.Base},
	}
	if notifies(*plan) {
		plan.Part.Probe = p.packets.Probe
	}
	var latest atomic.Pointer[state]
	plan.Progress = func(now workloads.Progress) {
		latest.Store(&state{Run: p.work.Number, Elapsed: now.Elapsed, Rounds: now.Rounds, Errors: now.Errors, CPUCores: now.CPUCores})
	}
	return p.tell(ctx, &latest), nil
}

// A state is how far a part of a run is.
type state struct {
	Run            int // its number
	Elapsed        time.Duration
	Rounds, Errors int64
	CPUCores       float64
}

// tellEvery is the time between two states that an agent tells.
const tellEvery = 500 * time.Millisecond

// tell tells the coordinator the latest state, until end is called.
func (p *part) tell(ctx context.Context, latest *atomic.Pointer[state]) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			workloads.Sleep(ctx, tellEvery)
			if s := latest.Swap(nil); s != nil {
				_ = p.agent.Plane.Tell(ctx, p.agent.Name, s) // it is only shown
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// notifies reports whether writes of the run can wake clients.
func notifies(p workloads.Plan) bool {
	return p.Form.Recipe != "mix" || p.Settings.Mix.Watchers > 0
}

func (p *part) meet(ctx context.Context, at workloads.Point) error {
	return p.agent.Plane.Meet(ctx, p.work.document(string(at)), len(p.work.Shares))
}

// awaitWindow waits until all clients are warm, and returns the time at which all agents open the window.
func (p *part) awaitWindow(ctx context.Context) (time.Time, error) {
	a := p.agent
	if err := a.Plane.Meet(ctx, p.work.document(warm), len(p.work.Shares)+1); err != nil {
		return time.Time{}, err
	}
	var opens time.Duration // on the coordinator's clock
	if err := a.Plane.GetJSON(ctx, p.work.document(window), &opens); err != nil {
		return time.Time{}, err
	}
	now, err := a.offset.At(a.clock.Now())
	return time.Now().Add(opens - now.Middle().Since()), err
}

// report returns what the agent hands in.
func (p *part) report(m *metrics.Record, began time.Duration) (r report, err error) {
	if r.Record, err = merge.Marshal(m); err != nil {
		return r, err
	}
	var packets bytes.Buffer
	if _, err := p.packets.WriteTo(&packets); err != nil {
		return r, err
	}
	r.Journal, r.Steps = packets.Bytes(), p.steps.All()
	if r.Clock, err = timelineOf(p.agent.offset, began, p.agent.now()); err != nil {
		return r, err
	}
	drift, err := p.agent.offset.Drift()
	r.Drift = float64(drift.Mean)
	return r, err
}

// removeTime bounds how long an agent whose run has no coordinator any more removes the run's nodes.
const removeTime = 20 * time.Second

// removeBase removes the run's subtree. Other agents may do so at the same time.
func removeBase(p workloads.Plan, base string) {
	if base == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	if c, err := p.Service.Dial(ctx, drivers.Options{}); err == nil {
		_ = namespace.Path(p.Settings.Namespace).RemoveBase(ctx, c, base) // stampede clean removes what is left
		c.Close()
	}
}
