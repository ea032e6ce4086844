package load

import (
	"cmp"
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A mixSession performs several operations of one client concurrently.
//
// It uses one goroutine per operation where the client pauses between operations or waits for
// arrivals, and where the session's calls may be answered in any order. Otherwise a mixQueue
// begins and awaits them all in order with one goroutine: waking a goroutine for each answer would
// take longer than the client library takes for the whole call.
type mixSession []*mixClient

// Turn performs one operation of the first stream.
func (s mixSession) Turn(ctx context.Context) (rounds int64, err error) { return s[0].Turn(ctx) }

func (s mixSession) Streams() []workloads.Stream {
	all := make([]workloads.Stream, len(s))
	for i, c := range s {
		all[i] = workloads.Stream{Client: c, Slot: c.slot}
	}
	return all
}

// A mixQueue is a mixSession with one goroutine. Each operation in progress has a call in flight,
// and the calls are answered in the order in which they were begun.
type mixQueue struct {
	all  mixSession
	next int // the stream whose call is answered next
	conn drivers.Pipeliner
}

// newMixQueue returns nil where operations need a goroutine each.
func newMixQueue(s *workloads.Slot, all mixSession) *mixQueue {
	conn, ok := s.Conn.(drivers.Pipeliner)
	if !ok || s.OpenLoop() || all[0].think > 0 {
		return nil
	}
	first := *all[0]
	first.slot = s.FirstStream()
	all[0] = &first
	return &mixQueue{all: all, conn: conn}
}

// Turn ends one operation, after which the same stream begins another.
func (q *mixQueue) Turn(ctx context.Context) (rounds int64, err error) {
	for {
		c := q.all[q.next]
		if c.pending == nil {
			q.begin(ctx)
			continue
		}
		done, err := q.await(ctx)
		if err != nil {
			q.finish(ctx)
			return 0, err
		}
		if done {
			c.start(c.slot.Tracker.Began())
		}
		c.pending = q.conn.Begin(ctx, c.call)
		if done {
			return 1, nil
		}
	}
}

// begin begins the first operation of each stream.
func (q *mixQueue) begin(ctx context.Context) {
	for _, c := range q.all {
		c.slot.Tracker.Begin()
		c.start(c.slot.Tracker.Began())
		c.pending = q.conn.Begin(ctx, c.call)
	}
}

// await waits for the next answer, and reports whether an operation is done.
func (q *mixQueue) await(ctx context.Context) (done bool, err error) {
	c := q.all[q.next]
	q.next = (q.next + 1) % len(q.all)
	a := c.pending.Await(ctx)
	c.pending = nil
	if done, err = c.answered(a); err != nil {
		c.slot.Tracker.Stop()
	} else if done {
		c.record()
		c.slot.Tracker.End()
	}
	return done, err
}

// Finish ends the operations in progress.
func (q *mixQueue) Finish(ctx context.Context) (rounds int64, err error) { return q.finish(ctx) }

// finish ends the operations that have a call in progress, until there are none, and returns the
// first error.
func (q *mixQueue) finish(ctx context.Context) (rounds int64, first error) {
	for left := len(q.all); left > 0; {
		c := q.all[q.next]
		if c.pending == nil {
			q.next, left = (q.next+1)%len(q.all), left-1
			continue
		}
		done, err := q.await(ctx)
		switch {
		case err != nil:
			first = cmp.Or(first, err)
		case done:
			rounds++
			c.slot.Tracker.Stop()
		default:
			c.pending, left = q.conn.Begin(ctx, c.call), len(q.all)
		}
	}
	return rounds, first
}

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
