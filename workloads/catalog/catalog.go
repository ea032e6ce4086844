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

		{Recipe: "barrier", Name: "watch", Family: workloads.Recipe,
			Summary: "one node holds everybody up, all who wait watch it",
			New:     workloads.Barriers(barrier(recipes.NewBarrier))},
		{Recipe: "barrier", Name: "poll", Family: workloads.Naive,
			Summary: "one node holds everybody up, looked at by a timer",
			New:     workloads.Barriers(barrier(naive.NewBarrier))},

		{Recipe: "double-barrier", Name: "ready", Family: workloads.Recipe,
			Summary: "one node lets all in; out they go one by one, and the lowest shuts the door",
			New:     workloads.DoubleBarriers(doubleBarrier(recipes.NewDoubleBarrier))},
		{Recipe: "double-barrier", Name: "sequential", Family: workloads.Recipe,
			Summary: "one node lets all in; out they go along the line, which promises less",
			New:     workloads.DoubleBarriers(doubleBarrier(recipes.NewSequentialDoubleBarrier))},
		{Recipe: "double-barrier", Name: "children-watch", Family: workloads.Naive,
			Summary: "all who wait, to come in or go out, watch all clients' nodes",
			New:     workloads.DoubleBarriers(doubleBarrier(naive.NewDoubleBarrier))},

		{Recipe: "election", Name: "predecessor", Family: workloads.Recipe,
			Summary: "a line of volunteers, each watches only the one ahead of it",
			New:     workloads.Elections(candidate(recipes.NewElection))},
		{Recipe: "election", Name: "acknowledged", Family: workloads.Recipe,
			Summary: "a line of volunteers, and a node by which the leader says that it knows",
			New:     workloads.Elections(candidate(recipes.NewAcknowledgedElection))},
		{Recipe: "election", Name: "watch-leader", Family: workloads.Naive,
			Summary: "a line of volunteers, all watch the leader",
			New:     workloads.Elections(candidate(naive.NewElection))},
		{Recipe: "election", Name: "children-watch", Family: workloads.Naive,
			Summary: "a line of volunteers, all watch the whole line",
			New:     workloads.Elections(candidate(naive.NewChildrenWatchElection))},
	}
}

// handle lets a form's constructor, which returns a type of its own, stand
// where the workload expects its interface.
func handle[L workloads.Lock](open func(drivers.Conn, string) L) workloads.NewLock {
	return func(c drivers.Conn, path string) (workloads.Lock, error) { return open(c, path), nil }
}

func barrier[B workloads.Barrier](open func(drivers.Conn, string) B) workloads.NewBarrier {
	return func(c drivers.Conn, path string) (workloads.Barrier, error) { return open(c, path), nil }
}

func doubleBarrier[B workloads.DoubleBarrier](open func(drivers.Conn, string, int) B) workloads.NewDoubleBarrier {
	return func(c drivers.Conn, path string, clients int) (workloads.DoubleBarrier, error) {
		return open(c, path, clients), nil
	}
}

func candidate[E workloads.Election](open func(drivers.Conn, string) E) workloads.NewElection {
	return func(c drivers.Conn, path string) (workloads.Election, error) { return open(c, path), nil }
}
