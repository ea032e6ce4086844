package recipe

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Queue is one client's handle on a queue that several clients share.
type Queue interface {
	// Put adds an item, which must not be empty. If Put fails, the item may have been added.
	Put(ctx context.Context, item []byte) error
	// Take removes an item and returns it. It waits while the queue is empty. An item returned
	// with an error was taken, or, with drivers.ErrInDoubt, may have been.
	Take(ctx context.Context) (item []byte, err error)
}

// A QueueSite says where a queue is and what its items are.
type QueueSite struct {
	Items     string       // the queue's node, which exists
	Consumers string       // an existing node at which consumers can queue
	Mode      drivers.Mode // of the items: 0, or drivers.Ephemeral
}

// Queues returns the workload constructor for a form of queue: some clients put items and the
// others take them, in a closed loop. A single client alternates between the two. open creates one
// client's handle on the queue of items, an existing node, with items of the mode.
func Queues[S drivers.Conn, Q Queue](open func(c S, items string, mode drivers.Mode) Q) workloads.Constructor {
	return QueuesWithConsumers(func(c S, items, _ string, mode drivers.Mode) Q { return open(c, items, mode) })
}

// QueuesWithConsumers is Queues for a form whose consumers queue at an existing node of their own.
func QueuesWithConsumers[S drivers.Conn, Q Queue](
	open func(c S, items, consumers string, mode drivers.Mode) Q,
) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		return newQueueWorkload(s, 1, func(c drivers.Conn, at QueueSite) (PriorityQueue, error) {
			q, err := handle[Queue](c, func(session S) Q { return open(session, at.Items, at.Consumers, at.Mode) })
			return oneClass{q}, err
		})
	}
}

// A queueOpener creates one session's handle on either kind of queue.
type queueOpener = func(c drivers.Conn, at QueueSite) (PriorityQueue, error)

// oneClass is a queue used as a priority queue with one priority.
type oneClass struct{ Queue }

func (q oneClass) Put(ctx context.Context, _ int, item []byte) error { return q.Queue.Put(ctx, item) }

// A queueWorkload is the workload of both kinds of queues.
type queueWorkload struct {
	metrics.Timings
	hold, think time.Duration
	chosen      workloads.QueueSettings
	priorities  int // number of priorities
	open        queueOpener
	site        QueueSite

	clients, producers, consumers int

	room               *queueRoom
	exchange           *exchange.Exchange
	recorded           *check.Steps
	items              *check.Items
	judge              *check.DeliveryJudge
	atRate             bool // items are put at a rate
	newQueue           func(consumers int) *metrics.Queue
	waiting            *metrics.Queue // which consumer waited, and which was served
	put, handoff, take *metrics.Latency

	mu       sync.Mutex
	finished map[int]bool // producers that put no more items, by slot
	ends     int          // end items put so far, one for each consumer
	ended    map[int]bool // consumers that have taken an end item, by slot
}

func newQueueWorkload(s workloads.Settings, priorities int, open queueOpener) workloads.Workload {
	w := &queueWorkload{
		hold: s.HoldTime(), think: s.ThinkTime(), chosen: s.QueueChoices(), priorities: priorities, open: open,
		exchange: s.Exchange(), recorded: s.Steps(), judge: check.NewDeliveryJudge(),
		newQueue: s.NewQueue, atRate: s.AtRate(), finished: make(map[int]bool), ended: make(map[int]bool),
		put: s.Latency("put"), handoff: s.Latency(handoffPhase), take: s.Latency("take"),
	}
	w.Timings = metrics.Timings{w.put, w.handoff, w.take}
	w.recorded.JudgeBy(w.judge.Take)
	w.items = check.NewItems(w.recorded)
	return w
}

// role returns whether a client puts, whether it takes, and its place among the consumers. Producers and
// consumers alternate, so that each process, which has adjacent clients, has its part of both. A single
// client is both.
func (w *queueWorkload) role(index int) (puts, takes bool, place int) {
	before := w.producersBefore(index)
	puts = w.producersBefore(index+1) > before
	return puts, !puts || w.producers+w.consumers > w.clients, index - before
}

func (w *queueWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.site = QueueSite{Items: base + "/queue", Consumers: base + "/consumers"}
	if w.chosen.EphemeralItems {
		w.site.Mode = drivers.Ephemeral
	}
	w.assign(clients)
	w.divide()
	w.takeInitial()
}

// Setup creates the nodes and puts the items that are in the queue from the beginning.
func (w *queueWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	for _, node := range []string{w.site.Items, w.site.Consumers} {
		if err := namespace.CreateNode(ctx, c, node, nil, 0); err != nil {
			return err
		}
	}
	q, err := w.open(c, w.site)
	if err != nil {
		return err
	}
	for i := range w.chosen.Items {
		if err := q.Put(ctx, w.initialPriority(i), strconv.AppendInt(nil, int64(i)+1, 10)); err != nil {
			return err
		}
	}
	return nil
}

// assign decides how many clients put and how many take.
func (w *queueWorkload) assign(clients int) {
	w.clients, w.producers = clients, clients/2
	if p := w.chosen.Producers; p > 0 {
		w.producers = min(p, clients-1)
	}
	w.consumers = clients - w.producers
	if clients == 1 {
		w.producers = 1
	}
	backlog := w.chosen.Backlog
	if backlog == 0 {
		backlog = w.producers
	}
	w.room = newQueueRoom(w.shareOf(backlog), backlog+w.exchange.Processes-1, func(process int) {
		w.exchange.Tell(roomTopic, strconv.Itoa(process))
	})
	w.waiting = w.newQueue(w.consumers)
}

const (
	// noClient is the client of the items that were there from the beginning.
	noClient = -1
	// endPriority is the priority of end items, after all others: a consumer that takes one has
	// left no item behind.
	endPriority = check.PriorityLimit - 1
)

func (w *queueWorkload) Join(s *workloads.Slot) (workloads.Client, error) {
	c, err := w.join(s)
	if err != nil {
		return nil, err
	}
	c.puts, c.takes, c.place = w.role(s.Index)
	if w.chosen.EphemeralItems {
		w.items.SessionLost(s.Index) // if the client had a session before, its items were removed with it
	}
	return c, nil
}

func (w *queueWorkload) Together() bool { return false }

func (w *queueWorkload) Grants() {}

func (w *queueWorkload) NeedsTwo() []string { return []string{workloads.WakeUps} }

func (w *queueWorkload) Fill(r *metrics.Record) {
	w.Timings.Fill(r)
	r.Rounds = r.Phases[2].Service.TotalCount()
	if w.atRate { // the arrivals are those of the items
		r.Rounds = r.Phases[0].Service.TotalCount()
	}
	fairness := w.waiting.Fairness(time.Now())
	r.Fairness = &fairness
}

func (w *queueWorkload) Verdict() metrics.Safety { return w.judge.Verdict(w.consumers) }

// A PriorityQueue is one client's handle on a priority queue that several
// clients share.
type PriorityQueue interface {
	// Put works like Queue.Put, with a priority from 0, which is taken first, to 99.
	Put(ctx context.Context, priority int, item []byte) error
	// Take works like Queue.Take.
	Take(ctx context.Context) (item []byte, err error)
}

// PriorityQueues returns the workload constructor for a form of priority queue. It is the workload
// of [Queues], with items of random priorities.
func PriorityQueues[S drivers.Conn, Q PriorityQueue](
	open func(c S, items string, mode drivers.Mode) Q,
) workloads.Constructor {
	return PriorityQueuesWithConsumers(func(c S, items, _ string, mode drivers.Mode) Q { return open(c, items, mode) })
}

// PriorityQueuesWithConsumers is PriorityQueues for a form whose consumers queue at an existing node of
// their own, like [QueuesWithConsumers].
func PriorityQueuesWithConsumers[S drivers.Conn, Q PriorityQueue](
	open func(c S, items, consumers string, mode drivers.Mode) Q,
) workloads.Constructor {
	newQueue := func(c drivers.Conn, at QueueSite) (PriorityQueue, error) {
		return handle[PriorityQueue](c, func(session S) Q { return open(session, at.Items, at.Consumers, at.Mode) })
	}
	return func(s workloads.Settings) workloads.Workload {
		return newQueueWorkload(s, min(s.PriorityCount(), endPriority), newQueue)
	}
}

// Settle lets the first client take the items already in the queue, one at a time. Then the other
// clients arrive at the empty queue, one at a time, and the first client puts an item for each of
// them, one at a time.
func (w *queueWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	w.waiting = w.newQueue(len(st.Slots))
	clients, err := joinAll(st, w.join, func(c *queueClient) error { c.place = c.slot.Index; return nil })
	if err != nil {
		return err
	}
	var taken atomic.Int64
	take := func(client int, sets string) error {
		return st.Do(ctx, client, sets, "has it", func(ctx context.Context) error {
			n, err := clients[client].takeItem(ctx)
			taken.Add(n)
			return err
		})
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
		if err := st.Do(ctx, 0, "puts an item", "", func(ctx context.Context) error {
			_, err := clients[0].putItem(ctx, check.Item{Priority: i % w.priorities}, time.Now())
			return err
		}); err != nil {
			return err
		}
		if taken.Load() <= int64(w.chosen.Items+i) {
			return errors.New("an item is in the queue and all clients wait")
		}
	}
	w.consumers = 0 // none takes an end item
	return nil
}

// A queueRoom is the room for items that the producers of one process have: they may put as many as it has
// places. One that is in use is in no room. The places of all processes together, and the items in the
// queue, are as many as the backlog.
//
// A process whose consumer takes an item of another process keeps its place if it has less than its share,
// so that producers seldom wait for a message, and owes it. It pays when it has its share again.
type queueRoom struct {
	places chan struct{} // one element for each
	share  int           // how many the process has when the queue is empty
	pay    func(process int)

	mu   sync.Mutex
	owed map[int]int // by process
}

// newQueueRoom returns the room of a process with this share of all places. pay passes a place to another
// process, which must call gain; it is not called if there is only one.
func newQueueRoom(share, all int, pay func(process int)) *queueRoom {
	r := &queueRoom{places: make(chan struct{}, all), share: share, pay: pay, owed: map[int]int{}}
	for range share {
		r.places <- struct{}{}
	}
	return r
}

// gain adds a place, or pays a debt with it.
func (r *queueRoom) gain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.places) >= r.share {
		for process, n := range r.owed {
			if n > 0 {
				r.owed[process]--
				r.pay(process)
				return
			}
		}
	}
	r.places <- struct{}{}
}

// keeps adds the place of an item of another process, and reports true, if this process has less than its
// share.
func (r *queueRoom) keeps(process int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.places) >= r.share {
		return false
	}
	r.owed[process]++
	r.places <- struct{}{}
	return true
}
