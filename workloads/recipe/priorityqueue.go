package recipe

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

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
) func(workloads.Settings) workloads.Workload {
	return PriorityQueuesWithConsumers(func(c S, items, _ string, mode drivers.Mode) Q { return open(c, items, mode) })
}

// PriorityQueuesWithConsumers is PriorityQueues for a form whose consumers queue at an existing node of
// their own, like [QueuesWithConsumers].
func PriorityQueuesWithConsumers[S drivers.Conn, Q PriorityQueue](
	open func(c S, items, consumers string, mode drivers.Mode) Q,
) func(workloads.Settings) workloads.Workload {
	newQueue := func(c drivers.Conn, at QueueSite) (PriorityQueue, error) {
		return handle[PriorityQueue](c, func(session S) Q { return open(session, at.Items, at.Consumers, at.Mode) })
	}
	return func(s workloads.Settings) workloads.Workload {
		return newQueueWorkload(s, min(s.PriorityCount(), endPriority), newQueue)
	}
}
