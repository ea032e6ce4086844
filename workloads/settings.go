package workloads

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/draw"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// Settings are the user's settings of a workload. The zero Settings have no hold time and no think
// time.
type Settings struct {
	Hold   time.Duration // how long a holder keeps what it acquired
	Think  time.Duration // how long a client pauses between two rounds
	Outage time.Duration // how long the service refuses connections before clients can come back
	// Polls is how often each waiting client of a polling form polls during one hold in a settled
	// run, where ticks are injected; 0 means once.
	Polls int
	// Namespace is the node below which a run creates all its nodes; "" means Default.
	// Its parent must exist.
	Namespace string
	// ConnectTimeout is how long a run waits for one more session to open; 0 means opening.DefaultPatience.
	ConnectTimeout time.Duration
	// Joining, if set, is called a few times a second while the sessions of clients are being opened: so many are open.
	Joining func(open, sessions int) `json:"-"`
	// Readers is the number of readers of a shared lock per writer; 0 means DefaultReaders.
	Readers int
	// RevokeEvery sets how often a round of a revocable lock begins by revoking it: one round in
	// RevokeEvery on average; 0 means DefaultRevokeEvery.
	RevokeEvery int

	// AbortRate is the share of the transactions of a two-phase commit in which a site votes to
	// abort, 0 to 1.
	AbortRate float64
	Queue     QueueSettings
	Mix       MixSettings

	// Updates is how often a settled run changes the value that all clients see; 0 means twice.
	Updates int64
	// Names is the number of names to look up; 0 means 3. Lookups is how often each client looks
	// up each name per update; 0 means twice.
	Names, Lookups int64

	// ReadsLag: reads may return data older than what the session has already seen. ReadsFresh: a
	// read returns every write that was acknowledged before it, by any client. Run sets both.
	ReadsLag, ReadsFresh bool

	steps    *check.Steps       // nil without a run
	exchange *exchange.Exchange // nil without a run

	atRate  bool                        // work arrives at a rate
	window  *metrics.Window             // of the run; nil: of a settled run
	timings map[string]*metrics.Latency // by phase; nil: each workload has its own
	fanout  *metrics.FanoutTimes        // of a fan-out; nil: each workload has its own
	used    map[string]bool             // the settings that the workload being created uses; nil: not recorded
}

// QueueSettings are the user's settings of a queue's workload.
type QueueSettings struct {
	// Producers is how many clients put items, at most all but one; 0 means half.
	Producers int
	// Backlog is how many items may be in the queue at the same time; 0 means the number of
	// producers.
	Backlog int
	// Items is how many items are in the queue when the first client arrives.
	Items int
	// EphemeralItems makes items ephemeral: they are removed with the session that put them.
	EphemeralItems bool
	// Priorities is how many priorities the items of a priority queue have, at most 99; 0 means
	// DefaultPriorities.
	Priorities int
}

// DefaultPriorities is the default number of priorities: enough to show their effect.
const DefaultPriorities = 8

// MixSettings are the user's settings of a mix. Shares are from 0 to 1.
type MixSettings struct {
	Reads float64 // the share of the operations that read; all others write
	Lists float64 // the share of the reads that list nodes instead of reading one
	// Creates is the share of the writes that create a fresh node. Equally many delete one of these
	// nodes, so that it is at most 0.5, unless Grow keeps them all. All other writes set a key.
	Creates float64
	Grow    bool
	// Txns is the share of the writes that are transactions, each of TxnOps sets of different keys; 0 TxnOps means
	// DefaultTxnOps.
	Txns   float64
	TxnOps int
	// Conditional sets use the version that a read just before has returned. If the set finds
	// another version, because another client wrote first, read and set are repeated. A conditional transaction
	// reads all its keys first.
	Conditional bool
	Keys        int               // how many nodes are read and set; 0 means DefaultKeys
	KeysBy      draw.Distribution // how keys are chosen; "" means Uniform
	ListSize    int               // how many keys are children of one node; 0 means DefaultListSize
	NameLength  int               // of the names of keys and fresh nodes at least, in bytes
	Size        int               // of a value at most, in bytes
	SizeBy      draw.Distribution // how sizes are chosen; "" means Constant
	// InFlight is how many requests each client's session keeps in flight; 0 means one.
	InFlight int
	// Watchers is the number of sessions, besides the clients', that each watch some keys and
	// watch again after each change.
	Watchers int
}

// The defaults of MixSettings.
const (
	DefaultKeys     = 1000
	DefaultListSize = 100
	DefaultTxnOps   = 10
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

// Steps returns where the workload records the steps of its clients, which its judge gets.
func (s Settings) Steps() *check.Steps {
	return cmp.Or(s.steps, NewPart(exchange.Everywhere(), "").Steps)
}

// Exchange returns the exchange with the other clients of this instance.
func (s Settings) Exchange() *exchange.Exchange {
	return cmp.Or(s.exchange, exchange.Alone(exchange.Everywhere()).Instance(0))
}

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

// OutageTime returns how long the service refuses connections before clients can come back.
func (s Settings) OutageTime() time.Duration {
	s.uses("outage")
	return s.Outage
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
	s.uses("reads", "lists", "list-size", "creates", "grow", "txns", "txn-ops", "conditional", "keys", "keys-by", "name-length",
		"size", "size-by", "in-flight", "watchers")
	return s.Mix
}

// DefaultRevokeEvery is the default of RevokeEvery: clients that cannot wait are rare.
const DefaultRevokeEvery = 10

// DefaultReaders is the default number of readers per writer. Readers dominate, as where sharing a lock pays,
// but of eight clients one writer still queues behind another, which is where the forms differ.
const DefaultReaders = 3

func (s Settings) readers() int {
	return cmp.Or(max(s.Readers, 0), DefaultReaders)
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

// AtRate reports whether work arrives at a rate, in an open loop.
func (s Settings) AtRate() bool { return s.atRate }

// NewQueue returns a queue of the clients for the fairness of the run.
func (s Settings) NewQueue(clients int) *metrics.Queue {
	return metrics.NewQueue(clients, cmp.Or(s.window, metrics.NewWindow()))
}

// FanoutTimes returns where the workload records the times of its notifications, which all
// instances of a run share.
func (s Settings) FanoutTimes() *metrics.FanoutTimes {
	return cmp.Or(s.fanout, new(metrics.FanoutTimes))
}

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
