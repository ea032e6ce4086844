// Package preload fills a service with data that is there throughout a run and that the run does not use: a server
// with much data may be slower than an empty one.
package preload

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/parallel"
)

// Data is what a service holds beside the nodes of a run.
type Data struct {
	Nodes   int
	Watches int // on the nodes; none of them fires; 0 without nodes
}

// perFolder bounds the lists of children used to remove the nodes.
const perFolder = 1000

// Create creates the nodes below a path, with a node of its own, and arms the watches. A session can have one watch
// per node, so Create opens as many sessions as the watches need. It returns them, also with an error.
func (d Data) Create(ctx context.Context, admin drivers.Conn, path string, dial func(context.Context) (drivers.Conn, error)) (sessions []drivers.Conn, err error) {
	if d.Nodes == 0 {
		return nil, nil
	}
	all := namespace.Folders{Path: path, Nodes: d.Nodes, PerFolder: perFolder}
	if err := all.Create(ctx, admin, func(int) []byte { return nil }); err != nil {
		return nil, err
	}
	for armed := 0; armed < d.Watches; armed += d.Nodes {
		s, err := dial(ctx)
		if err != nil {
			return sessions, err
		}
		sessions = append(sessions, s)
		conn := drivers.Steady(s)
		err = parallel.ForEach(min(d.Nodes, d.Watches-armed), func(i int) error {
			_, _, err := conn.Exists(ctx, all.NodePath(i), func(drivers.Event) {})
			return err
		})
		if err != nil {
			return sessions, err
		}
	}
	return sessions, nil
}
