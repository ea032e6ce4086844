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

		{Recipe: "barrier", Name: "watch", Family: workloads.Recipe,
			Summary: "one node holds everybody up, all who wait watch it",
			New:     workloads.Barriers(barrier(recipes.NewBarrier))},
		{Recipe: "barrier", Name: "poll", Family: workloads.Naive,
			Summary: "one node holds everybody up, looked at by a timer",
			New:     workloads.Barriers(barrier(naive.NewBarrier))},

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

		{Recipe: "config", Name: "watch", Family: workloads.Recipe,
			Summary: "one value, read with a watch and again whenever it has changed",
			New:     workloads.Configs(config(recipes.NewConfig))},
		{Recipe: "config", Name: "persistent", Family: workloads.Recipe, Needs: workloads.PersistentWatches,
			Summary: "one value, read whenever a watch that stays tells of a change",
			New: workloads.Configs(func(c drivers.Conn, path string) (workloads.Config, error) {
				return recipes.NewPersistentConfig(c, path)
			})},
		{Recipe: "config", Name: "poll", Family: workloads.Naive,
			Summary: "one value, read by a timer",
			New:     workloads.Configs(config(naive.NewConfig))},

		{Recipe: "names", Name: "cached", Family: workloads.Recipe,
			Summary: "each value is read once with a watch, and kept until it changes",
			New:     workloads.NameServices(names(recipes.NewNames))},
		{Recipe: "names", Name: "recursive", Family: workloads.Recipe, Needs: workloads.PersistentWatches,
			Summary: "each value is read once and kept, one watch that stays tells of all changes",
			New: workloads.NameServices(func(c drivers.Conn, path string) (workloads.Names, error) {
				return recipes.NewRecursiveNames(c, path)
			})},
		{Recipe: "names", Name: "lookup", Family: workloads.Naive,
			Summary: "the service is asked each time",
			New:     workloads.NameServices(names(naive.NewNames))},
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

func barrier[B workloads.Barrier](open func(drivers.Conn, string) B) workloads.NewBarrier {
	return func(c drivers.Conn, path string) (workloads.Barrier, error) { return open(c, path), nil }
}

func candidate[E workloads.Election](open func(drivers.Conn, string) E) workloads.NewElection {
	return func(c drivers.Conn, path string) (workloads.Election, error) { return open(c, path), nil }
}

func config[C workloads.Config](open func(drivers.Conn, string) C) workloads.NewConfig {
	return func(c drivers.Conn, path string) (workloads.Config, error) { return open(c, path), nil }
}

func names[N workloads.Names](open func(drivers.Conn, string) N) workloads.NewNames {
	return func(c drivers.Conn, path string) (workloads.Names, error) { return open(c, path), nil }
}
