package recipe

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// Settle lets the first client take the items already in the queue, one at a time. Then the other
// clients arrive at the empty queue, one at a time, and the first client puts an item for each of
// them, one at a time.
func (w *queueWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	w.waiting = metrics.NewQueue(len(st.Slots))
	clients := make([]*queueClient, len(st.Slots))
	for i, slot := range st.Slots {
		c, err := w.join(slot)
		if err != nil {
			return err
		}
		c.place = i
		clients[i] = c
	}
	var taken atomic.Int64
	take := func(client int, sets string) error {
		st.Do(ctx, client, sets, "has it", func(ctx context.Context) error {
			n, err := clients[client].takeItem(ctx)
			taken.Add(n)
			return err
		})
		return st.Rest(ctx)
	}
	for range w.chosen.Items {
		if err := take(0, "takes an item"); err != nil {
			return err
		}
	}
	for i := range clients[1:] {
		if err := take(i+1, "wants an item"); err != nil {
			return err
		}
	}
	for i := range clients[1:] {
		st.Do(ctx, 0, "puts an item", "", func(ctx context.Context) error {
			_, err := clients[0].putItem(ctx, check.Item{Priority: i % w.priorities}, time.Now())
			return err
		})
		if err := st.Rest(ctx); err != nil {
			return err
		}
		if taken.Load() <= int64(w.chosen.Items+i) {
			return errors.New("an item is in the queue and all clients wait")
		}
	}
	w.complete = true
	return nil
}
