package catalog

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// pollInterval is how often a client of a polling form polls: often enough for
// a fair comparison, rarely enough not to overload the service.
const pollInterval = 5 * time.Millisecond

// patience is how long a holder has to release a revocable lock after a request,
// before its node is deleted: half the default hold time.
const patience = 500 * time.Microsecond

// persistentSource is the source of the forms that use persistent watches.
const persistentSource = "the persistent watches of ZooKeeper 3.6"

// Forms returns all forms. The first form of each family is that family's default.
func Forms() []workloads.Form {
	return []workloads.Form{
		{Recipe: "lock", Name: "predecessor", Family: workloads.Recipe,
			Summary: "a queue of sequential nodes, each client watches only the one before its own",
			New:     workloads.Locks(recipes.NewLock)},
		{Recipe: "lock", Name: "one-node", Family: workloads.Naive,
			Summary: "one node is the lock, all who wait watch it and race for it",
			New:     workloads.Locks(naive.NewLock)},
		{Recipe: "lock", Name: "children-watch", Family: workloads.Naive,
			Summary: "a queue of sequential nodes, but everybody watches the whole queue",
			New:     workloads.Locks(naive.NewChildrenWatchLock)},
		{Recipe: "lock", Name: "poll", Family: workloads.Naive,
			Summary: "a queue of sequential nodes, looked at by a timer",
			New: workloads.Locks(func(c drivers.Conn, path string) *naive.PollLock {
				return naive.NewPollLock(c, path, pollInterval)
			})},
		{Recipe: "lock", Name: "go-zookeeper", Family: workloads.Library, Client: "go-zookeeper",
			Summary: "the Lock that go-zookeeper ships",
			New:     workloads.Locks(shipped[workloads.Lock]("lock"))},
		{Recipe: "lock", Name: "concurrency", Family: workloads.Library, Client: "clientv3",
			Summary: "the Mutex that etcd's client ships in its package concurrency",
			New:     workloads.Locks(shipped[workloads.Lock]("lock"))},

		{Recipe: "shared-lock", Name: "nearest", Family: workloads.Recipe,
			Summary: "a queue in which writers watch the node before their own, readers the nearest writer's",
			New:     workloads.SharedLocks(recipes.NewSharedLock)},
		{Recipe: "shared-lock", Name: "children-watch", Family: workloads.Naive,
			Summary: "a queue of readers and writers, and everybody watches the whole queue",
			New:     workloads.SharedLocks(naive.NewSharedLock)},
		{Recipe: "shared-lock", Name: "lowest-write", Family: workloads.Naive,
			Source:  "Curator's choice, and that of one translation of ZooKeeper's page of recipes",
			Summary: "a queue in which writers watch the node before their own, readers the lowest writer's",
			New:     workloads.SharedLocks(naive.NewLowestWriteSharedLock)},
		{Recipe: "shared-lock", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the RWMutex that etcd's client ships in its package recipe",
			New:     workloads.SharedLocks(shipped[workloads.SharedLock]("shared-lock"))},

		{Recipe: "barrier", Name: "watch", Family: workloads.Recipe,
			Summary: "one node holds everybody up, all who wait watch it",
			New:     workloads.Barriers(recipes.NewBarrier)},
		{Recipe: "barrier", Name: "poll", Family: workloads.Naive,
			Summary: "one node holds everybody up, looked at by a timer",
			New:     workloads.Barriers(naive.NewBarrier)},
		{Recipe: "barrier", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the Barrier that etcd's client ships in its package recipe",
			New:     workloads.Barriers(shipped[workloads.Barrier]("barrier"))},

		{Recipe: "double-barrier", Name: "ready", Family: workloads.Recipe,
			Summary: "one node lets all in; out they go one by one, and the lowest shuts the door",
			New:     workloads.DoubleBarriers(recipes.NewDoubleBarrier)},
		{Recipe: "double-barrier", Name: "sequential", Family: workloads.Recipe,
			Summary: "one node lets all in; out they go along the line, which promises less",
			New:     workloads.DoubleBarriers(recipes.NewSequentialDoubleBarrier)},
		{Recipe: "double-barrier", Name: "children-watch", Family: workloads.Naive,
			Summary: "all who wait, to come in or go out, watch all clients' nodes",
			New:     workloads.DoubleBarriers(naive.NewDoubleBarrier)},
		{Recipe: "double-barrier", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the DoubleBarrier that etcd's client ships in its package recipe",
			New:     workloads.DoubleBarriers(shippedDoubleBarrier)},

		{Recipe: "two-phase-commit", Name: "coordinator", Family: workloads.Recipe,
			Summary: "the coordinator watches the votes, the sites watch what it decides",
			New:     workloads.TwoPhaseCommits(workloads.Coordinated(recipes.NewTransaction, recipes.NewCoordinator))},
		{Recipe: "two-phase-commit", Name: "ephemeral-sites", Family: workloads.Recipe,
			Summary: "the same, and it notices a site that dies before it has voted",
			New: workloads.TwoPhaseCommits(
				workloads.Coordinated(recipes.NewEphemeralTransaction, recipes.NewCoordinator).WithOwnNodes())},
		{Recipe: "two-phase-commit", Name: "all-watch-all", Family: workloads.Naive,
			Summary: "no coordinator, all sites watch all votes",
			New:     workloads.TwoPhaseCommits(workloads.Uncoordinated(naive.NewTransaction))},

		{Recipe: "election", Name: "predecessor", Family: workloads.Recipe,
			Summary: "a line of volunteers, each watches only the one ahead of it",
			New:     workloads.Elections(recipes.NewElection)},
		{Recipe: "election", Name: "acknowledged", Family: workloads.Recipe,
			Summary: "a line of volunteers, and a node by which the leader says that it knows",
			New:     workloads.Elections(recipes.NewAcknowledgedElection)},
		{Recipe: "election", Name: "watch-leader", Family: workloads.Naive,
			Summary: "a line of volunteers, all watch the leader",
			New:     workloads.Elections(naive.NewElection)},
		{Recipe: "election", Name: "children-watch", Family: workloads.Naive,
			Summary: "a line of volunteers, all watch the whole line",
			New:     workloads.Elections(naive.NewChildrenWatchElection)},
		{Recipe: "election", Name: "concurrency", Family: workloads.Library, Client: "clientv3",
			Summary: "the Election that etcd's client ships in its package concurrency",
			New:     workloads.Elections(shipped[workloads.Election]("election"))},

		{Recipe: "revocable-lock", Name: "own-node", Family: workloads.Recipe,
			Summary: "a shared lock, and a holder is asked to give it up in its own node, which it watches",
			New:     workloads.RevocableLocks(recipes.NewRevocableLock)},
		{Recipe: "revocable-lock", Name: "laser-beams", Family: workloads.Recipe,
			Summary: "the same, and who does not give the lock up in time has its node deleted",
			New: workloads.RevocableLocks(func(c drivers.Conn, path string) *recipes.LaserBeamLock {
				return recipes.NewLaserBeamLock(c, path, patience)
			})},
		{Recipe: "revocable-lock", Name: "shared-flag", Family: workloads.Naive,
			Summary: "a shared lock, and holders are asked to give it up in one node, which everybody watches",
			New:     workloads.RevocableLocks(naive.NewRevocableLock)},

		{Recipe: "queue", Name: "cached-list", Family: workloads.Recipe,
			Summary: "a consumer works through its list before it lists again; all who find nothing watch",
			New:     workloads.Queues(recipes.NewQueue)},
		{Recipe: "queue", Name: "one-watcher", Family: workloads.Recipe,
			Summary: "consumers take by turns, and only the one whose turn it is watches",
			New:     workloads.LinedQueues(recipes.NewOneWatcherQueue)},
		{Recipe: "queue", Name: "relist", Family: workloads.Naive,
			Summary: "consumers list for each item and race for the first; all who find nothing watch",
			New:     workloads.Queues(naive.NewQueue)},
		{Recipe: "queue", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the Queue that etcd's client ships in its package recipe",
			New:     workloads.Queues(shippedQueue[workloads.Queue]("queue"))},

		{Recipe: "priority-queue", Name: "invalidate", Family: workloads.Recipe,
			Summary: "a consumer works through its list until a notification; all who find nothing watch",
			New:     workloads.PriorityQueues(recipes.NewPriorityQueue)},
		{Recipe: "priority-queue", Name: "one-watcher", Family: workloads.Recipe,
			Summary: "consumers take by turns, and only the one whose turn it is watches",
			New:     workloads.LinedPriorityQueues(recipes.NewOneWatcherPriorityQueue)},
		{Recipe: "priority-queue", Name: "relist", Family: workloads.Naive,
			Summary: "consumers list for each item and race for the first; all who find nothing watch",
			New:     workloads.PriorityQueues(naive.NewPriorityQueue)},
		{Recipe: "priority-queue", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the PriorityQueue that etcd's client ships in its package recipe",
			New:     workloads.PriorityQueues(shippedQueue[workloads.PriorityQueue]("priority-queue"))},

		{Recipe: "config", Name: "watch", Family: workloads.Recipe,
			Summary: "one value, read with a watch and again whenever it has changed",
			New:     workloads.Configs(recipes.NewConfig)},
		{Recipe: "config", Name: "persistent", Family: workloads.Recipe, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "one value, read whenever a watch that stays tells of a change",
			New:     workloads.Configs(recipes.NewPersistentConfig)},
		{Recipe: "config", Name: "poll", Family: workloads.Naive,
			Summary: "one value, read by a timer",
			New:     workloads.Configs(naive.NewConfig)},

		{Recipe: "names", Name: "cached", Family: workloads.Recipe,
			Summary: "each value is read once with a watch, and kept until it changes",
			New:     workloads.NameServices(recipes.NewNames)},
		{Recipe: "names", Name: "recursive", Family: workloads.Recipe, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "each value is read once and kept, one watch that stays tells of all changes",
			New:     workloads.NameServices(recipes.NewRecursiveNames)},
		{Recipe: "names", Name: "lookup", Family: workloads.Naive,
			Summary: "the service is asked each time",
			New:     workloads.NameServices(naive.NewNames)},

		{Recipe: "group", Name: "ring", Family: workloads.Recipe,
			Summary: "each member watches the one ahead of it, the first closes the ring",
			New:     workloads.Rings(recipes.NewGroup)},
		{Recipe: "group", Name: "recursive", Family: workloads.Recipe, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "each member lists the group once, one watch that stays tells the differences",
			New:     workloads.Groups(recipes.NewRecursiveGroup)},
		{Recipe: "group", Name: "children-watch", Family: workloads.Naive,
			Summary: "each member watches the whole group and lists it at each change",
			New:     workloads.Groups(naive.NewGroup)},

		{Recipe: "mix", Name: "operations", Family: workloads.Load,
			Source:  "no recipe: what any store is asked for",
			Summary: "reads and writes of many nodes, which have nothing to do with each other",
			New:     workloads.Mixes},

		{Recipe: "sessions", Name: "connect", Family: workloads.Load,
			Summary: "all sessions are opened at the same time",
			New:     workloads.Sessions(workloads.ConnectStorm())},
		{Recipe: "sessions", Name: "reconnect", Family: workloads.Load, Needs: workloads.Cuts,
			Summary: "all connections are cut at the same time, and watches armed again",
			New:     workloads.Sessions(workloads.ReconnectStorm())},
		{Recipe: "sessions", Name: "expire", Family: workloads.Load,
			Summary: "all sessions end at the same time, each with its ephemeral node",
			New:     workloads.Sessions(workloads.ExpiryStorm())},
		{Recipe: "sessions", Name: "idle", Family: workloads.Load,
			Summary: "all sessions do nothing but stay",
			New:     workloads.Sessions(workloads.Lull())},

		{Recipe: "fanout", Name: "one-shot", Family: workloads.Load,
			Source:  "the watches of ZooKeeper",
			Summary: "one node is set, all others watch it, and again after each notification",
			New:     workloads.Fanouts(workloads.OneShot)},
		{Recipe: "fanout", Name: "persistent", Family: workloads.Load, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "one node is set, all others watch it for good",
			New:     workloads.Fanouts(workloads.Persistent)},
	}
}
