package catalog

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// pollInterval is how often a client of a polling form looks: often enough to
// be a fair opponent, seldom enough that a service can bear it.
const pollInterval = 5 * time.Millisecond

// Forms are all forms. The first of a family is that family's default.
func Forms() []workloads.Form {
	return []workloads.Form{
		{Recipe: "lock", Name: "predecessor", Family: workloads.Recipe,
			Summary: "a queue of sequential nodes, each client watches only the one before its own",
			New:     workloads.Locks(handle(recipes.NewLock))},
		{Recipe: "lock", Name: "one-node", Family: workloads.Naive,
			Summary: "one node is the lock, all who wait watch it and race for it",
			New:     workloads.Locks(handle(naive.NewLock))},
		{Recipe: "lock", Name: "children-watch", Family: workloads.Naive,
			Summary: "a queue of sequential nodes, but everybody watches the whole queue",
			New:     workloads.Locks(handle(naive.NewChildrenWatchLock))},
		{Recipe: "lock", Name: "poll", Family: workloads.Naive,
			Summary: "a queue of sequential nodes, looked at by a timer",
			New: workloads.Locks(handle(func(c drivers.Conn, path string) *naive.PollLock {
				return naive.NewPollLock(c, path, pollInterval)
			}))},
		{Recipe: "lock", Name: "go-zookeeper", Family: workloads.Library, Client: "go-zookeeper",
			Summary: "the Lock that go-zookeeper ships",
			New:     workloads.Locks(libraryLock)},

		{Recipe: "shared-lock", Name: "nearest", Family: workloads.Recipe,
			Summary: "a queue in which writers watch the node before their own, readers the nearest writer's",
			New:     workloads.SharedLocks(sharedHandle(recipes.NewSharedLock))},
		{Recipe: "shared-lock", Name: "children-watch", Family: workloads.Naive,
			Summary: "a queue of readers and writers, and everybody watches the whole queue",
			New:     workloads.SharedLocks(sharedHandle(naive.NewSharedLock))},
		{Recipe: "shared-lock", Name: "lowest-write", Family: workloads.Naive,
			Summary: "a queue in which writers watch the node before their own, readers the lowest writer's",
			New:     workloads.SharedLocks(sharedHandle(naive.NewLowestWriteSharedLock))},

		{Recipe: "queue", Name: "cached-list", Family: workloads.Recipe,
			Summary: "a consumer works through its list before it lists again; all who find nothing watch",
			New:     workloads.Queues(queue(recipes.NewQueue))},
		{Recipe: "queue", Name: "one-watcher", Family: workloads.Recipe,
			Summary: "consumers take by turns, and only the one whose turn it is watches",
			New: workloads.Queues(func(c drivers.Conn, at workloads.QueueSite) (workloads.Queue, error) {
				return recipes.NewOneWatcherQueue(c, at.Items, at.Consumers, at.Mode), nil
			})},
		{Recipe: "queue", Name: "relist", Family: workloads.Naive,
			Summary: "consumers list for each item and race for the first; all who find nothing watch",
			New:     workloads.Queues(queue(naive.NewQueue))},

		{Recipe: "priority-queue", Name: "invalidate", Family: workloads.Recipe,
			Summary: "a consumer works through its list until a notification; all who find nothing watch",
			New:     workloads.PriorityQueues(priorityQueue(recipes.NewPriorityQueue))},
		{Recipe: "priority-queue", Name: "one-watcher", Family: workloads.Recipe,
			Summary: "consumers take by turns, and only the one whose turn it is watches",
			New: workloads.PriorityQueues(func(c drivers.Conn, at workloads.QueueSite) (workloads.PriorityQueue, error) {
				return recipes.NewOneWatcherPriorityQueue(c, at.Items, at.Consumers, at.Mode), nil
			})},
		{Recipe: "priority-queue", Name: "relist", Family: workloads.Naive,
			Summary: "consumers list for each item and race for the first; all who find nothing watch",
			New:     workloads.PriorityQueues(priorityQueue(naive.NewPriorityQueue))},
	}
}

// handle lets a form's constructor, which returns a type of its own, stand
// where the workload expects its interface.
func handle[L workloads.Lock](open func(drivers.Conn, string) L) workloads.NewLock {
	return func(c drivers.Conn, path string) (workloads.Lock, error) { return open(c, path), nil }
}

func sharedHandle[L workloads.SharedLock](open func(drivers.Conn, string) L) workloads.NewSharedLock {
	return func(c drivers.Conn, path string) (workloads.SharedLock, error) { return open(c, path), nil }
}

func queue[Q workloads.Queue](open func(drivers.Conn, string, drivers.Mode) Q) workloads.NewQueue {
	return func(c drivers.Conn, at workloads.QueueSite) (workloads.Queue, error) {
		return open(c, at.Items, at.Mode), nil
	}
}

func priorityQueue[Q workloads.PriorityQueue](open func(drivers.Conn, string, drivers.Mode) Q) workloads.NewPriorityQueue {
	return func(c drivers.Conn, at workloads.QueueSite) (workloads.PriorityQueue, error) {
		return open(c, at.Items, at.Mode), nil
	}
}
