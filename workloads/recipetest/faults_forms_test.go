package recipetest

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// A made is the constructor of a form's workload, as runs use it.
type made = func(workloads.Settings) workloads.Workload

// A family has the correct form of a recipe, and its mutants by their defects.
type family struct {
	right   made
	mutants map[string]made
}

// families returns the families of all recipes.
func families() map[string]family {
	type conn = drivers.Conn
	locks := family{workloads.Locks(recipes.NewLock), madeOf(mutants(), workloads.Locks)}
	locks.mutants["has nodes that outlive sessions"] = workloads.Locks(func(c conn, dir string) workloads.Lock {
		return recipes.NewLock(undead{c}, dir)
	})
	barrier := func(open func(conn, string) workloads.Barrier) made { return workloads.Barriers(open) }
	doubleBarrier := func(open func(conn, string, int) workloads.DoubleBarrier) made { return workloads.DoubleBarriers(open) }
	return map[string]family{
		"lock":             locks,
		"shared-lock":      {workloads.SharedLocks(recipes.NewSharedLock), madeOf(sharedMutants(), sharedLocks)},
		"revocable-lock":   {workloads.RevocableLocks(impatient), madeOf(revocableMutants(), revocableLocks)},
		"barrier":          planted(barrierMutants(), barrier),
		"double-barrier":   planted(doubleBarrierMutants(), doubleBarrier),
		"two-phase-commit": planted(commitMutants(), workloads.TwoPhaseCommits),
		"election":         elections(),
		"config":           configs(),
		"names":            nameServices(),
		"group":            groups(),
		"queue":            queues("queue"),
		"priority-queue":   queues("priority-queue"),
	}
}

// madeOf returns the workloads of lock mutants.
func madeOf(all []mutant, run func(func(drivers.Conn, string) workloads.Lock) made) map[string]made {
	forms := map[string]made{}
	for _, m := range all {
		forms[m.name] = run(m.open)
	}
	return forms
}

func sharedLocks(open func(drivers.Conn, string) workloads.Lock) made {
	return workloads.SharedLocks(func(c drivers.Conn, dir string) workloads.SharedLock { return open(c, dir).(*side).SharedLock })
}

func revocableLocks(open func(drivers.Conn, string) workloads.Lock) made {
	return workloads.RevocableLocks(func(c drivers.Conn, dir string) workloads.RevocableLock {
		return open(c, dir).(*side).SharedLock.(workloads.RevocableLock)
	})
}

// impatient returns the lock that the mutant disguised wraps.
func impatient(c drivers.Conn, dir string) *recipes.LaserBeamLock {
	return recipes.NewLaserBeamLock(c, dir, time.Second)
}

func planted[F any](p *plants[F], run func(F) made) family {
	f := family{run(p.right), map[string]made{}}
	for _, m := range p.planted {
		f.mutants[m.name] = run(m.form)
	}
	return f
}

func elections() family {
	f := family{workloads.Elections(recipes.NewAcknowledgedElection), map[string]made{}}
	for name, open := range electionMutants() {
		f.mutants[name] = workloads.Elections(open)
	}
	return f
}

func configs() family {
	f := family{workloads.Configs(recipes.NewConfig), map[string]made{}}
	for _, m := range configMutants() {
		f.mutants[m.name] = workloads.Configs(m.open)
	}
	return f
}

func nameServices() family {
	f := family{workloads.NameServices(recipes.NewNames), map[string]made{}}
	for _, m := range namesMutants() {
		f.mutants[m.name] = workloads.NameServices(m.open)
	}
	return f
}

func groups() family {
	f := family{workloads.Groups(naive.NewGroup), map[string]made{}}
	for _, m := range groupMutants() {
		if f.mutants[m.name] = workloads.Groups(m.open); m.ring {
			f.mutants[m.name] = workloads.Rings(m.open)
		}
	}
	return f
}

// queues returns the family of one of the two queue recipes.
func queues(recipe string) family {
	f := family{workloads.Queues(recipes.NewQueue), map[string]made{}}
	if recipe == "priority-queue" {
		f.right = workloads.PriorityQueues(recipes.NewPriorityQueue)
	}
	for _, m := range queueMutants() {
		if m.form.Recipe != recipe {
			continue
		}
		open := func(c drivers.Conn, items, consumers string, mode drivers.Mode) workloads.PriorityQueue {
			return m.form.New(c, workloads.QueueSite{Items: items, Consumers: consumers, Mode: mode})
		}
		f.mutants[m.name] = workloads.LinedPriorityQueues(open)
		if recipe == "queue" {
			f.mutants[m.name] = workloads.LinedQueues(func(c drivers.Conn, items, consumers string, mode drivers.Mode) workloads.Queue {
				return open(c, items, consumers, mode).(anyPriority).Queue
			})
		}
	}
	return f
}
