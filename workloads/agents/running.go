package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/opening"
)

// A Loss says when an agent was lost, and what of a run is missing with it.
type Loss struct {
	Noticed time.Duration // from the opening of the window; 0 if before
	// The agent was last heard of in the window at Heard, when Rounds of its rounds had ended. They are in
	// no count of the run.
	Heard  time.Duration
	Rounds int64
}

// ErrAgentLost is the error of a run that ended because an agent died or was cut off.
var ErrAgentLost = errors.New("lost, and the clients that it ran with it")

// A running is a run in progress.
type running struct {
	fleet  *Fleet
	plan   workloads.Plan
	work   assignment
	cancel context.CancelCauseFunc // ends the run

	mu       sync.Mutex
	open     bool
	opens    time.Duration // when the window opens, on the coordinator's clock
	follower *follower
	lost     map[string]Loss // by agent
	faults   *metrics.FaultLog
	absent   map[string]chan struct{}
}

func newRunning(f *Fleet, p workloads.Plan, a assignment, cancel context.CancelCauseFunc) *running {
	r := &running{fleet: f, plan: p, work: a, cancel: cancel, follower: newFollower(p.FollowedPhase()), lost: map[string]Loss{}, faults: metrics.NewFaultLog(0), absent: map[string]chan struct{}{}}
	for _, s := range a.Shares {
		r.absent[s.Agent] = make(chan struct{})
	}
	return r
}

// run assigns the parts, and waits for the reports. If the context ends or an agent is lost, it returns what
// was measured until then, with workloads.ErrInterrupted or ErrAgentLost.
func (f *Fleet) run(ctx context.Context, p workloads.Plan, a assignment) (*metrics.Record, []Contribution, error) {
	watched, cancel := context.WithCancelCause(ctx)
	r := newRunning(f, p, a, cancel)
	reports, err := r.do(watched)
	if err != nil {
		reports = f.abort(a)
		err = a.shortage(reports, err)
		maps.DeleteFunc(reports, func(_ string, r report) bool { return !r.measured() })
	}
	return r.conclude(ctx, reports, err)
}

// shortage returns the error of a run that has failed as err says. Where the service has opened no more sessions to an agent it
// says how many all agents have, if they have reported it: the background's are not known.
func (a assignment) shortage(reports map[string]report, err error) error {
	var all opening.Shortage
	if !errors.As(err, &all) || a.BackgroundBase != "" {
		return err
	}
	all.Open, all.Sessions = 0, 0
	for _, s := range a.Shares {
		in, known := reports[s.Agent]
		if !known {
			return err
		}
		all.Open, all.Sessions = all.Open+in.Sessions.Open, all.Sessions+in.Sessions.Sessions
	}
	return all
}

// do returns when all agents that are left have handed in their reports, or the run has failed.
func (r *running) do(ctx context.Context) (map[string]report, error) {
	var others sync.WaitGroup
	defer others.Wait()
	defer r.cancel(nil)
	for _, s := range r.work.Shares {
		others.Go(func() { r.watch(ctx, s.Agent) })
	}
	if err := r.fleet.plane.PutJSON(ctx, r.work.document(assigned), r.work); err != nil {
		return nil, caused(ctx, err)
	}
	others.Go(func() {
		if r.openWindow(ctx) == nil {
			others.Go(func() { r.inject(ctx) })
			r.follow(ctx)
		}
	})
	return r.reports(ctx)
}

// watch waits until the agent is lost, and does what the fleet does then.
func (r *running) watch(ctx context.Context, agent string) {
	if r.fleet.plane.AwaitLoss(ctx, agent) != nil {
		return // the run has ended
	}
	if left := r.lose(agent); !r.fleet.continues || left == 0 {
		r.cancel(fmt.Errorf("agent %s: %w", agent, ErrAgentLost))
		return
	}
	_ = r.fleet.plane.StandIn(ctx, r.work.document("")) // if the control plane is lost, other calls say so
}

// lose takes note that the agent is lost. It returns how many are left.
func (r *running) lose(agent string) (left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.follower.states[agent]
	loss := Loss{Heard: s.Elapsed, Rounds: s.Rounds}
	if r.open {
		loss.Noticed = max(r.fleet.clock.CoordinatorNow().SinceStart()-r.opens, 0)
	}
	r.lost[agent] = loss
	close(r.absent[agent])
	return len(r.present())
}

// present returns the agents that are not lost. The caller holds the lock.
func (r *running) present() (names []string) {
	for _, s := range r.work.Shares {
		if _, lost := r.lost[s.Agent]; !lost {
			names = append(names, s.Agent)
		}
	}
	return names
}

// heard takes note of the state of an agent.
func (r *running) heard(agent string, s state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follower.states[agent] = s
}

// lead is the time from the moment when all clients are warm to the opening of the window: enough for
// each agent to learn when that is.
const lead = 200 * time.Millisecond

// openWindow tells the agents when the window opens, once their clients are warm.
func (r *running) openWindow(ctx context.Context) error {
	if err := r.fleet.plane.Meet(ctx, r.work.document(warm), len(r.work.Shares)+1); err != nil {
		return err
	}
	opens := r.fleet.clock.CoordinatorNow().SinceStart() + lead + r.work.arrivalsFirst()
	if err := r.fleet.plane.PutJSON(ctx, r.work.document(window), opens); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open, r.opens = true, opens
	return nil
}

// reports collects the reports of all agents that are not lost. The first failure ends the run.
func (r *running) reports(ctx context.Context) (map[string]report, error) {
	all := map[string]report{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, s := range r.work.Shares {
		wait.Go(func() {
			in, found, err := r.report(ctx, s.Agent)
			if err == nil && found {
				err = r.failureOf(in)
			}
			if err != nil {
				r.cancel(fmt.Errorf("agent %s: %w", s.Agent, err))
			}
			if found {
				mu.Lock()
				defer mu.Unlock()
				all[s.Agent] = in
			}
		})
	}
	wait.Wait()
	return all, context.Cause(ctx)
}

// report waits for the report of an agent. It is not found if the agent is lost before it has handed it in.
func (r *running) report(ctx context.Context, agent string) (in report, found bool, err error) {
	waits, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.absent[agent]:
			cancel()
		case <-waits.Done():
		}
	}()
	text, err := r.fleet.plane.Get(waits, r.work.report(agent))
	if err != nil && waits.Err() != nil && ctx.Err() == nil {
		text, found, err = r.fleet.plane.Find(ctx, r.work.report(agent))
		if err != nil || !found {
			return in, false, err
		}
	}
	if err == nil {
		in, err = decodeReport(text)
	}
	return in, err == nil, err
}

// failureOf returns the error of a part, or nil if it has ended as planned.
func (r *running) failureOf(in report) error {
	switch {
	case in.Failure == "":
		return nil
	case in.Sessions.Why != "":
		return in.Sessions
	case in.Lost != nil:
		return partFailed{fmt.Errorf("%v: %w", r.plan.Form, in.Lost), in.measured()}
	}
	return partFailed{errors.New(in.Failure), in.measured()}
}

// A partFailed is the error of an agent whose part has failed: by an error of its form, or since its service is gone.
type partFailed struct {
	error
	measured bool // it has measured something until then
}

func (f partFailed) Unwrap() error { return f.error }

// conclude returns what a run that has ended so has measured. An agent without a report is lost.
func (r *running) conclude(ctx context.Context, reports map[string]report, err error) (*metrics.Record, []Contribution, error) {
	interrupted := err != nil && ctx.Err() != nil
	if interrupted {
		err = workloads.ErrInterrupted
	}
	var part partFailed
	failedPart := errors.As(err, &part) && part.measured && len(reports) == len(r.work.Shares)
	if !r.open || len(reports) == 0 || err != nil && !interrupted && !failedPart && !errors.Is(err, ErrAgentLost) {
		return nil, nil, err
	}
	for _, s := range r.work.Shares {
		if _, handedIn := reports[s.Agent]; handedIn {
			delete(r.lost, s.Agent)
		} else if _, known := r.lost[s.Agent]; !known {
			r.lose(s.Agent)
		}
	}
	if len(r.lost) > 0 && SupportsLoss(r.plan) != nil { // what is missing could be taken for a violation
		return nil, nil, err
	}
	record, parts, failed := r.fleet.combine(r.plan, r.work, reports, r.lost, r.opens)
	switch {
	case failedPart && failed != nil:
		return nil, nil, err
	case failed != nil:
		return nil, nil, failed
	case failedPart && !errors.As(err, new(*workloads.ServiceLost)): // a record has the doubt of that already
		err = workloads.EndedEarly(record, err)
	}
	r.recoveries(record, reports)
	return record, parts, err
}
