package main

import (
	"context"
	"path/filepath"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
)

// The nodes that the operations use: one of 100 bytes, one of 1 KB, and the parent of created
// nodes.
const (
	small = "/small"
	large = floor.Node
	line  = "/line"
)

var (
	hundredBytes = make([]byte, 100)
	kilobyte     = make([]byte, 1<<10)
)

// A call makes the i-th call of one caller.
type call func(ctx context.Context, c drivers.Conn, i int) error

func get(ctx context.Context, c drivers.Conn, _ int) error {
	_, _, err := c.Get(ctx, small, nil)
	return err
}

func set(ctx context.Context, c drivers.Conn, _ int) error {
	_, err := c.Set(ctx, large, kilobyte, drivers.AnyVersion)
	return err
}

func getOrSet(ctx context.Context, c drivers.Conn, i int) error {
	if i%10 == 9 {
		return set(ctx, c, i)
	}
	return get(ctx, c, i)
}

func queue(ctx context.Context, c drivers.Conn, _ int) error {
	_, err := c.Create(ctx, line+"/n-", nil, drivers.Ephemeral|drivers.Sequential)
	return err
}

// operations measures how many operations per second each server answers under load, and the
// latency of a single one.
func operations(ctx context.Context, b *bench) (rows []row, err error) {
	servers, err := b.withFloor(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		if err := createNodes(ctx, s.service); err != nil {
			return nil, err
		}
	}
	for _, load := range []struct {
		what string
		call call
		goal goal // against ZooKeeper
		near goal // against the floor
	}{
		{"gets of 100 B", get, ratioAtLeast(3), ratioAtLeast(0.5)},
		{"sets of 1 KB", set, ratioAtLeast(2), none},
		{"9 such gets per such set", getOrSet, ratioAtLeast(3.5), none},
		{"creates, sequential and ephemeral", queue, ratioAtLeast(2), none},
	} {
		figures, err := interleave(b.rounds, len(servers), func(side int) ([]float64, error) {
			return b.rate(ctx, servers[side].service, load.call)
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{load.what, figures[0].against(1), perSecond, load.goal, ofServers},
			row{load.what, figures[0].against(2), perSecond, load.near, ofFloors})
	}
	single, err := b.single(ctx, servers)
	return append(rows, single...), err
}

// single measures the time of one set at a time. Its last side writes and syncs the same bytes
// without a server.
func (b *bench) single(ctx context.Context, servers [3]*server) ([]row, error) {
	disk, err := floor.Create(filepath.Join(b.dir, "sync"))
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	figures, err := interleave(b.rounds, len(servers)+1, func(side int) ([]float64, error) {
		if side == len(servers) {
			return b.syncs(disk)
		}
		return b.latency(ctx, servers[side].service)
	})
	if err != nil {
		return nil, err
	}
	const what = "one set of 1 KB at a time"
	return []row{
		{what, figures[0].against(1), duration, ratioAtMost(0.7), ofServers},
		{what, figures[0].against(2), duration, ratioAtMost(1.2), ofFloors},
		{"the same, against write and fsync without a server", figures[0].against(3), duration, none, ofFloors},
	}, nil
}

// createNodes creates the nodes.
func createNodes(ctx context.Context, s drivers.Service) error {
	conns, err := dial(ctx, s, 1, drivers.Options{})
	if err != nil {
		return err
	}
	defer closeAll(conns)
	for path, data := range map[string][]byte{small: hundredBytes, large: kilobyte, line: nil} {
		if _, err := conns[0].Create(ctx, path, data, 0); err != nil {
			return err
		}
	}
	return nil
}
