package workloads

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// What is chosen of a workload reaches it by the methods below only, and only when it is
// made: a workload keeps no Settings. So each form tells which settings it uses, and no
// table can leave one out. A setting has the name of its flag of stampede run.

// uses notes that the workload being made uses the settings.
func (s Settings) uses(names ...string) {
	for _, name := range names {
		if s.used != nil {
			s.used[name] = true
		}
	}
}

// Uses are the names of the settings that the form uses, in the order of the alphabet.
func (f Form) Uses() []string {
	s := Settings{used: make(map[string]bool)}
	f.New(s)
	return slices.Sorted(maps.Keys(s.used))
}

func (s Settings) hold() time.Duration {
	s.uses("hold")
	return s.Hold
}

func (s Settings) think() time.Duration {
	s.uses("think")
	return s.Think
}

// readersToAWriter is how many readers of a shared lock there are to each writer.
func (s Settings) readersToAWriter() int {
	s.uses("readers")
	return s.readers()
}

func (s Settings) revokeEvery() int {
	s.uses("revoke-every")
	return cmp.Or(s.RevokeEvery, DefaultRevokeEvery)
}

func (s Settings) abortRate() float64 {
	s.uses("abort-rate")
	return s.AbortRate
}

// queue is what is chosen of either kind of queue, but for the priorities.
func (s Settings) queue() QueueSettings {
	s.uses("producers", "backlog", "ephemeral-items")
	return s.Queue
}

func (s Settings) priorities() int {
	s.uses("priorities")
	return min(cmp.Or(s.Queue.Priorities, DefaultPriorities), endPriority)
}

func (s Settings) mix() MixSettings {
	s.uses("reads", "lists", "creates", "conditional", "keys", "keys-by", "size", "in-flight", "watchers")
	return s.Mix
}
