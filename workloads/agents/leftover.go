package agents

import (
	"context"
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

const (
	// removeTime bounds how long an agent that has lost its coordinator waits for the end of the session that made
	// the run's nodes, and removes them. The service may grant a longer session than was requested.
	removeTime = time.Minute
	// reachTime bounds how long it tries to reach the service, which may have gone too.
	reachTime = 5 * time.Second
)

// A visited is the site of a run that an agent knows.
type visited struct {
	site
	made bool // the coordinator has made all nodes
}

// removeLeft removes the subtrees of a run, in an agent that leaves it for the given reason, unless another process
// removes them. Other agents may do so at the same time. stampede clean removes what is left nevertheless.
// asked says that the user has ended this agent.
func (a *Agent) removeLeft(at visited, why error, asked bool) {
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	service, err := at.open(ctx, a.access)
	if err != nil {
		return
	}
	defer service.Close()
	for {
		reach, cancel := context.WithTimeout(ctx, reachTime)
		c, err := service.Dial(reach, drivers.Options{})
		cancel()
		if err != nil {
			return
		}
		for _, base := range at.bases() {
			err = errors.Join(err, at.removeBase(ctx, c, base, why, asked))
		}
		c.Close()
		if !errors.Is(err, drivers.ErrSessionLost) {
			return
		}
	}
}

// removeBase removes a subtree once the coordinator, which removes the nodes of its runs, has gone. An agent that has
// been cut off does not know whether the coordinator continues with other agents: only the service does. A coordinator
// that was lost while it made the nodes may still have been making some.
func (v visited) removeBase(ctx context.Context, c drivers.Conn, base string, why error, asked bool) error {
	in := v.in()
	if v.made && errors.Is(why, ErrCoordinatorLost) {
		return in.RemoveBase(ctx, c, base)
	}
	if asked { // the user does not wait for the end of a run that continues
		if alive, err := in.IsAlive(ctx, c, base); err != nil || alive {
			return err
		}
	}
	return in.RemoveEnded(ctx, c, base)
}
