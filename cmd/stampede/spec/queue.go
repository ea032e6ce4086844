package spec

import (
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/workloads"
)

// registerQueue adds the flags that only queues use.
func registerQueue(flags *pflag.FlagSet, q *workloads.QueueSettings) {
	flags.IntVar(&q.Producers, "producers", 0, "number of clients that put items into a queue, at most all but one (default half of them)")
	flags.IntVar(&q.Backlog, "backlog", 0, "most items in a queue at once (default the number of producers)")
	flags.IntVar(&q.Priorities, "priorities", workloads.DefaultPriorities, "number of priorities of a priority queue")
	flags.BoolVar(&q.EphemeralItems, "ephemeral-items", false, "make a queue's items ephemeral: they end with the session that put them")
}

// checkQueue rejects invalid values of these flags.
func checkQueue(q workloads.QueueSettings) error {
	switch {
	case q.Producers < 0:
		return cli.Flagf("producers", "%d: must be at least 1, or 0 for half of the clients", q.Producers)
	case q.Backlog < 0:
		return cli.Flagf("backlog", "%d: must be at least 1, or 0 for the number of producers", q.Backlog)
	case q.Priorities < 1 || q.Priorities > 99:
		return cli.Flagf("priorities", "%d: must be 1 to 99", q.Priorities)
	}
	return nil
}
