package agents

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/agents/clock"
	"github.com/stampede-bench/stampede/agents/control"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// A Fleet is the agents of one coordinator. It does one run at a time.
type Fleet struct {
	plane  *control.Plane
	agents []control.Agent
	clock  clock.Clock
	peer   net.PacketConn // where the clock answers
	runs   int
}

// Options describe a Fleet.
type Options struct {
	Agents  int
	Version string // of stampede
	Address string // of the coordinator's clock, host:port, which agents can reach; port 0 chooses a free one
	// Present is called with the number of agents whenever it has changed.
	Present func(n int)
}

// Gather makes this process the coordinator, and waits until there are enough agents.
func Gather(ctx context.Context, plane *control.Plane, o Options) (_ *Fleet, err error) {
	f := &Fleet{plane: plane, clock: clock.StartClock()}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.peer, err = net.ListenPacket("udp", o.Address); err != nil {
		return nil, err
	}
	key := clock.NewKey()
	go clock.Serve(f.peer, key, f.clock.CoordinatorNow)
	if err := plane.Lead(ctx, control.Coordinator{Version: o.Version, Clock: f.peer.LocalAddr().String(), Key: key}); err != nil {
		return nil, err
	}
	f.agents, err = plane.AwaitAgents(ctx, o.Agents, o.Present)
	return f, err
}

// Close dismisses the agents and closes the session with the control plane.
func (f *Fleet) Close() error {
	if f.agents != nil {
		ctx, cancel := context.WithTimeout(context.Background(), control.Lease)
		defer cancel()
		f.runs++
		_ = f.plane.PutJSON(ctx, assignment{Number: f.runs}.document(assigned), assignment{}) // else they end with this session
		f.awaitLeave(ctx)
	}
	if f.peer != nil {
		f.peer.Close()
	}
	return f.plane.Close()
}

// awaitLeave waits until all agents have left.
func (f *Fleet) awaitLeave(ctx context.Context) {
	for _, a := range f.agents {
		_ = f.plane.AwaitLoss(ctx, a.Name)
	}
}

// ErrAgentLost is the error of a run that ended because an agent died or was cut off.
var ErrAgentLost = errors.New("lost, and the clients that it ran with it")

// Run executes the plan on the agents and returns the merged measurements, and what each agent did.
func (f *Fleet) Run(ctx context.Context, p workloads.Plan) (_ *metrics.Record, _ []Contribution, err error) {
	if err := Supports(p); err != nil {
		return nil, nil, err
	}
	if err := f.separate(ctx, p); err != nil {
		return nil, nil, err
	}
	site, err := workloads.NewSite(ctx, p)
	defer func() {
		if e := site.Close(); err == nil {
			err = e
		}
	}()
	if err != nil {
		return nil, nil, err
	}
	f.runs++
	a, err := assign(p, f.runs, site, divide(workloads.Sessions(p), f.names()))
	if err != nil {
		return nil, nil, err
	}
	return f.run(ctx, p, a)
}

func (f *Fleet) names() (names []string) {
	for _, a := range f.agents {
		names = append(names, a.Name)
	}
	return names
}

// member returns what is known of an agent.
func (f *Fleet) member(name string) control.Agent {
	return f.agents[slices.IndexFunc(f.agents, func(a control.Agent) bool { return a.Name == name })]
}

// separate returns an error if the control plane is the service under test.
func (f *Fleet) separate(ctx context.Context, p workloads.Plan) error {
	same, err := f.plane.Is(ctx, p.Service)
	if same {
		return errors.New("the control plane is the service under test, whose load it would change: use another one")
	}
	return err
}

// run assigns the parts, and waits for the reports. If the context ends, it returns what was measured until
// then, with workloads.ErrInterrupted.
func (f *Fleet) run(ctx context.Context, p workloads.Plan, a assignment) (*metrics.Record, []Contribution, error) {
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, s := range a.Shares {
		go func() {
			if err := f.plane.AwaitLoss(watched, s.Agent); err == nil {
				cancel(fmt.Errorf("agent %s: %w", s.Agent, ErrAgentLost))
			}
		}()
	}
	if err := f.plane.PutJSON(watched, a.document(assigned), a); err != nil {
		return nil, nil, caused(watched, err)
	}
	opened := make(chan time.Duration, 1)
	go func() {
		if at, err := f.openWindow(watched, a); err == nil {
			opened <- at
			f.follow(watched, p, a, at)
		}
	}()
	reports, err := f.reports(watched, a, cancel)
	if err != nil {
		reports = f.abort(a)
	}
	select {
	case at := <-opened:
		if err != nil && (ctx.Err() == nil || len(reports) < len(a.Shares)) {
			return nil, nil, f.ended(ctx, err)
		}
		record, parts, failed := f.combine(p, a, reports, at)
		if failed != nil {
			return nil, nil, failed
		}
		return record, parts, f.ended(ctx, err)
	default:
		return nil, nil, f.ended(ctx, err)
	}
}

// ended returns the error of a run: an interruption if the caller has ended it.
func (f *Fleet) ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return workloads.ErrInterrupted
	}
	return err
}

// followEvery is the time between two reports of a run's progress.
const followEvery = 500 * time.Millisecond

// follow reports the progress of all agents together, until the context ends.
func (f *Fleet) follow(ctx context.Context, p workloads.Plan, a assignment, opens time.Duration) {
	for p.Progress != nil {
		workloads.Sleep(ctx, followEvery)
		now := workloads.Progress{Measuring: true, Elapsed: max(f.clock.CoordinatorNow().Since()-opens, 0)}
		for _, s := range a.Shares {
			var of state
			if told, err := f.plane.Ask(ctx, s.Agent, &of); err == nil && told && of.Run == a.Number {
				now.Rounds, now.Errors, now.CPUCores = now.Rounds+of.Rounds, now.Errors+of.Errors, now.CPUCores+of.CPUCores
			}
		}
		if ctx.Err() != nil {
			return
		}
		p.Progress(now)
	}
}

// lead is the time from the moment when all clients are warm to the opening of the window: enough for
// each agent to learn when that is.
const lead = 200 * time.Millisecond

// openWindow tells the agents when the window opens, once their clients are warm.
func (f *Fleet) openWindow(ctx context.Context, a assignment) (opens time.Duration, err error) {
	if err := f.plane.Meet(ctx, a.document(warm), len(a.Shares)+1); err != nil {
		return 0, err
	}
	opens = f.clock.CoordinatorNow().Since() + lead + a.arrivalsFirst()
	return opens, f.plane.PutJSON(ctx, a.document(window), opens)
}

// reports collects the reports of all agents. The first failure ends the run.
func (f *Fleet) reports(ctx context.Context, a assignment, cancel context.CancelCauseFunc) ([]report, error) {
	all := make([]report, len(a.Shares))
	var wait sync.WaitGroup
	for i, s := range a.Shares {
		wait.Go(func() {
			text, err := f.plane.Get(ctx, a.report(s.Agent))
			if err == nil {
				all[i], err = decodeReport(text)
			}
			if err == nil && all[i].Failure != "" {
				err = errors.New(all[i].Failure)
			}
			if err != nil {
				cancel(fmt.Errorf("agent %s: %w", s.Agent, err))
			}
		})
	}
	wait.Wait()
	return all, context.Cause(ctx)
}

// abortTime bounds how long the agents of an aborted run have to close their sessions.
const abortTime = 30 * time.Second

// abort ends the run on all agents, waits until they have closed their sessions, and returns the reports of
// those that have measured something.
func (f *Fleet) abort(a assignment) (reports []report) {
	ctx, cancel := context.WithTimeout(context.Background(), abortTime)
	defer cancel()
	if f.plane.Put(ctx, a.document(aborted), nil) != nil {
		return nil
	}
	for _, s := range a.Shares {
		lost, cancel := context.WithCancel(ctx)
		go func() {
			_ = f.plane.AwaitLoss(lost, s.Agent) // it has no sessions then, and makes no report
			cancel()
		}()
		text, err := f.plane.Get(lost, a.report(s.Agent))
		cancel()
		if err != nil {
			continue
		}
		if r, err := decodeReport(text); err == nil && r.Failure == "" {
			reports = append(reports, r)
		}
	}
	return reports
}
