package workloads

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
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

// Steps returns where the workload records the steps of its clients, or nil if no other process needs
// them.
func (s Settings) Steps() *check.Steps { return s.steps }

// Exchange returns the exchange with the processes that have other clients of this instance, nil if there are
// none.
func (s Settings) Exchange() *exchange.Exchange { return s.exchange }

// HoldTime returns how long a holder keeps what it acquired.
func (s Settings) HoldTime() time.Duration {
	s.uses("hold")
	return s.Hold
}

// ThinkTime returns how long a client pauses between two rounds.
func (s Settings) ThinkTime() time.Duration {
	s.uses("think")
	return s.Think
}

// ReadersPerWriter returns the number of readers of a shared lock per writer.
func (s Settings) ReadersPerWriter() int {
	s.uses("readers")
	return s.readers()
}

// RevocationPeriod returns in how many rounds of a revocable lock one begins by revoking it.
func (s Settings) RevocationPeriod() int {
	s.uses("revoke-every")
	return cmp.Or(s.RevokeEvery, DefaultRevokeEvery)
}

// AbortShare returns the share of the transactions with a vote to abort.
func (s Settings) AbortShare() float64 {
	s.uses("abort-rate")
	return s.AbortRate
}

// QueueChoices returns the settings of either kind of queue, except for the priorities.
func (s Settings) QueueChoices() QueueSettings {
	s.uses("producers", "backlog", "ephemeral-items")
	return s.Queue
}

// PriorityCount returns the number of priorities of a priority queue.
func (s Settings) PriorityCount() int {
	s.uses("priorities")
	return cmp.Or(s.Queue.Priorities, DefaultPriorities)
}

// MixChoices returns the settings of a mix.
func (s Settings) MixChoices() MixSettings {
	s.uses("reads", "lists", "creates", "conditional", "keys", "keys-by", "size", "in-flight", "watchers")
	return s.Mix
}

// DefaultRevokeEvery is the default of RevokeEvery. Revocations are rare, since clients that
// cannot wait are rare.
const DefaultRevokeEvery = 10

// DefaultReaders is the default number of readers per writer. Readers dominate, as they do where
// sharing a lock pays. But with as few as eight clients one writer still queues behind another,
// which is where the forms differ.
const DefaultReaders = 3

func (s Settings) readers() int {
	if s.Readers > 0 {
		return s.Readers
	}
	return DefaultReaders
}

// Writers returns how many of the clients are writers when each either always reads or always
// writes: at least one.
func (s Settings) Writers(clients int) int { return Writers(clients, s.readers()) }

// Writers returns how many of the clients are writers, with this many readers per writer.
func Writers(clients, readers int) int { return max(1, clients/(readers+1)) }

// Latency returns the recorder of the phase, which all instances of a run share.
func (s Settings) Latency(phase string) *metrics.Latency {
	if s.timings == nil {
		return metrics.NewLatency(phase)
	}
	if s.timings[phase] == nil {
		s.timings[phase] = metrics.NewLatency(phase)
	}
	return s.timings[phase]
}

// FanoutTimes returns where the workload records the times of its notifications, which all
// instances of a run share.
func (s Settings) FanoutTimes() *FanoutTimes { return cmp.Or(s.fanout, new(FanoutTimes)) }

func (s Settings) namespace() namespace.Path {
	return namespace.Path(cmp.Or(s.Namespace, namespace.Default))
}

// Params returns the parameters on which the cost of a settled run with this many clients depends.
func (s Settings) Params(clients int) costmodel.Params {
	return costmodel.Params{
		Clients: int64(clients),
		Polls:   int64(max(s.Polls, 1)),
		Writers: int64(s.Writers(clients)),
		Items:   int64(s.Queue.Items),
		Updates: s.UpdateCount(),
		Names:   s.NameCount(),
		Lookups: s.LookupCount(),
	}
}

// UpdateCount returns how often a settled run changes the value that all clients see.
func (s Settings) UpdateCount() int64 { return cmp.Or(s.Updates, 2) }

// NameCount returns the number of names to look up.
func (s Settings) NameCount() int64 { return cmp.Or(s.Names, 3) }

// LookupCount returns how often each client looks up each name per update.
func (s Settings) LookupCount() int64 { return cmp.Or(s.Lookups, 2) }
