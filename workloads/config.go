package workloads

import (
	"context"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
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
func Configs[S drivers.Conn, C Config](open func(c S, path string) C) func(Settings) Workload {
	return func(s Settings) Workload {
		return &configWorkload{
			think: s.think(), polls: s.Polls, updates: s.updates(), open: at[Config](open),
			converge: s.latency("converge"), update: s.latency("update"),
		}
	}
}

type configWorkload struct {
	think   time.Duration
	polls   int
	updates int64 // of a settled run
	open    opener[Config]
	path    string

	views   *views
	spreads *spreads

	converge *metrics.Latency // from the request for a change until one client sees it
	update   *metrics.Latency // from the request for a change until it is acknowledged
}

func (w *configWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.path = base + "/config"
	w.views, w.spreads = newViews(clients, 1), newSpreads(clients)
	return makeNode(ctx, c, w.path, update(0), 0)
}

func (w *configWorkload) Join(s *Seat) (Client, error) { return w.join(s) }

func (w *configWorkload) join(s *Seat) (*configClient, error) {
	c, err := w.open(s.Conn, w.path)
	if err != nil {
		return nil, err
	}
	return &configClient{configWorkload: w, seat: s, config: c, view: w.views.open(s.Index)}, nil
}

func (w *configWorkload) Together() bool { return true }

func (w *configWorkload) Begin() {
	w.converge.Reset()
	w.update.Reset()
}

func (w *configWorkload) Lap() metrics.Lap { return w.converge.Lap() }

func (w *configWorkload) End(r *metrics.Record) {
	r.Phases = []metrics.Phase{w.converge.Phase(), w.update.Phase()}
	r.Rounds = r.Phases[1].Service.TotalCount()
}

func (w *configWorkload) Verdict() metrics.Safety { return w.views.verdict() }

// Settle lets all clients follow, one at a time, and then makes the updates. Forms that poll look
// Polls times for each update, the last time just after it.
func (w *configWorkload) Settle(ctx context.Context, st *Stage) error {
	clients := make([]*configClient, len(st.Seats))
	for i, seat := range st.Seats {
		c, err := w.join(seat)
		if err != nil {
			return err
		}
		clients[i] = c
		st.Do(ctx, i, "follows", "", c.follow)
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	first := clients[0]
	for number := range w.updates {
		for range w.polls - 1 {
			st.Tick()
			if err := st.Rest(ctx); err != nil {
				return err
			}
		}
		st.Do(ctx, 0, "changes the value", "", func(ctx context.Context) error { return first.set(ctx, number+1, time.Now()) })
		if err := st.Rest(ctx); err != nil {
			return err
		}
		st.Tick()
		if err := st.Rest(ctx); err != nil {
			return err
		}
		w.views.converged()
	}
	return nil
}

// A configClient is one client that follows the value. The client of the first seat also sets it.
type configClient struct {
	*configWorkload
	seat      *Seat
	config    Config
	view      *view
	following bool
}

// Turn observes one update. The first client also makes it.
func (c *configClient) Turn(ctx context.Context) (rounds int64, err error) {
	if !c.following {
		c.following = true
		go c.follow(ctx) // until the session is lost or the run ends
	}
	number := c.seat.turns + 1
	if _, err := c.views.await(ctx, c.view, 0, number-1); err != nil {
		return 0, fmt.Errorf("follow: %w", err)
	}
	calm := c.seat.Disturbances()
	c.seat.Marks.PhaseBegin()
	s := c.spreads.join(c.seat)
	if c.seat.Index == 0 {
		if err := s.make(ctx, c.seat, c.think, func(due time.Time) error { return c.set(ctx, number, due) }); err != nil {
			return 0, fmt.Errorf("update: %w", err)
		}
	}
	seen, err := c.views.await(ctx, c.view, 0, number)
	if err != nil {
		if ctx.Err() != nil && s.overdue() && c.seat.Disturbances() == calm {
			c.views.stale(c.seat.Index)
		}
		return 0, fmt.Errorf("follow: %w", err)
	}
	c.seat.Marks.PhaseEnd()
	c.converge.Record(s.took(seen))
	return c.spreads.leave(c.seat), nil
}

// follow passes each observed value to the check until the client can observe no more.
func (c *configClient) follow(ctx context.Context) error {
	err := c.config.Follow(ctx, func(value []byte) { c.views.see(c.seat.Index, c.view, 0, value) })
	c.views.fail(c.view, err)
	return err
}

func (c *configClient) set(ctx context.Context, number int64, due time.Time) error {
	c.views.making(0, number)
	asked := time.Now()
	if err := c.config.Set(ctx, update(number)); err != nil {
		return err
	}
	now := time.Now()
	c.update.Record(now.Sub(asked), now.Sub(due))
	return nil
}
