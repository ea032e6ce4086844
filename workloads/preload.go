package workloads

import (
	"context"
	"errors"

	"github.com/stampede-bench/stampede/drivers"
)

// A Preload is what there is on the service beside what a run is about, from
// before it to after it: a server that holds much may be slower than one that is
// empty.
type Preload struct {
	Nodes   int
	Watches int // on the nodes, none of which fires; 0 without nodes
}

// preloadInFolder bounds the lists by which the nodes are removed.
const preloadInFolder = 1000

// stock makes the preload. A session has one watch on a node at most, so there are
// as many sessions as that takes.
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

// clearOut ends the sessions of the preload, before its nodes go.
func (c *crew) clearOut() error {
	errs := make([]error, len(c.watchers))
	for i, s := range c.watchers {
		errs[i] = s.Close()
	}
	return errors.Join(errs...)
}
