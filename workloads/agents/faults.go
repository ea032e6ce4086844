package agents

import (
	"context"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// inject injects the faults of servers, which this process has started, until the window ends. The agents inject
// those of their clients.
func (r *running) inject(ctx context.Context) {
	servers, _ := r.plan.Faults.Split()
	if len(r.plan.Faults) == 0 {
		return
	}
	opens := time.Now().Add(r.opens - r.fleet.clock.CoordinatorNow().Since())
	r.faults.BeginAt(opens)
	if len(servers) == 0 {
		return
	}
	workloads.Sleep(ctx, time.Until(opens))
	ctx, cancel := context.WithDeadline(ctx, opens.Add(r.plan.Duration))
	defer cancel()
	p := r.plan
	p.Faults = servers
	if err := workloads.InjectFaults(ctx, p, r.faults); err != nil {
		r.cancel(fmt.Errorf("coordinator: %w", err))
	}
}

// A claims decides by the control plane which agent injects a fault into the holder.
type claims struct {
	agent *Agent
	site  site
}

// name names the claim of a fault.
func (c claims) name(fault int) string { return c.site.document(fmt.Sprintf("fault-%d", fault)) }

// Claim claims a fault for the agent.
func (c claims) Claim(ctx context.Context, fault int) (bool, error) {
	return c.agent.Plane.Claim(ctx, c.name(fault), c.agent.Name)
}

// Await returns when an agent has claimed the fault.
func (c claims) Await(ctx context.Context, fault int) error {
	return c.agent.Plane.AwaitClaim(ctx, c.name(fault))
}

// recoveries adds the faults to the merged record, and how the clients of all agents recovered from them. Each time
// of an agent is estimated on the coordinator's clock.
func (r *running) recoveries(merged *metrics.Record, reports map[string]report) {
	if len(r.plan.Faults) == 0 {
		return
	}
	for _, s := range r.work.Shares {
		in, handedIn := reports[s.Agent]
		if !handedIn {
			continue
		}
		r.faults.Add(in.Faults, func(at time.Duration) time.Duration {
			return max(in.Clock.middle(in.FaultsBegan+at)-r.opens, 0)
		})
		merged.FaultsError = max(merged.FaultsError, in.Clock.error())
	}
	merged.Breaks, merged.Recoveries = r.faults.Breaks(), r.faults.Recoveries(merged.Duration)
}
