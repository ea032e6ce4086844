package main

import (
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/workloads"
)

// registerQueue adds the flags that only queues use.
func registerQueue(flags *pflag.FlagSet, q *workloads.QueueSettings) {
	flags.IntVar(&q.Producers, "producers", 0, "how many clients of a queue put, at most all but one (default half of them)")
	flags.IntVar(&q.Backlog, "backlog", 0, "how many items may be in a queue at once (default as many as it has producers)")
	flags.IntVar(&q.Priorities, "priorities", workloads.DefaultPriorities, "how many priorities the items of a priority queue have")
	flags.BoolVar(&q.EphemeralItems, "ephemeral-items", false, "let a queue's items go with the session that put them")
}

// checkQueue rejects invalid values of these flags.
func checkQueue(q workloads.QueueSettings) error {
	switch {
	case q.Producers < 0:
		return usagef("--producers %d: must be at least 1, or 0 for half of the clients", q.Producers)
	case q.Backlog < 0:
		return usagef("--backlog %d: must be at least 1, or 0 for as many as there are producers", q.Backlog)
	case q.Priorities < 1 || q.Priorities > 99:
		return usagef("--priorities %d: must be 1 to 99", q.Priorities)
	}
	return nil
}
