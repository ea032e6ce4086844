package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers"
)

// nodes measures the memory that many nodes use in each server, and the time that a server
// needs to answer after a start from a snapshot of them.
func nodes(ctx context.Context, b *bench) ([]row, error) {
	servers, err := b.both(ctx)
	if err != nil {
		return nil, err
	}
	var memory [2]float64
	for i, s := range servers {
		if memory[i], err = b.fill(ctx, s); err != nil {
			return nil, err
		}
	}
	// The native server has saved snapshots by now. ZooKeeper saves another one after its next
	// start, which happens in the round that does not count.
	for _, s := range servers {
		if err := s.end(); err != nil {
			return nil, err
		}
	}
	figures, err := interleave(b.restarts, 2, func(side int) ([]float64, error) { return b.recover(ctx, servers[side]) })
	if err != nil {
		return nil, err
	}
	many := whole(float64(b.parents * b.children))
	return []row{
		{many + " nodes of 100 B: the server's memory", once(memory[0], memory[1]), mebibytes, leftAtMost(400, "MiB"), ofServers},
		{"start on a snapshot of them, until the first answer", figures[0].against(1), duration, ratioAtMost(1. / 2), ofServers},
	}, nil
}

// fill creates the nodes and returns the server's memory in MiB afterwards.
func (b *bench) fill(ctx context.Context, s *server) (float64, error) {
	conns, err := dial(ctx, s.service, b.connections, drivers.Options{})
	if err != nil {
		return 0, err
	}
	defer closeAll(conns)
	g, making := errgroup.WithContext(ctx)
	g.SetLimit(b.connections * b.outstanding)
	for p := range b.parents {
		g.Go(func() error { return b.createSubtree(making, conns[p%len(conns)], p) })
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if err := drivers.Pause(ctx, b.quiet); err != nil {
		return 0, err
	}
	return resident(s.pid)
}

// createSubtree creates a parent and its children.
func (b *bench) createSubtree(ctx context.Context, c drivers.Conn, parent int) error {
	if _, err := c.Create(ctx, nodePath(parent), nil, 0); err != nil {
		return err
	}
	for child := range b.children {
		if _, err := c.Create(ctx, childPath(parent, child), hundredBytes, 0); err != nil {
			return err
		}
	}
	return nil
}

func nodePath(parent int) string         { return fmt.Sprintf("/parent-%d", parent) }
func childPath(parent, child int) string { return fmt.Sprintf("%s/child-%d", nodePath(parent), child) }

// recover returns the time in seconds from a server's start until it answers a read.
func (b *bench) recover(ctx context.Context, s *server) ([]float64, error) {
	start := time.Now()
	if err := s.begin(ctx, b.lastNode()); err != nil {
		return nil, err
	}
	took := time.Since(start)
	return []float64{took.Seconds()}, s.end()
}

func (b *bench) lastNode() string { return childPath(b.parents-1, b.children-1) }
