package load

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// A mixWatcher watches some keys, and reads each again whenever it has changed.
type mixWatcher struct {
	*mixClient
	keys  []int
	fired chan int // the keys that have changed; its buffer holds all of them, since each key has one watch
	armed bool
}

// watchedKeys is how many keys a watcher watches, if there are that many.
const watchedKeys = 10

func newMixWatcher(c *mixClient) *mixWatcher {
	c.slot.Untracked() // a watcher only waits
	w := &mixWatcher{mixClient: c}
	first := c.draw()
	for i := range min(watchedKeys, c.Keys) {
		w.keys = append(w.keys, (first+i)%c.Keys)
	}
	w.fired = make(chan int, len(w.keys))
	return w
}

// Turn waits for a key to change and watches it again. The first Turn also arms the watches on all
// keys.
func (w *mixWatcher) Turn(ctx context.Context) (rounds int64, err error) {
	if !w.armed {
		w.armed = true
		for _, key := range w.keys {
			before := w.Known(key)
			stat, err := w.watch(ctx, key)
			if err != nil {
				return 0, err
			}
			w.ReadReturned(key, before, stat.Version)
		}
	}
	select {
	case key := <-w.fired:
		before := w.Known(key)
		stat, err := w.watch(ctx, key)
		if err == nil {
			w.NotifiedReadReturned(key, before, stat.Version)
		}
		return 0, err
	case <-w.slot.Stopping:
		return 0, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func (w *mixWatcher) watch(ctx context.Context, key int) (drivers.Stat, error) {
	_, stat, err := drivers.Steady(w.slot.Conn).Get(ctx, w.paths[key], func(drivers.Event) { w.fired <- key })
	return stat, err
}
