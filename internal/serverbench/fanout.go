package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// fanout measures a write to a node that many sessions watch.
func fanout(ctx context.Context, b *bench) ([]row, error) {
	servers, err := b.withFloor(ctx)
	if err != nil {
		return nil, err
	}
	var all [3]*watchedNode
	for i, s := range servers {
		if err := createNodes(ctx, s.service); err != nil {
			return nil, err
		}
		if all[i], err = watchNode(ctx, s, b.watchers); err != nil {
			return nil, err
		}
		defer closeAll(all[i].conns)
	}
	figures, err := interleave(b.changes, len(all), func(side int) ([]float64, error) { return all[side].change(ctx) })
	if err != nil {
		return nil, err
	}
	watchers := whole(float64(b.watchers))
	return []row{
		{"a write that " + watchers + " sessions watch, until the last is notified", figures[0].against(1), duration, ratioAtMost(1. / 3), ofServers},
		{"the same, until the writer is answered", figures[1].against(1), duration, ratioAtMost(1. / 5), ofServers},
		{"a write that " + watchers + " sessions watch, until the last is notified", figures[0].against(2), duration, ratioAtMost(1.3), ofFloors},
	}, nil
}

// A watchedNode is one session that writes a node, the first, and sessions that watch it, each on
// its own connection.
type watchedNode struct{ conns []drivers.Conn }

func watchNode(ctx context.Context, s *server, watchers int) (*watchedNode, error) {
	conns, err := dial(ctx, s.service, 1+watchers, drivers.Options{})
	return &watchedNode{conns}, err
}

var errSessionEnded = errors.New("a session that watches was lost")

// change arms the watches and writes the node. It returns the time in seconds from sending the
// write until the last session was notified, and until the write was answered.
func (n *watchedNode) change(ctx context.Context) ([]float64, error) {
	writer, watchers := n.conns[0], n.conns[1:]
	var left atomic.Int64
	left.Store(int64(len(watchers)))
	last, lost := make(chan time.Time, 1), make(chan struct{}, len(watchers))
	notified := func(e drivers.Event) {
		if e.Type == drivers.Lost {
			lost <- struct{}{}
		}
		if left.Add(-1) == 0 {
			last <- time.Now()
		}
	}
	if err := each(watchers, func(c drivers.Conn) error {
		_, _, err := c.Get(ctx, large, notified)
		return err
	}); err != nil {
		return nil, err
	}
	issued := time.Now()
	if err := set(ctx, writer, 0); err != nil {
		return nil, err
	}
	answered := time.Since(issued)
	select {
	case at := <-last:
		return []float64{at.Sub(issued).Seconds(), answered.Seconds()}, nil
	case <-lost:
		return nil, errSessionEnded
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
