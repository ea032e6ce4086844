package workloads

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

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

// Mixes creates the workload of raw operations, which do not wait for other clients. A round is
// one operation.
func Mixes(s Settings) Workload {
	w := &mixWorkload{think: s.think(), readsFresh: s.readsFresh, MixSettings: s.mix(), value: make([]byte, s.Mix.Size)}
	w.Keys, w.InFlight = cmp.Or(w.Keys, DefaultKeys), max(w.InFlight, 1)
	w.fresh.lags = s.readsLag
	for kind, phase := range mixPhases() {
		w.timed[kind] = s.latency(phase)
	}
	return w
}

// The kinds of operations. They number the phases of a mix.
const (
	mixRead = iota
	mixList
	mixWrite
	mixCreate
	mixDelete
	mixKinds
)

func mixPhases() [mixKinds]string { return [...]string{"read", "list", "write", "create", "delete"} }

type mixWorkload struct {
	MixSettings
	think      time.Duration
	readsFresh bool
	value      []byte

	clients int
	keys    folders
	paths   []string // paths of the keys
	folder  string   // where clients create fresh nodes
	made    []ownNodes

	fresh    freshness
	recalled recollection
	timed    [mixKinds]*metrics.Latency
	retries  atomic.Int64 // conditional sets that were repeated
}

// keysInFolder bounds the length of a list.
const keysInFolder = 100

// Setup creates the keys. A first node shows whether the service accepts values of this size: a
// service that does not closes the connection at each attempt.
func (w *mixWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.clients, w.made = clients, make([]ownNodes, clients*w.InFlight)
	w.keys = folders{path: base + "/keys", nodes: w.Keys, each: keysInFolder}
	for i := range w.Keys {
		w.paths = append(w.paths, w.keys.node(i))
	}
	w.folder = base + "/own"
	_, err := c.Create(ctx, w.folder, w.value, 0)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		if w.Size > safeSize {
			return errTooLarge
		}
		err = makeNode(ctx, c, w.folder, nil, 0)
	}
	if err != nil {
		return err
	}
	return w.keys.make(ctx, c, w.value)
}

// safeSize is the size of a value that fits into a packet of every service, with all other fields
// of the request.
const safeSize = 1_000_000

var errTooLarge = errors.New("the service hung up on a value of that size: ZooKeeper takes packets of less than 1 MiB")

func (w *mixWorkload) Join(s *Seat) (Client, error) {
	seen := w.fresh.session(s, w.Keys)
	if s.Index >= w.clients {
		return newMixWatcher(w.join(s, seen)), nil
	}
	all := make(mixSession, w.InFlight)
	for i := range all {
		all[i] = w.join(s.lane(i), seen)
		all[i].own = s.Index*w.InFlight + i
	}
	if len(all) == 1 {
		return all[0], nil
	}
	if q := newMixQueue(s, all); q != nil {
		return q, nil
	}
	return all, nil
}

// Observers returns the number of sessions that only watch.
func (w *mixWorkload) Observers() int { return w.Watchers }

func (w *mixWorkload) Together() bool { return false }

func (w *mixWorkload) Begin() {
	for _, l := range w.timed {
		l.Reset()
	}
	w.retries.Store(0)
}

// kinds returns the kinds of operations that can occur.
func (w *mixWorkload) kinds() (kinds []int) {
	may := [mixKinds]bool{
		mixRead: w.Reads > 0 && w.Lists < 1, mixList: w.Reads > 0 && w.Lists > 0,
		mixWrite: w.Reads < 1 && w.Creates < 0.5, mixCreate: w.Reads < 1 && w.Creates > 0, mixDelete: w.Reads < 1 && w.Creates > 0,
	}
	for kind, there := range may {
		if there {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (w *mixWorkload) Lap() metrics.Lap { return w.timed[w.kinds()[0]].Lap() }

func (w *mixWorkload) End(r *metrics.Record) {
	m := metrics.Mix{Retries: w.retries.Load()}
	if r.Mix != nil { // filled in by another group, which shares the recorders
		m.Retries += r.Mix.Retries
	}
	r.Phases = nil
	for _, kind := range w.kinds() {
		p := w.timed[kind].Phase()
		r.Phases = append(r.Phases, p)
		if kind <= mixList {
			m.Reads += p.Service.TotalCount()
		} else {
			m.Writes += p.Service.TotalCount()
		}
	}
	r.Mix, r.Rounds = &m, m.Reads+m.Writes
}

func (w *mixWorkload) Verdict() metrics.Safety { return w.recalled.registers(w.fresh.verdict()) }

// Settle returns an error: a mix has no settled cost, since its settings determine it.
func (w *mixWorkload) Settle(context.Context, *Stage) error {
	return errors.New("operations cost what they are: there is nothing to settle")
}
