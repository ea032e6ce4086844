package recipetest

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A made is the constructor of a form's workload, as runs use it.
type made = workloads.Constructor

// A family has the correct form of a recipe, and its mutants by their defects.
type family struct {
	right   made
	mutants map[string]made
}

// families returns the families of all recipes.
func families() map[string]family {
	locks := familyOf(lockMutants(), func(open openLock) made { return recipe.Locks(open) })
	locks.mutants["has nodes that outlive sessions"] = recipe.Locks(func(c drivers.Conn, dir string) recipe.Lock {
		return recipes.NewLock(undead{c}, dir)
	})
	revocable := familyOf(revocableLockMutants(), func(open openRevocableLock) made { return recipe.RevocableLocks(open) })
	revocable.right = recipe.RevocableLocks(impatient)
	priority := familyOf(priorityLockMutants(), func(open openPriorityLock) made { return recipe.PriorityLocks(open) })
	priority.right = recipe.PriorityLocks(func(c drivers.Conn, dir string) *recipes.LaserBeamPriorityLock {
		return recipes.NewLaserBeamPriorityLock(c, dir, time.Second)
	})
	return map[string]family{
		"priority-lock":    priority,
		"lock":             locks,
		"shared-lock":      familyOf(sharedLockMutants(), func(open openSharedLock) made { return recipe.SharedLocks(open) }),
		"revocable-lock":   revocable,
		"barrier":          familyOf(barrierMutants(), func(open openBarrier) made { return recipe.Barriers(open) }),
		"double-barrier":   familyOf(doubleBarrierMutants(), func(open openDoubleBarrier) made { return recipe.DoubleBarriers(open) }),
		"two-phase-commit": familyOf(commitMutants(), recipe.TwoPhaseCommits),
		"election":         familyOf(electionMutants(), func(open openElection) made { return recipe.Elections(open) }),
		"config":           familyOf(configMutants(), func(open openConfig) made { return recipe.Configs(open) }),
		"names":            familyOf(namesMutants(), func(open openNames) made { return recipe.NameServices(open) }),
		"mirror":           familyOf(mirrorMutants(), func(open openMirror) made { return recipe.Mirrors(open) }),
		"group":            familyOf(groupMutants(), runGroup),
		"mutual-watch":     familyOf(mutualWatchMutants(), runGroup),
		"member-state":     familyOf(memberStateMutants(), func(open openMemberState) made { return recipe.MemberStates(open) }),
		"reconnect":        familyOf(reconnectMutants(), func(open openReconnect) made { return recipe.Reconnects(open) }),
		"queue":            queues("queue"),
		"priority-queue":   queues("priority-queue"),
	}
}

// familyOf returns the workloads of a recipe's forms.
func familyOf[F any](m mutants[F], run func(F) made) family {
	f := family{run(m.right), map[string]made{}}
	for _, mutant := range m.all {
		f.mutants[mutant.name] = run(mutant.form)
	}
	return f
}

// impatient returns the lock that the mutant disguised wraps.
func impatient(c drivers.Conn, dir string) *recipes.LaserBeamLock {
	return recipes.NewLaserBeamLock(c, dir, time.Second)
}

func runGroup(o openGroup) made {
	if o.ring {
		return recipe.Rings(o.open)
	}
	return recipe.Groups(o.open)
}

// queues returns the family of one of the two queue recipes.
func queues(name string) family {
	f := family{recipe.Queues(recipes.NewQueue), map[string]made{}}
	if name == "priority-queue" {
		f.right = recipe.PriorityQueues(recipes.NewPriorityQueue)
	}
	for _, m := range queueMutants().all {
		if m.form.Recipe != name {
			continue
		}
		open := func(c drivers.Conn, items, consumers string, mode drivers.Mode) recipe.PriorityQueue {
			return m.form.New(c, recipe.QueueSite{Items: items, Consumers: consumers, Mode: mode})
		}
		f.mutants[m.name] = recipe.PriorityQueuesWithConsumers(open)
		if name == "queue" {
			f.mutants[m.name] = recipe.QueuesWithConsumers(func(c drivers.Conn, items, consumers string, mode drivers.Mode) recipe.Queue {
				return open(c, items, consumers, mode).(anyPriority).Queue
			})
		}
	}
	return f
}
