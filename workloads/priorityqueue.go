package workloads

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// A PriorityQueue is one client's handle on a priority queue that several
// clients share.
type PriorityQueue interface {
	// Put is as Queue.Put, with a priority from 0, the first to be taken, to 99.
	Put(ctx context.Context, priority int, item []byte) error
	// Take is as Queue.Take.
	Take(ctx context.Context) (item []byte, err error)
}

// A NewPriorityQueue makes one client's handle on a priority queue.
type NewPriorityQueue func(c drivers.Conn, at QueueSite) (PriorityQueue, error)

// PriorityQueues makes the workload of a priority queue's form: that of
// [Queues], with items of random priorities.
func PriorityQueues(open NewPriorityQueue) func(Settings) Workload {
	return func(s Settings) Workload { return newQueueWorkload(s, open) }
}
