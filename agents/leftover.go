package agents

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

const (
	// removeTime bounds how long an agent that has lost its coordinator waits for the end of the session that made
	// the run's nodes, and removes them.
	removeTime = 20 * time.Second
	// reachTime bounds how long it tries to reach the service, which may have gone too.
	reachTime = 5 * time.Second
)

// removeLeft removes the subtrees of the run, in an agent that leaves it for the given reason, if nobody else may be
// left who does it. Other agents may do so at the same time. stampede clean removes what is left nevertheless.
func (a *Agent) removeLeft(work assignment, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	service, err := work.open(ctx, a.access)
	if err != nil {
		return
	}
	defer service.Close()
	reach, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	c, err := service.Dial(reach, drivers.Options{})
	if err != nil {
		return
	}
	defer c.Close()
	in := namespace.Path(work.Settings.Namespace)
	if in == "" {
		in = namespace.Default
	}
	for _, base := range []string{work.Base, work.Background.Base} {
		if base != "" && coordinatorHasGone(ctx, c, in, base, why) {
			_ = in.RemoveBase(ctx, c, base)
		}
	}
}

// coordinatorHasGone reports whether the coordinator, which removes the nodes of its runs, has gone. An agent that has
// been cut off does not know whether the coordinator continues with other agents: only the service does.
func coordinatorHasGone(ctx context.Context, c drivers.Conn, in namespace.Path, base string, why error) bool {
	switch why {
	case ErrCoordinatorLost:
		return true
	case ErrCutOff:
		return in.AwaitEnd(ctx, c, base) == nil
	}
	alive, err := in.IsAlive(ctx, c, base) // the user has ended this agent, or its control plane failed
	return err == nil && !alive
}
