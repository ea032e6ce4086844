package workloads

import (
	"cmp"

	"github.com/stampede-bench/stampede/workloads/cost"
)

// Params returns the parameters on which the cost of a settled run with this many clients depends.
func (s Settings) Params(clients int) cost.Params {
	return cost.Params{
		Clients: int64(clients),
		Polls:   int64(max(s.Polls, 1)),
		Writers: int64(s.Writers(clients)),
		Items:   int64(s.Queue.Items),
		Updates: s.updates(),
		Names:   s.names(),
		Lookups: s.lookups(),
	}
}

func (s Settings) updates() int64 { return cmp.Or(s.Updates, 2) }

func (s Settings) names() int64 { return cmp.Or(s.Names, 3) }

func (s Settings) lookups() int64 { return cmp.Or(s.Lookups, 2) }
