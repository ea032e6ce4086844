package workloads

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A workload reads the settings that are flags of stampede run only through the methods below, and
// only while it is created: it keeps no Settings. Each form thus reports which settings it uses,
// so a table of settings cannot omit one. A setting has the name of its flag.

// uses records that the workload being created uses the settings.
func (s Settings) uses(names ...string) {
	for _, name := range names {
		if s.used != nil {
			s.used[name] = true
		}
	}
}

// Uses returns the names of the settings that the form uses, in alphabetical order.
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

// readersToAWriter returns the number of readers of a shared lock per writer.
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

// queue returns the settings of either kind of queue, except for the priorities.
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
