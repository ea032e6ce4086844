package costmodel

import (
	"strings"

	"github.com/stampede-bench/stampede/metrics"
)

// A Model predicts the cost of one form of one recipe.
type Model struct {
	Identities []Identity
	settled    func(p Params) Expected
}

// Params are the parameters of a settled cost.
type Params struct {
	Clients int64 // N, at least 1
	// Polls is q: how often each waiting client polls per turn that it waits for, the
	// last time just after the release. Only polling forms depend on it.
	Polls int64
	// Writers is W, the number of clients that write, at least 1. They arrive before
	// the readers, R. Only forms of a shared lock depend on it.
	Writers int64
	// Items is M, the number of items in the queue when the first client arrives.
	Items int64
	// Updates is U, the number of changes to what all clients follow.
	Updates int64
	// Names is M, the number of names. Lookups is L: how often each client looks up
	// each name, before the first update and after each update.
	Names, Lookups int64
}

// Expected is the settled cost when every client takes one turn.
type Expected struct {
	Notifications Term
	Reads         Term
	Writes        Term // includes failed writes
	FailedWrites  Term
	LargestFanout Term // most sessions that one write notifies
	// Most, if set, means that the counts depend on which of several racing clients is
	// faster. Then the fields above are lower bounds, and Most has the upper bounds.
	Most *Expected
}

// Upper returns the upper bound of each count: the expected count itself where it is exact.
func (e Expected) Upper() Expected {
	if e.Most == nil {
		return e
	}
	return *e.Most
}

// A Term is one expected count: its formula as text, and its value.
type Term struct {
	Formula string
	Value   int64
}

// An Identity relates the counts of whole rounds under any schedule.
type Identity struct{ Formula string } // e.g. "lists = N + K", or with ≤

// ModelOf returns the model of a form, or false if there is none.
func ModelOf(recipe, form string) (Model, bool) {
	m, ok := models()[recipe+"/"+form]
	return m, ok
}

// Settled returns the cost of a settled run.
func (m Model) Settled(p Params) Expected { return m.settled(p) }

// Bounds reports whether the identity only bounds a count, by what clients do that see each change of which
// they were notified.
func (i Identity) Bounds() bool { return strings.Contains(i.Formula, " ≤ ") }

// Check returns both sides of the identity for the counts of the given number
// of whole rounds of so many clients, and reports whether the identity holds.
func (i Identity) Check(c metrics.Counts, rounds, clients int64) (left, right int64, holds bool) {
	symbols := map[string]int64{
		"N": rounds, "U": rounds, "C": clients, "K": c.WatchedExists, "z": c.WatchedMisses, "notifications": c.Notifications,
		"reads": c.Reads, "lists": c.Lists, "gets": c.WatchedGets, "watching gets": c.WatchedGets, "missed gets": c.MissedGets,
		"writes": c.Writes, "sessions": c.Opens, "failed": c.FailedWrites, "failed writes": c.FailedWrites, "failed creates": c.FailedWrites,
	}
	one, other, equal := strings.Cut(i.Formula, " = ")
	if !equal {
		one, other, _ = strings.Cut(i.Formula, " ≤ ")
	}
	left, right = evaluate(one, symbols), evaluate(other, symbols)
	return left, right, left == right || !equal && left < right
}

// Fixes returns the count that the identity fixes for each round, under any schedule: "notifications",
// "reads", "writes" or "failed_writes". It is "" if the identity only relates counts.
func (i Identity) Fixes() string {
	count, other, equal := strings.Cut(i.Formula, " = ")
	if !equal || strings.Trim(other, "0123456789NU") != "" {
		return ""
	}
	switch count {
	case "notifications", "reads", "writes":
		return count
	case "failed", "failed writes", "failed creates":
		return "failed_writes"
	}
	return ""
}

// expected returns the cost with these formulas.
func (p Params) expected(notifications, reads, writes, failedWrites, largestFanout string) Expected {
	return Expected{Notifications: p.term(notifications), Reads: p.term(reads), Writes: p.term(writes),
		FailedWrites: p.term(failedWrites), LargestFanout: p.term(largestFanout)}
}

func (p Params) term(formula string) Term {
	symbols := map[string]int64{"N": p.Clients}
	for _, l := range Parameters("", p) {
		symbols[l.Letter] = l.Value
	}
	return Term{formula, evaluate(formula, symbols)}
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
		"election/one-node":       {lockOneNodeIdentities(), lockOneNode},
		"election/poll":           {electionPollIdentities(), electionPoll},
		"election/concurrency":    {electionConcurrencyIdentities(), electionConcurrency},

		"revocable-lock/own-node":    {revocableLockOwnNodeIdentities(), revocableLockOwnNode},
		"revocable-lock/laser-beams": {revocableLockOwnNodeIdentities(), revocableLockLaserBeams},
		"revocable-lock/shared-flag": {revocableLockSharedFlagIdentities(), revocableLockSharedFlag},

		"priority-lock/nearest":        {priorityLockIdentities(), priorityLockNearest},
		"priority-lock/laser-beams":    {priorityLockIdentities(), priorityLockLaserBeams},
		"priority-lock/children-watch": {priorityLockChildrenWatchIdentities(), priorityLockChildrenWatch},

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

		"mutual-watch/one-watch":  {groupChildrenWatchIdentities(), groupChildrenWatch},
		"mutual-watch/recursive":  {groupRecursiveIdentities(), groupRecursive},
		"mutual-watch/watch-each": {mutualWatchEachIdentities(), mutualWatchEach},

		"member-state/own-node": {memberStateOwnNodeIdentities(), memberStateOwnNode},
		"member-state/one-node": {memberStateOneNodeIdentities(), memberStateOneNode},

		"reconnect/full-jitter": {reconnectIdentities(), reconnect},
		"reconnect/at-once":     {reconnectIdentities(), reconnect},
		"reconnect/fixed":       {reconnectIdentities(), reconnect},

		"names/cached":    {configWatchIdentities(), namesCached},
		"names/recursive": {configPersistentIdentities(), namesCached},
		"names/lookup":    {configPollIdentities(), namesLookup},

		"mirror/watch-each": {mirrorEachIdentities(), mirrorEach},
		"mirror/recursive":  {configPersistentIdentities(), mirrorRecursive},
		"mirror/relist":     {mirrorEachIdentities(), mirrorRelist},
	}
}

// reconnect returns the cost of the forms of reconnect after an outage of no length: each client opens a session at its
// first attempt and registers itself. What the forms differ in, the attempts that fail and when they come, does not
// reach the service.
func reconnect(p Params) Expected { return p.expected("0", "0", "N", "0", "0") }

// reconnectIdentities hold for outages of any length.
func reconnectIdentities() []Identity {
	return []Identity{{"sessions = writes"}, {"notifications = 0"}, {"reads = 0"}, {"failed = 0"}}
}

// fanoutPersistent returns the cost of fanout/persistent: each client reads once, after
// it has armed its persistent watch, and is notified of each change. With one-shot
// watches, a fan-out costs the same as a config.
func fanoutPersistent(p Params) Expected {
	e := configWatch(p)
	e.Reads = p.term("N")
	return e
}

// namesCached returns the cost of names/cached: each client reads each name once. An
// update wakes all clients, and each reads the changed name again. The number of look-ups
// does not matter. names/recursive, with one watch over all names, costs the same.
func namesCached(p Params) Expected {
	p.Items = p.Names // the M of the formulas
	return p.expected("N·U", "N(M+U)", "U", "0", "N")
}

// namesLookup returns the cost of names/lookup: every look-up is a read.
func namesLookup(p Params) Expected {
	p.Items = p.Names // the M of the formulas
	return p.expected("0", "N·L·M(1+U)", "U", "0", "0")
}

// A Parameter is a letter of the formulas and its value in one run.
type Parameter struct {
	Letter string
	Value  int64
}

// Parameters returns the letters that a recipe's formulas may contain besides N, with
// their values.
func Parameters(recipe string, p Params) []Parameter {
	many := p.Items
	switch recipe {
	case "names":
		many = p.Names
	case "mirror":
		many = MirrorNodes
	}
	return []Parameter{
		{"W", p.Writers}, {"R", p.Clients - p.Writers}, {"M", many}, {"U", p.Updates}, {"L", p.Lookups}, {"q", p.Polls},
	}
}
