package workloads

import (
	"context"
	"errors"

	"github.com/stampede-bench/stampede/drivers"
)

// A Preload is data that is on the service throughout the run and that the run does not use: a
// server with much data may be slower than an empty one.
type Preload struct {
	Nodes   int
	Watches int // on the nodes; none of them fires; 0 without nodes
}

// preloadInFolder bounds the lists of children used to remove the nodes.
const preloadInFolder = 1000

// stock creates the preload. A session can have one watch per node, so stock opens as many
// sessions as the watches need.
func (c *crew) stock(ctx context.Context, p Preload) error {
	if p.Nodes == 0 {
		return nil
	}
	all := folders{path: c.base + "/preload", nodes: p.Nodes, each: preloadInFolder}
	if err := all.make(ctx, c.admin, nil); err != nil {
		return err
	}
	for armed := 0; armed < p.Watches; armed += p.Nodes {
		s, err := c.service.Dial(ctx, drivers.Options{Probe: heartbeats{c.meter.Session()}})
		if err != nil {
			return err
		}
		c.watchers = append(c.watchers, s)
		conn := drivers.Steady(s)
		err = inParallel(min(p.Nodes, p.Watches-armed), func(i int) error {
			_, _, err := conn.Exists(ctx, all.node(i), func(drivers.Event) {})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clearOut closes the sessions of the preload. That happens before its nodes are removed.
func (c *crew) clearOut() error {
	errs := make([]error, len(c.watchers))
	for i, s := range c.watchers {
		errs[i] = s.Close()
	}
	return errors.Join(errs...)
}
