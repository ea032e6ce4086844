package cost

import "github.com/stampede-bench/stampede/metrics"

// A Model is what one form of one recipe costs.
type Model struct {
	Identities []Identity
	settled    func(p Params) Expected
}

// Params are what a settled cost depends on.
type Params struct {
	Clients int64 // N, at least 1
	// Polls is q: how often each waiter polls per turn it waits for, the last
	// time just after the release. Only forms that poll depend on it.
	Polls int64
	// Writers is W, how many of the clients write, at least 1: they come
	// before the readers, R. Only forms of a shared lock depend on it.
	Writers int64
	// Items is M: how many items a queue holds when the first client comes.
	Items int64
	// Updates is U: how often what all clients see is changed.
	Updates int64
	// Names is M, how many names there are, and Lookups is L, how often each
	// client looks each of them up before the first and after each update.
	Names, Lookups int64
}

// Expected is the settled cost of every client taking one turn.
type Expected struct {
	Notifications Term
	Reads         Term
	Writes        Term // failed ones included
	FailedWrites  Term
	LargestFanout Term // most notifications for one write
	// Most, if set, says that the counts are not determined even at rest,
	// because several clients go on at once: these are the least, and Most the
	// most.
	Most *Expected
}

// Upper is the most that each count may be: what is expected, if it is exact.
func (e Expected) Upper() Expected {
	if e.Most == nil {
		return e
	}
	return *e.Most
}

// A Term is one expected count: the formula as people write it, and its value.
type Term struct {
	Formula string
	Value   int64
}

// An Identity relates counts of whole rounds under any schedule.
type Identity struct {
	Formula string // e.g. "lists = N + K"
	sides   func(c metrics.Counts, rounds int64) (left, right int64)
	atMost  bool // ≤ instead of =
}

// Of returns the model of a form, false if there is none.
func Of(recipe, form string) (Model, bool) {
	m, ok := models()[recipe+"/"+form]
	return m, ok
}

// Settled returns the exact cost in the settled mode.
func (m Model) Settled(p Params) Expected { return m.settled(p) }

// Check returns both sides of the identity for the counts of the given number
// of whole rounds, and whether it holds.
func (i Identity) Check(c metrics.Counts, rounds int64) (left, right int64, holds bool) {
	left, right = i.sides(c, rounds)
	return left, right, left == right || i.atMost && left < right
}

func models() map[string]Model {
	return map[string]Model{
		"lock/predecessor":    {lockPredecessorIdentities(), lockPredecessor},
		"lock/one-node":       {lockOneNodeIdentities(), lockOneNode},
		"lock/children-watch": {lockChildrenWatchIdentities(), lockChildrenWatch},
		"lock/poll":           {lockPollIdentities(), lockPoll},
		"lock/go-zookeeper":   {lockGoZookeeperIdentities(), lockPredecessor},
		"lock/concurrency":    {lockConcurrencyIdentities(), lockConcurrency},

		"shared-lock/nearest":        {oneAheadIdentities(), sharedLockNearest},
		"shared-lock/children-watch": {lockChildrenWatchIdentities(), sharedLockChildrenWatch},
		"shared-lock/lowest-write":   {oneAheadIdentities(), sharedLockLowestWrite},
		"shared-lock/etcd-recipes":   {sharedLockEtcdRecipesIdentities(), sharedLockEtcdRecipes},

		"barrier/watch":        {barrierWatchIdentities(), barrierWatch},
		"barrier/poll":         {barrierPollIdentities(), barrierPoll},
		"barrier/etcd-recipes": {barrierEtcdRecipesIdentities(), barrierEtcdRecipes},

		"double-barrier/ready":          {doubleBarrierReadyIdentities(), doubleBarrierReady},
		"double-barrier/sequential":     {doubleBarrierReadyIdentities(), doubleBarrierReady},
		"double-barrier/children-watch": {doubleBarrierChildrenWatchIdentities(), doubleBarrierChildrenWatch},
		"double-barrier/etcd-recipes":   {doubleBarrierEtcdRecipesIdentities(), doubleBarrierEtcdRecipes},

		"two-phase-commit/coordinator":     {commitIdentities(), commitCoordinator},
		"two-phase-commit/ephemeral-sites": {commitIdentities(), commitEphemeralSites},
		"two-phase-commit/all-watch-all":   {commitIdentities(), commitAllWatchAll},

		"election/predecessor":    {lockPredecessorIdentities(), lockPredecessor},
		"election/acknowledged":   {electionAcknowledgedIdentities(), electionAcknowledged},
		"election/watch-leader":   {electionWatchLeaderIdentities(), electionWatchLeader},
		"election/children-watch": {lockChildrenWatchIdentities(), lockChildrenWatch},
		"election/concurrency":    {electionConcurrencyIdentities(), electionConcurrency},

		"revocable-lock/own-node":    {revocableLockOwnNodeIdentities(), revocableLockOwnNode},
		"revocable-lock/laser-beams": {revocableLockOwnNodeIdentities(), revocableLockLaserBeams},
		"revocable-lock/shared-flag": {revocableLockSharedFlagIdentities(), revocableLockSharedFlag},

		"queue/cached-list":           {queueIdentities(), queueCachedList},
		"queue/one-watcher":           {queueOneWatcherIdentities(), queueOneWatcher},
		"queue/relist":                {queueRelistIdentities(), queueRelist},
		"queue/etcd-recipes":          {queueEtcdRecipesIdentities(), queueEtcdRecipes},
		"priority-queue/invalidate":   {queueIdentities(), queueRelist},
		"priority-queue/one-watcher":  {queueOneWatcherIdentities(), queueOneWatcher},
		"priority-queue/relist":       {queueRelistIdentities(), queueRelist},
		"priority-queue/etcd-recipes": {queueEtcdRecipesIdentities(), priorityQueueEtcdRecipes},

		"config/watch":      {configWatchIdentities(), configWatch},
		"config/poll":       {configPollIdentities(), configPoll},
		"config/persistent": {configPersistentIdentities(), configWatch},

		"fanout/one-shot":   {configWatchIdentities(), configWatch},
		"fanout/persistent": {configPersistentIdentities(), fanoutPersistent},

		"group/ring":           {groupRingIdentities(), groupRing},
		"group/recursive":      {groupRecursiveIdentities(), groupRecursive},
		"group/children-watch": {groupChildrenWatchIdentities(), groupChildrenWatch},

		"names/cached":    {configWatchIdentities(), namesCached},
		"names/recursive": {configPersistentIdentities(), namesCached},
		"names/lookup":    {configPollIdentities(), namesLookup},
	}
}
