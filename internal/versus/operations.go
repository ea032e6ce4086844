package main

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// The nodes that operations are about: one of 100 bytes, one of 1 KB, and one
// that children are made below.
const (
	small = "/small"
	large = "/large"
	line  = "/line"
)

var (
	hundredBytes = make([]byte, 100)
	kilobyte     = make([]byte, 1<<10)
)

// A call is the i-th that one caller makes.
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

// operations are how many a second each server answers when it has much to do,
// and how soon it answers one.
func operations(ctx context.Context, b *bench) (rows []row, err error) {
	servers, err := b.both(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		if err := furnish(ctx, s); err != nil {
			return nil, err
		}
	}
	for _, load := range []struct {
		what string
		call call
		goal goal
	}{
		{"gets of 100 B", get, ratioAtLeast(3)},
		{"sets of 1 KB", set, ratioAtLeast(2)},
		{"9 such gets to 1 such set", getOrSet, ratioAtLeast(3)},
		{"creates, sequential and ephemeral", queue, ratioAtLeast(2)},
	} {
		figures, err := byTurns(b.rounds, func(side int) ([]float64, error) {
			return b.rate(ctx, servers[side], load.call)
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{load.what, figures[0], perSecond, load.goal})
	}
	figures, err := byTurns(b.rounds, func(side int) ([]float64, error) { return b.latency(ctx, servers[side]) })
	if err != nil {
		return nil, err
	}
	return append(rows, row{"one set of 1 KB at a time", figures[0], duration, ratioAtMost(0.7)}), nil
}

// furnish makes the nodes.
func furnish(ctx context.Context, s *server) error {
	conns, err := dial(ctx, s.service, 1, drivers.Options{})
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
