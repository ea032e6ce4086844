package load

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// Mixes creates the workload of raw operations, which do not wait for other clients. A round is
// one operation.
func Mixes(s workloads.Settings) workloads.Workload {
	w := &mixWorkload{think: s.ThinkTime(), readsFresh: s.ReadsFresh, MixSettings: s.MixChoices(), value: make([]byte, s.Mix.Size)}
	w.Keys, w.InFlight = cmp.Or(w.Keys, workloads.DefaultKeys), max(w.InFlight, 1)
	w.fresh.Lags = s.ReadsLag
	for kind, phase := range mixPhases() {
		w.timed[kind] = s.Latency(phase)
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
	workloads.MixSettings
	think      time.Duration
	readsFresh bool
	value      []byte

	clients int
	keys    namespace.Folders
	paths   []string // paths of the keys
	folder  string   // where clients create fresh nodes
	made    []freshNodes

	fresh      check.Freshness
	operations check.Operations
	timed      [mixKinds]*metrics.Latency
	retries    atomic.Int64 // conditional sets that were repeated
}

// keysInFolder bounds the length of a list.
const keysInFolder = 100

// Setup creates the keys. A first node shows whether the service accepts values of this size: a
// service that does not closes the connection at each attempt.
func (w *mixWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.clients, w.made = clients, make([]freshNodes, clients*w.InFlight)
	w.keys = namespace.Folders{Path: base + "/keys", Nodes: w.Keys, PerFolder: keysInFolder}
	for i := range w.Keys {
		w.paths = append(w.paths, w.keys.NodePath(i))
	}
	w.folder = base + "/own"
	_, err := c.Create(ctx, w.folder, w.value, 0)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		if w.Size > safeSize {
			return errTooLarge
		}
		err = namespace.CreateNode(ctx, c, w.folder, nil, 0)
	}
	if err != nil {
		return err
	}
	return w.keys.Create(ctx, c, w.value)
}

// safeSize is the size of a value that fits into a packet of every service, with all other fields
// of the request.
const safeSize = 1_000_000

var errTooLarge = errors.New("the service hung up on a value of that size: ZooKeeper takes packets of less than 1 MiB")

func (w *mixWorkload) Join(s *workloads.Slot) (workloads.Client, error) {
	seen := w.fresh.Session(s, w.Keys)
	if s.Index >= w.clients {
		return newMixWatcher(w.join(s, seen)), nil
	}
	all := make(mixSession, w.InFlight)
	for i := range all {
		all[i] = w.join(s.Stream(i), seen)
		all[i].stream = s.Index*w.InFlight + i
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

func (w *mixWorkload) Verdict() metrics.Safety { return w.operations.JudgeRegisters(w.fresh.Verdict()) }

// Background returns a mix that runs beside a recipe.
func Background(clients int, rate float64, m workloads.MixSettings) workloads.Background {
	form := workloads.Form{Recipe: "mix", Name: "background", Family: workloads.Load, New: Mixes}
	return workloads.Background{Clients: clients, Rate: rate, Form: form, Mix: m}
}

// Judge finds nothing: each session of a mix is judged by itself.
func (w *mixWorkload) Judge(divided.Gathered) divided.Findings { return divided.Findings{} }

// CountRounds returns false: each operation is in one process.
func (w *mixWorkload) CountRounds([]metrics.Phase, int) (int64, bool) { return 0, false }
