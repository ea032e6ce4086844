package catalog

import (
	"math/rand/v2"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// pollInterval is how often a client of a polling form polls: often enough for
// a fair comparison, rarely enough not to overload the service.
const pollInterval = 5 * time.Millisecond

// patience is how long a holder has to release a revocable lock after a request,
// before its node is deleted: half the default hold time.
const patience = 500 * time.Microsecond

// reconnectWait is how long a client waits before each attempt to come back: as
// long as one that draws its wait does at most before the first.
const reconnectWait = 200 * time.Millisecond

// persistentSource is the source of the forms that use persistent watches.
const persistentSource = "the persistent watches of ZooKeeper 3.6"

// prioritySource is the source of the forms of the lock with priorities.
const prioritySource = "the revocable read-write priority lock that ZooKeeper's recipes page names and does not describe"

// membersSource is the source of the recipes about members that know each other.
const membersSource = "systems whose members know each other"

// Forms returns all forms. The first form of each family is that family's default.
func Forms() []workloads.Form {
	return []workloads.Form{
		{Recipe: "lock", Name: "predecessor", Family: workloads.Recipe, Notifies: workloads.Others,
			Summary: "each client watches only the sequential node before its own",
			New:     recipe.Locks(recipes.NewLock)},
		{Recipe: "lock", Name: "one-node", Family: workloads.Naive, Notifies: workloads.Others,
			Summary: "all waiting clients watch the one lock node and race for it",
			New:     recipe.Locks(naive.NewLock)},
		{Recipe: "lock", Name: "children-watch", Family: workloads.Naive,
			Summary: "all waiting clients watch the whole queue of sequential nodes",
			New:     recipe.Locks(naive.NewChildrenWatchLock)},
		{Recipe: "lock", Name: "poll", Family: workloads.Naive, Notifies: workloads.NoOne,
			Summary: "waiting clients list the sequential nodes at a fixed interval",
			New: recipe.Locks(func(c drivers.Conn, path string) *naive.PollLock {
				return naive.NewPollLock(c, path, pollInterval)
			})},
		{Recipe: "lock", Name: "go-zookeeper", Family: workloads.Library, Notifies: workloads.Others, Client: "go-zookeeper",
			Summary: "the Lock that go-zookeeper ships",
			New:     recipe.Locks(shipped[recipe.Lock]("lock"))},
		{Recipe: "lock", Name: "concurrency", Family: workloads.Library, Notifies: workloads.Others, Client: "clientv3",
			Summary: "the Mutex that etcd's client ships in its package concurrency",
			New:     recipe.Locks(shipped[recipe.Lock]("lock"))},

		{Recipe: "shared-lock", Name: "nearest", Family: workloads.Recipe, Notifies: workloads.Others,
			Summary: "writers watch the node before their own, readers the nearest writer's",
			New:     recipe.SharedLocks(recipes.NewSharedLock)},
		{Recipe: "shared-lock", Name: "children-watch", Family: workloads.Naive,
			Summary: "all waiting readers and writers watch the whole queue",
			New:     recipe.SharedLocks(naive.NewSharedLock)},
		{Recipe: "shared-lock", Name: "lowest-write", Family: workloads.Naive, Notifies: workloads.Others,
			Source:  "Curator, and one translation of ZooKeeper's recipes page",
			Summary: "writers watch the node before their own, readers the lowest writer's",
			New:     recipe.SharedLocks(naive.NewLowestWriteSharedLock)},
		{Recipe: "shared-lock", Name: "etcd-recipes", Family: workloads.Library, Notifies: workloads.Others, Client: "clientv3",
			Summary: "the RWMutex that etcd's client ships in its package recipe",
			New:     recipe.SharedLocks(shipped[recipe.SharedLock]("shared-lock"))},

		{Recipe: "barrier", Name: "watch", Family: workloads.Recipe,
			Summary: "all waiting clients watch the barrier's node",
			New:     recipe.Barriers(recipes.NewBarrier)},
		{Recipe: "barrier", Name: "poll", Family: workloads.Naive, Notifies: workloads.NoOne,
			Summary: "waiting clients check the barrier's node at a fixed interval",
			New:     recipe.Barriers(naive.NewBarrier)},
		{Recipe: "barrier", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the Barrier that etcd's client ships in its package recipe",
			New:     recipe.Barriers(shipped[recipe.Barrier]("barrier"))},

		{Recipe: "double-barrier", Name: "ready", Family: workloads.Recipe,
			Summary: "one node lets all in; leaving clients watch the lowest node, and its client the highest",
			New:     recipe.DoubleBarriers(recipes.NewDoubleBarrier)},
		{Recipe: "double-barrier", Name: "sequential", Family: workloads.Recipe,
			Summary: "one node lets all in; clients leave in order, which is a weaker guarantee",
			New:     recipe.DoubleBarriers(recipes.NewSequentialDoubleBarrier)},
		{Recipe: "double-barrier", Name: "children-watch", Family: workloads.Naive,
			Summary: "clients that wait to enter or to leave watch all clients' nodes",
			New:     recipe.DoubleBarriers(naive.NewDoubleBarrier)},
		{Recipe: "double-barrier", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the DoubleBarrier that etcd's client ships in its package recipe",
			New:     recipe.DoubleBarriers(shippedDoubleBarrier)},

		{Recipe: "two-phase-commit", Name: "coordinator", Family: workloads.Recipe,
			Summary: "the coordinator watches the votes, the sites watch its decision",
			New:     recipe.TwoPhaseCommits(recipe.Coordinated(recipes.NewTransaction, recipes.NewCoordinator))},
		{Recipe: "two-phase-commit", Name: "ephemeral-sites", Family: workloads.Recipe,
			Summary: "the same, and the coordinator notices a site that dies before it has voted",
			New: recipe.TwoPhaseCommits(
				recipe.Coordinated(recipes.NewEphemeralTransaction, recipes.NewCoordinator).WithOwnNodes())},
		{Recipe: "two-phase-commit", Name: "all-watch-all", Family: workloads.Naive,
			Summary: "no coordinator; all sites watch all votes",
			New:     recipe.TwoPhaseCommits(recipe.Uncoordinated(naive.NewTransaction))},

		{Recipe: "election", Name: "predecessor", Family: workloads.Recipe, Notifies: workloads.Others,
			Summary: "each candidate watches only the sequential node before its own",
			New:     recipe.Elections(recipes.NewElection)},
		{Recipe: "election", Name: "acknowledged", Family: workloads.Recipe, Notifies: workloads.Others,
			Summary: "the same, and the leader announces itself by one more node",
			New:     recipe.Elections(recipes.NewAcknowledgedElection)},
		{Recipe: "election", Name: "watch-leader", Family: workloads.Naive, Notifies: workloads.Others,
			Summary: "all candidates watch the leader's node",
			New:     recipe.Elections(naive.NewElection)},
		{Recipe: "election", Name: "children-watch", Family: workloads.Naive,
			Summary: "all candidates watch the whole queue of sequential nodes",
			New:     recipe.Elections(naive.NewChildrenWatchElection)},
		{Recipe: "election", Name: "one-node", Family: workloads.Naive, Notifies: workloads.Others,
			Summary: "all candidates watch the one leader node and race for it",
			New:     recipe.Elections(naive.NewOneNodeElection)},
		{Recipe: "election", Name: "poll", Family: workloads.Naive, Notifies: workloads.NoOne,
			Summary: "candidates check the one leader node at a fixed interval and race for it",
			New: recipe.Elections(func(c drivers.Conn, path string) *naive.PollElection {
				return naive.NewPollElection(c, path, pollInterval)
			})},
		{Recipe: "election", Name: "concurrency", Family: workloads.Library, Notifies: workloads.Others, Client: "clientv3",
			Summary: "the Election that etcd's client ships in its package concurrency",
			New:     recipe.Elections(shipped[recipe.Election]("election"))},

		{Recipe: "revocable-lock", Name: "own-node", Family: workloads.Recipe,
			Summary: "a shared lock; a holder is asked to release it through its own node, which it watches",
			New:     recipe.RevocableLocks(recipes.NewRevocableLock)},
		{Recipe: "revocable-lock", Name: "laser-beams", Family: workloads.Recipe,
			Summary: "the same, and the node of a holder that does not release the lock in time is deleted",
			New: recipe.RevocableLocks(func(c drivers.Conn, path string) *recipes.LaserBeamLock {
				return recipes.NewLaserBeamLock(c, path, patience)
			})},
		{Recipe: "revocable-lock", Name: "shared-flag", Family: workloads.Naive,
			Summary: "a shared lock; holders are asked to release it through one node, which all clients watch",
			New:     recipe.RevocableLocks(naive.NewRevocableLock)},

		{Recipe: "priority-lock", Name: "nearest", Family: workloads.Recipe,
			Source:  prioritySource,
			Summary: "a shared lock by priority; clients watch the nearest node ahead, also after one has passed them",
			New:     recipe.PriorityLocks(recipes.NewPriorityLock)},
		{Recipe: "priority-lock", Name: "laser-beams", Family: workloads.Recipe,
			Source:  prioritySource,
			Summary: "the same, and the node of a less urgent holder that does not release the lock in time is deleted",
			New: recipe.PriorityLocks(func(c drivers.Conn, path string) *recipes.LaserBeamPriorityLock {
				return recipes.NewLaserBeamPriorityLock(c, path, patience)
			})},
		{Recipe: "priority-lock", Name: "children-watch", Family: workloads.Naive,
			Source:  prioritySource,
			Summary: "a shared lock by priority; all waiting clients watch the whole queue",
			New:     recipe.PriorityLocks(naive.NewPriorityLock)},

		{Recipe: "queue", Name: "cached-list", Family: workloads.Recipe,
			Summary: "a consumer works through its list before it lists again; all idle consumers watch",
			New:     recipe.Queues(recipes.NewQueue)},
		{Recipe: "queue", Name: "one-watcher", Family: workloads.Recipe, Notifies: workloads.Others,
			Summary: "a consumer lock lets one consumer at a time list and watch the queue",
			New:     recipe.QueuesWithConsumers(recipes.NewOneWatcherQueue)},
		{Recipe: "queue", Name: "relist", Family: workloads.Naive,
			Summary: "consumers list for each item and race for the first; all idle consumers watch",
			New:     recipe.Queues(naive.NewQueue)},
		{Recipe: "queue", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the Queue that etcd's client ships in its package recipe",
			New:     recipe.Queues(shippedQueue[recipe.Queue]("queue"))},

		{Recipe: "priority-queue", Name: "invalidate", Family: workloads.Recipe,
			Summary: "a consumer works through its list until a notification; all idle consumers watch",
			New:     recipe.PriorityQueues(recipes.NewPriorityQueue)},
		{Recipe: "priority-queue", Name: "one-watcher", Family: workloads.Recipe, Notifies: workloads.Others,
			Summary: "a consumer lock lets one consumer at a time list and watch the queue",
			New:     recipe.PriorityQueuesWithConsumers(recipes.NewOneWatcherPriorityQueue)},
		{Recipe: "priority-queue", Name: "relist", Family: workloads.Naive,
			Summary: "consumers list for each item and race for the first; all idle consumers watch",
			New:     recipe.PriorityQueues(naive.NewPriorityQueue)},
		{Recipe: "priority-queue", Name: "etcd-recipes", Family: workloads.Library, Client: "clientv3",
			Summary: "the PriorityQueue that etcd's client ships in its package recipe",
			New:     recipe.PriorityQueues(shippedQueue[recipe.PriorityQueue]("priority-queue"))},

		{Recipe: "config", Name: "watch", Family: workloads.Recipe,
			Summary: "one value, read with a watch and read again after each change",
			New:     recipe.Configs(recipes.NewConfig)},
		{Recipe: "config", Name: "persistent", Family: workloads.Recipe, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "one value, read again after each notification of a persistent watch",
			New:     recipe.Configs(recipes.NewPersistentConfig)},
		{Recipe: "config", Name: "poll", Family: workloads.Naive, Notifies: workloads.NoOne,
			Summary: "one value, read at a fixed interval",
			New:     recipe.Configs(naive.NewConfig)},

		{Recipe: "names", Name: "cached", Family: workloads.Recipe,
			Summary: "each value is read once with a watch and cached until it changes",
			New:     recipe.NameServices(recipes.NewNames)},
		{Recipe: "names", Name: "recursive", Family: workloads.Recipe, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "each value is read once and cached; one persistent watch reports all changes",
			New:     recipe.NameServices(recipes.NewRecursiveNames)},
		{Recipe: "names", Name: "lookup", Family: workloads.Naive, Notifies: workloads.NoOne,
			Summary: "each look-up is a request to the service",
			New:     recipe.NameServices(naive.NewNames)},

		{Recipe: "mirror", Name: "watch-each", Family: workloads.Recipe,
			Source:  "Curator's PathChildrenCache",
			Summary: "a copy of a tree; each node is watched, and read again when it changes",
			New:     recipe.Mirrors(recipes.NewMirror)},
		{Recipe: "mirror", Name: "recursive", Family: workloads.Recipe, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "a copy of a tree; one persistent watch names the nodes to read again",
			New:     recipe.Mirrors(recipes.NewRecursiveMirror)},
		{Recipe: "mirror", Name: "relist", Family: workloads.Naive,
			Summary: "a copy of a tree; each node is watched, and all are read again at each change",
			New:     recipe.Mirrors(naive.NewMirror)},

		{Recipe: "group", Name: "ring", Family: workloads.Recipe,
			Summary: "each member watches the one ahead of it, and the first watches the group",
			New:     recipe.Rings(recipes.NewGroup)},
		{Recipe: "group", Name: "recursive", Family: workloads.Recipe, Notifies: workloads.Others, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "each member lists the group once; one persistent watch reports all changes",
			New:     recipe.Groups(recipes.NewRecursiveGroup)},
		{Recipe: "group", Name: "children-watch", Family: workloads.Naive,
			Summary: "each member watches the whole group and lists it at each change",
			New:     recipe.Groups(naive.NewGroup)},

		{Recipe: "mutual-watch", Name: "one-watch", Family: workloads.Recipe,
			Source:  membersSource,
			Summary: "each member keeps one watch, on the group, and lists it at each change",
			New:     recipe.Groups(recipes.NewMutualWatch)},
		{Recipe: "mutual-watch", Name: "recursive", Family: workloads.Recipe, Notifies: workloads.Others, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "each member lists the group once; one persistent watch reports all changes",
			New:     recipe.Groups(recipes.NewRecursiveMutualWatch)},
		{Recipe: "mutual-watch", Name: "watch-each", Family: workloads.Naive,
			Source:  membersSource,
			Summary: "each member watches the node of each other member, and the group for new ones",
			New:     recipe.Groups(naive.NewMutualWatch)},

		{Recipe: "member-state", Name: "own-node", Family: workloads.Recipe, Notifies: workloads.NoOne,
			Source:  membersSource,
			Summary: "each member has a node of its own for its state, which no other member writes",
			New:     recipe.MemberStates(recipes.NewMemberState)},
		{Recipe: "member-state", Name: "one-node", Family: workloads.Naive, Notifies: workloads.NoOne,
			Source:  membersSource,
			Summary: "one node has a table of all states, which each member sets by version, up to 10 times",
			New:     recipe.MemberStates(naive.NewMemberState)},

		{Recipe: "reconnect", Name: "full-jitter", Family: workloads.Recipe, Notifies: workloads.NoOne, Source: "the usual advice on exponential backoff",
			Summary: "each attempt comes after a random time below a limit, which doubles",
			New:     recipe.Reconnects(recipes.NewReconnector)},
		{Recipe: "reconnect", Name: "at-once", Family: workloads.Naive, Notifies: workloads.NoOne, Source: "the usual loop around a connect",
			Summary: "each attempt comes as soon as the one before has failed",
			New:     recipe.Reconnects(naive.NewReconnector)},
		{Recipe: "reconnect", Name: "fixed", Family: workloads.Naive, Notifies: workloads.NoOne, Source: "the usual loop with a sleep",
			Summary: "each attempt comes after a fixed time, in step with those of all other clients",
			New: recipe.Reconnects(func(*rand.Rand) *naive.FixedReconnector {
				return naive.NewFixedReconnector(reconnectWait)
			})},

		{Recipe: "mix", Name: "operations", Family: workloads.Load,
			Source:  "no recipe: plain reads and writes",
			Summary: "independent reads and writes of many nodes",
			New:     load.Mixes},

		{Recipe: "sessions", Name: "connect", Family: workloads.Load, Notifies: workloads.NoOne,
			Summary: "all sessions are opened at once",
			New:     load.Sessions(load.ConnectStorm())},
		{Recipe: "sessions", Name: "reconnect", Family: workloads.Load, Notifies: workloads.NoOne, Needs: workloads.Cuts,
			Summary: "all connections are cut at once, and the sessions arm their watches again",
			New:     load.Sessions(load.ReconnectStorm())},
		{Recipe: "sessions", Name: "expire", Family: workloads.Load, Notifies: workloads.NoOne,
			Summary: "all sessions end at once, each with its ephemeral node",
			New:     load.Sessions(load.ExpiryStorm())},
		{Recipe: "sessions", Name: "idle", Family: workloads.Load, Notifies: workloads.NoOne,
			Summary: "all sessions stay open and send only heartbeats",
			New:     load.Sessions(load.NoStorm())},

		{Recipe: "fanout", Name: "one-shot", Family: workloads.Load,
			Source:  "the watches of ZooKeeper",
			Summary: "one node is set; all other clients watch it, and watch it again after each notification",
			New:     load.Fanouts(load.OneShot)},
		{Recipe: "fanout", Name: "persistent", Family: workloads.Load, Needs: workloads.PersistentWatches,
			Source:  persistentSource,
			Summary: "one node is set; all other clients keep a persistent watch on it",
			New:     load.Fanouts(load.Persistent)},
	}
}

// shipped returns a constructor for the client library's own form of a recipe.
// The constructor returns nil if the library ships no such form.
func shipped[F any](recipe string) func(drivers.Librarian, string) F {
	return func(c drivers.Librarian, path string) F {
		form, _ := c.LibraryForm(recipe, path, 0).(F)
		return form
	}
}

func shippedDoubleBarrier(c drivers.Librarian, path string, clients int) recipe.DoubleBarrier {
	barrier, _ := c.LibraryForm("double-barrier", path, clients).(recipe.DoubleBarrier)
	return barrier
}

// shippedQueue returns a constructor for the client library's own queue or
// priority queue. The items of these queues outlive their producers, so the
// constructor returns nil for any other mode.
func shippedQueue[F any](recipe string) func(drivers.Librarian, string, drivers.Mode) F {
	return func(c drivers.Librarian, items string, mode drivers.Mode) (queue F) {
		if mode == 0 {
			queue = shipped[F](recipe)(c, items)
		}
		return queue
	}
}
