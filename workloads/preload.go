package workloads

import (
	"context"
	"errors"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/parallel"
)

// A Preload is data that is on the service throughout the run and that the run does not use: a
// server with much data may be slower than an empty one.
type Preload struct {
	Nodes   int
	Watches int // on the nodes; none of them fires; 0 without nodes
}

// preloadPerFolder bounds the lists of children used to remove the nodes.
const preloadPerFolder = 1000

// preload creates the preload. A session can have one watch per node, so preload opens as many
// sessions as the watches need.
func (c *Pool) preload(ctx context.Context, p Preload) error {
	if p.Nodes == 0 {
		return nil
	}
	all := namespace.Folders{Path: c.base + "/preload", Nodes: p.Nodes, PerFolder: preloadPerFolder}
	if err := all.Create(ctx, c.admin, nil); err != nil {
		return err
	}
	for armed := 0; armed < p.Watches; armed += p.Nodes {
		s, err := c.Service.Dial(ctx, drivers.Options{Probe: heartbeats{c.Meter.Session()}})
		if err != nil {
			return err
		}
		c.watchers = append(c.watchers, s)
		conn := drivers.Steady(s)
		err = parallel.ForEach(min(p.Nodes, p.Watches-armed), func(i int) error {
			_, _, err := conn.Exists(ctx, all.NodePath(i), func(drivers.Event) {})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// closePreload closes the sessions of the preload. That happens before its nodes are removed.
func (c *Pool) closePreload() error {
	errs := make([]error, len(c.watchers))
	for i, s := range c.watchers {
		errs[i] = s.Close()
	}
	return errors.Join(errs...)
}
