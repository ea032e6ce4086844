package recipe

import (
	"context"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Config is one client's handle on a value that all clients follow.
type Config interface {
	// Follow calls see with the value, and again after each change that it observes, until the
	// context ends or the session is lost.
	Follow(ctx context.Context, see func(value []byte)) error
	// Set changes the value.
	Set(ctx context.Context, value []byte) error
}

// Configs returns the workload constructor for a form of config: all clients follow the value, and
// the first client changes it repeatedly, each time when all clients have seen the last change and
// it has thought. open creates one client's handle on the config at a path, which is an existing
// node.
func Configs[S drivers.Conn, C Config](open func(c S, path string) C) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		return &configWorkload{updating: newUpdating(s), polls: s.Polls, open: openerOf[Config](open)}
	}
}

type configWorkload struct {
	updating
	polls      int
	open       opener[Config]
	visibility *check.Visibility
}

func (w *configWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.attach(base+"/config", clients)
	w.visibility = check.NewVisibility(clients, 1, w.recorded)
}

func (w *configWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	return namespace.CreateNode(ctx, c, w.path, check.UpdateData(0), 0)
}

func (w *configWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *configWorkload) join(s *workloads.Slot) (*configClient, error) {
	c, err := w.open(s.Conn, w.path)
	if err != nil {
		return nil, err
	}
	return &configClient{configWorkload: w, slot: s, config: c, view: w.visibility.OpenView(s.Index)}, nil
}

func (w *configWorkload) Verdict() metrics.Safety { return w.visibility.Verdict() }

// Settle lets all clients follow, one at a time, and then makes the updates. Forms that poll look
// Polls times for each update, the last time just after it.
func (w *configWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients, err := joinAll(st, w.join, func(c *configClient) error { return st.Do(ctx, c.slot.Index, "follows", "", c.follow) })
	if err != nil {
		return err
	}
	first := clients[0]
	for number := range w.updateCount {
		if err := st.Tick(ctx, w.polls-1); err != nil {
			return err
		}
		set := func(ctx context.Context) error { return first.set(ctx, nil, number+1, time.Now()) }
		if err := st.Do(ctx, 0, "changes the value", "", set); err != nil {
			return err
		}
		if err := st.Tick(ctx, 1); err != nil {
			return err
		}
		w.visibility.CheckAll()
	}
	return nil
}

// A configClient is one client that follows the value. The client of the first slot also sets it.
type configClient struct {
	*configWorkload
	slot      *workloads.Slot
	config    Config
	view      *check.View
	following bool
}

// Turn observes one update. The first client also makes it.
func (c *configClient) Turn(ctx context.Context) (rounds int64, err error) {
	if !c.following {
		c.following = true
		go c.follow(ctx) // until the session is lost or the run ends
	}
	number := c.slot.TurnsTaken() + 1
	if _, err := c.visibility.Await(ctx, c.view, 0, number-1); err != nil {
		return 0, fmt.Errorf("follow: %w", err)
	}
	before := c.slot.Disturbances()
	s, err := c.begin(ctx, c.slot, c.set)
	if err != nil {
		return 0, err
	}
	seen, err := c.visibility.Await(ctx, c.view, 0, number)
	if err != nil {
		if ctx.Err() != nil && s.acknowledged() && c.slot.Disturbances() == before {
			c.visibility.Made(0, number)
			c.visibility.CheckClient(c.slot.Index)
		}
		return 0, fmt.Errorf("follow: %w", err)
	}
	c.slot.Marks.PhaseEnd()
	s.converged(c.slot, seen)
	return c.updates.leave(ctx, c.slot), nil
}

// follow passes each observed value to the check until the client can observe no more.
func (c *configClient) follow(ctx context.Context) error {
	err := c.config.Follow(ctx, func(value []byte) { c.visibility.Saw(c.slot.Index, c.view, 0, value) })
	c.visibility.Stopped(c.view, err)
	return err
}

func (c *configClient) set(ctx context.Context, round *metrics.Times, number int64, due time.Time) error {
	c.visibility.UpdateBegins(0, number)
	set := func() error { return c.config.Set(ctx, check.UpdateData(number)) }
	return recordTime(c.slot, round, c.update, due, set)
}
