package costmodel

import (
	"iter"
	"slices"

	"github.com/stampede-bench/stampede/metrics"
)

// desk simulates a service that only counts, with a queue of items and a line of
// consumers. The consumers take one operation at a time, in the order that a test chooses.
type desk struct {
	counts    metrics.Counts
	largest   int64
	last      int // the number of the last item put
	items     []int
	line      []int // the waiting consumers, by the numbers of their takes
	takes     int
	consumers []*consumer
}

// consumer runs the steps of its form, one take at a time.
type consumer struct {
	*desk
	steps    func(*consumer)
	list     []int                   // kept from take to take
	yield    func(struct{}) bool     // waits until the next operation may run
	next     func() (struct{}, bool) // runs the next operation; nil between takes
	watching bool                    // has a watch on the queue
	place    int                     // the number of this take
	ahead    int                     // the place in the line that it watches; 0 for none
	asleep   bool                    // until a watch fires
	taken    int
}

func newDesk(steps func(*consumer), consumers int64) *desk {
	d := &desk{}
	for range consumers {
		d.consumers = append(d.consumers, &consumer{desk: d, steps: steps})
	}
	return d
}

// begin starts a take.
func (c *consumer) begin() {
	c.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		c.steps(c)
	})
	c.next()
}

func (c *consumer) runnable() bool { return c.next != nil && !c.asleep }

// move runs the next operation of a runnable consumer.
func (c *consumer) move() {
	if _, more := c.next(); !more {
		c.next = nil
		c.taken++
	}
}

// rest moves runnable consumers, in the order that choose gives, until none is left.
func (d *desk) rest(choose func(int) int) {
	for {
		var able []*consumer
		for _, c := range d.consumers {
			if c.runnable() {
				able = append(able, c)
			}
		}
		if len(able) == 0 {
			return
		}
		able[choose(len(able))].move()
	}
}

// put adds an item.
func (d *desk) put() {
	d.counts.Writes++
	d.last++
	d.items = append(d.items, d.last)
	d.fire()
}

// fire notifies all consumers that watch the queue. It wakes them, unless they wait for
// the one ahead in the line: then the watch is left over from before.
func (d *desk) fire() {
	var fired int64
	for _, c := range d.consumers {
		if c.watching {
			c.watching, c.asleep = false, c.ahead != 0
			fired++
		}
	}
	d.counts.Notifications += fired
	d.largest = max(d.largest, fired)
}

func (c *consumer) read() {
	c.yield(struct{}{})
	c.counts.Reads++
}

func (c *consumer) write() {
	c.yield(struct{}{})
	c.counts.Writes++
}

// look lists the queue.
func (c *consumer) look(watch bool) []int {
	c.read()
	c.counts.Lists++
	c.watching = c.watching || watch
	return slices.Clone(c.items)
}

// take reads an item and deletes it. It returns false if another consumer was faster.
func (c *consumer) take(item int) bool {
	c.read()
	if !slices.Contains(c.items, item) {
		return false
	}
	c.write()
	i := slices.Index(c.items, item)
	if i < 0 {
		c.counts.FailedWrites++
		return false
	}
	c.items = slices.Delete(c.items, i, i+1)
	c.fire()
	return true
}

// watched lists with a watch until there is an item.
func (c *consumer) watched() {
	for c.list = c.look(true); len(c.list) == 0; c.list = c.look(true) {
		c.asleep = true
	}
}

func cachedList(c *consumer) {
	for {
		if len(c.list) == 0 {
			c.watched()
		}
		item := c.list[0]
		c.list = c.list[1:]
		if c.take(item) {
			return
		}
	}
}

func relistQueue(c *consumer) {
	for c.watched(); !c.take(c.list[0]); c.watched() {
	}
}

func oneWatcher(c *consumer) {
	c.write()
	c.takes++
	c.place = c.takes
	c.line = append(c.line, c.place)
	for !c.first() {
	}
	for c.list = c.look(false); len(c.list) == 0; c.list = c.look(false) {
		if c.list = c.look(true); len(c.list) > 0 {
			break
		}
		c.asleep = true
	}
	c.take(c.list[0])
	c.write()
	c.line = c.line[1:]
	c.wakeNext()
}

// first lists the line and reports whether the consumer is first. If not, the consumer
// waits for the one ahead to leave.
func (c *consumer) first() bool {
	c.read()
	c.counts.Lists++
	i := slices.Index(c.line, c.place)
	if i == 0 {
		return true
	}
	ahead := c.line[i-1]
	c.read()
	c.counts.WatchedExists++
	if c.asleep = slices.Contains(c.line, ahead); c.asleep {
		c.ahead = ahead
	} else {
		c.counts.WatchedMisses++
	}
	return false
}

func (c *consumer) wakeNext() {
	for _, other := range c.consumers {
		if other.ahead == c.place {
			other.ahead, other.asleep = 0, false
			c.counts.Notifications++
			c.largest = max(c.largest, 1)
		}
	}
}

// queueForms returns the steps of the forms of both kinds of queues.
func queueForms() map[string]func(*consumer) {
	return map[string]func(*consumer){
		"queue/cached-list":          cachedList,
		"queue/one-watcher":          oneWatcher,
		"queue/relist":               relistQueue,
		"priority-queue/invalidate":  relistQueue,
		"priority-queue/one-watcher": oneWatcher,
		"priority-queue/relist":      relistQueue,
	}
}
