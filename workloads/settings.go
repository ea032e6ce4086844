package workloads

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
)

// Settings are the user's settings of a workload. The zero Settings have no hold time and no think
// time.
type Settings struct {
	Hold  time.Duration // how long a holder keeps what it acquired
	Think time.Duration // how long a client pauses between two rounds
	// Polls is how often each waiting client of a polling form polls during one hold in a settled
	// run, where ticks are injected; 0 means once.
	Polls int
	// Namespace is the node below which a run creates all its nodes; "" means Default.
	// Its parent must exist.
	Namespace string
	// Readers is the number of readers of a shared lock per writer; 0 means DefaultReaders.
	Readers int
	// RevokeEvery sets how often a round of a revocable lock begins by revoking it: one round in
	// RevokeEvery on average; 0 means DefaultRevokeEvery.
	RevokeEvery int

	// AbortRate is the share of the transactions of a two-phase commit in which a site votes to
	// abort, 0 to 1.
	AbortRate float64

	Queue QueueSettings
	Mix   MixSettings

	// Updates is how often a settled run changes the value that all clients see; 0 means twice.
	Updates int64
	// Names is the number of names to look up; 0 means 3. Lookups is how often each client looks
	// up each name per update; 0 means twice.
	Names, Lookups int64

	// ReadsLag: reads may return data older than what the session has already seen. ReadsFresh: a
	// read returns every write that was acknowledged before it, by any client. Run sets both.
	ReadsLag, ReadsFresh bool

	steps    *check.Steps       // of a run that several processes share; nil for others
	exchange *exchange.Exchange // with the other processes of such a run; nil for others

	timings map[string]*metrics.Latency // by phase; nil: each workload has its own
	fanout  *FanoutTimes                // of a fan-out; nil: each workload has its own
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
	// Creates is the share of the writes that create a fresh node, at most 0.5: equally many
	// delete one of these nodes. All other writes set a key.
	Creates float64
	// Conditional sets use the version that a read just before has returned. If the set finds
	// another version, because another client wrote first, read and set are repeated.
	Conditional bool
	Keys        int    // how many nodes are read and set; 0 means DefaultKeys
	KeysBy      KeysBy // how keys are chosen; "" means Uniform
	Size        int    // of a value, in bytes
	// InFlight is how many requests each client's session keeps in flight; 0 means one.
	InFlight int
	// Watchers is the number of sessions, besides the clients', that each watch some keys and
	// watch again after each change.
	Watchers int
}

// DefaultKeys is the default number of keys.
const DefaultKeys = 1000

// A KeysBy is the distribution by which keys are chosen.
type KeysBy string

const (
	// Uniform chooses every key with the same probability.
	Uniform KeysBy = "uniform"
	// Zipfian chooses the k-th key with a probability proportional to 1/k^1.1, so that a few keys
	// are hot.
	Zipfian KeysBy = "zipfian"
)
