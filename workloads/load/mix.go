package load

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/draw"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// Mixes creates the workload of raw operations, which do not wait for other clients. A round is
// one operation.
func Mixes(s workloads.Settings) workloads.Workload {
	w := &mixWorkload{think: s.ThinkTime(), readsFresh: s.ReadsFresh, MixSettings: s.MixChoices(), value: make([]byte, s.Mix.Size)}
	w.Keys, w.InFlight = cmp.Or(w.Keys, workloads.DefaultKeys), max(w.InFlight, 1)
	w.ListSize, w.TxnOps = cmp.Or(w.ListSize, workloads.DefaultListSize), min(cmp.Or(w.TxnOps, workloads.DefaultTxnOps), w.Keys)
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
	mixTransaction
	mixKinds
)

func mixPhases() [mixKinds]string {
	return [...]string{"read", "list", "write", "create", "delete", "transaction"}
}

type mixWorkload struct {
	workloads.MixSettings
	think      time.Duration
	readsFresh bool
	value      []byte // as long as any value

	clients int
	keys    namespace.Folders
	paths   []string // paths of the keys
	folder  string   // where clients create fresh nodes
	made    []freshNodes

	fresh      check.Freshness
	operations check.Operations
	timed      [mixKinds]*metrics.Latency
	retries    atomic.Int64 // conditional sets that were repeated
	rejected   atomic.Int64 // conditional transactions that were repeated
}

func (w *mixWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.clients, w.made = clients, make([]freshNodes, clients*w.InFlight)
	w.keys = namespace.Folders{Path: base + "/keys", Nodes: w.Keys, PerFolder: w.ListSize, NameLength: w.NameLength}
	for i := range w.Keys {
		w.paths = append(w.paths, w.keys.NodePath(i))
	}
	w.folder = base + "/own"
}

// first returns the value that a key has at first, the same in each run. Where sizes differ, it fits into a packet of
// every service, so that only the run's own writes may not.
func (w *mixWorkload) first(key int) []byte {
	size := w.SizeBy.Sizes(w.Size, rand.New(rand.NewPCG(0, uint64(key))))()
	if w.SizeBy != "" && w.SizeBy != draw.Constant {
		size = min(size, safeSize)
	}
	return w.value[:size]
}

// Setup creates the keys. A first node shows whether the service accepts values of their size: a service that
// does not closes the connection at each attempt.
func (w *mixWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	_, err := c.Create(ctx, w.folder, w.first(0), 0)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		if len(w.first(0)) > safeSize {
			return errTooLarge
		}
		err = namespace.CreateNode(ctx, c, w.folder, nil, 0)
	}
	if err != nil {
		return err
	}
	return w.keys.Create(ctx, c, w.first)
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

// Latencies returns the times of each kind of operation that can occur.
func (w *mixWorkload) Latencies() (all []*metrics.Latency) {
	for _, kind := range w.kinds() {
		all = append(all, w.timed[kind])
	}
	return all
}

// kinds returns the kinds of operations that can occur.
func (w *mixWorkload) kinds() (kinds []int) {
	may := [mixKinds]bool{
		mixRead: w.Reads > 0 && w.Lists < 1, mixList: w.Reads > 0 && w.Lists > 0,
		mixWrite: w.Reads < 1 && w.changes()+w.Txns < 1, mixTransaction: w.Reads < 1 && w.Txns > 0, mixCreate: w.Reads < 1 && w.Creates > 0, mixDelete: w.Reads < 1 && w.Creates > 0 && !w.Grow,
	}
	for kind, there := range may {
		if there {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Phases returns the phases that can occur.
func (w *mixWorkload) Phases() (names []string) {
	for _, kind := range w.kinds() {
		names = append(names, mixPhases()[kind])
	}
	return names
}

// Notifies reports whether sessions watch keys that clients set.
func (w *mixWorkload) Notifies() bool {
	sets := func(kind int) bool { return kind == mixWrite || kind == mixTransaction }
	return w.Watchers > 0 && slices.ContainsFunc(w.kinds(), sets)
}

// changes returns the share of the writes that create or delete a node.
func (w *mixWorkload) changes() float64 {
	if w.Grow {
		return w.Creates
	}
	return 2 * w.Creates
}

func (w *mixWorkload) Lap() metrics.Lap { return w.timed[w.kinds()[0]].Lap() }

func (w *mixWorkload) Fill(r *metrics.Record) {
	m := metrics.Mix{Retries: w.retries.Load(), Refused: w.rejected.Load()}
	if r.Mix != nil { // filled in by another group, which shares the recorders
		m.Retries, m.Refused = m.Retries+r.Mix.Retries, m.Refused+r.Mix.Refused
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
		if kind == mixTransaction {
			m.Transactions = p.Service.TotalCount()
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

// A mixSession performs several operations of one client concurrently.
//
// It uses one goroutine per operation where the client pauses between operations or waits for
// arrivals, and where the session's calls may be answered in any order. Otherwise a mixQueue
// begins and awaits them all in order with one goroutine: waking a goroutine for each answer would
// take longer than the client library takes for the whole call.
type mixSession []*mixClient

// Turn performs one operation of the first stream.
func (s mixSession) Turn(ctx context.Context) (rounds int64, err error) { return s[0].Turn(ctx) }

func (s mixSession) Streams() []workloads.Stream {
	all := make([]workloads.Stream, len(s))
	for i, c := range s {
		all[i] = workloads.Stream{Client: c, Slot: c.slot}
	}
	return all
}

// A mixQueue is a mixSession with one goroutine. Each operation in progress has a call in flight,
// and the calls are answered in the order in which they were begun.
type mixQueue struct {
	all  mixSession
	next int // the stream whose call is answered next
	conn drivers.Pipeliner
}

// newMixQueue returns nil where operations need a goroutine each.
func newMixQueue(s *workloads.Slot, all mixSession) *mixQueue {
	conn, ok := s.Conn.(drivers.Pipeliner)
	if !ok || s.OpenLoop() || all[0].think > 0 {
		return nil
	}
	first := *all[0]
	first.slot = s.FirstStream()
	all[0] = &first
	for _, c := range all {
		c.turns = s
	}
	return &mixQueue{all: all, conn: conn}
}

// Turn ends one operation, after which the same stream begins another.
func (q *mixQueue) Turn(ctx context.Context) (rounds int64, err error) {
	for {
		c := q.all[q.next]
		if c.pending == nil {
			q.begin(ctx)
			continue
		}
		done, err := q.await(ctx)
		if err != nil {
			q.finish(ctx)
			return 0, unlessGivenUp(err)
		}
		if done {
			c.start(c.slot.Tracker.Began())
		}
		c.pending = q.conn.Begin(ctx, c.call)
		if done {
			return 1, nil
		}
	}
}

// begin begins the first operation of each stream.
func (q *mixQueue) begin(ctx context.Context) {
	for _, c := range q.all {
		c.slot.Tracker.Begin()
		c.start(c.slot.Tracker.Began())
		c.pending = q.conn.Begin(ctx, c.call)
	}
}

// await waits for the next answer, and reports whether an operation is done.
func (q *mixQueue) await(ctx context.Context) (done bool, err error) {
	c := q.all[q.next]
	q.next = (q.next + 1) % len(q.all)
	a := c.pending.Await(ctx)
	c.pending = nil
	if done, err = c.answered(a); err != nil {
		c.slot.Tracker.Stop()
	} else if done {
		c.slot.Tracker.End(c.record())
	}
	return done, err
}

// Finish ends the operations in progress.
func (q *mixQueue) Finish(ctx context.Context) (rounds int64, err error) {
	rounds, err = q.finish(ctx)
	return rounds, unlessGivenUp(err)
}

// finish ends the operations that have a call in progress, until there are none, and returns the
// first error.
func (q *mixQueue) finish(ctx context.Context) (rounds int64, first error) {
	for left := len(q.all); left > 0; {
		c := q.all[q.next]
		if c.pending == nil {
			q.next, left = (q.next+1)%len(q.all), left-1
			continue
		}
		done, err := q.await(ctx)
		switch {
		case err != nil:
			first = cmp.Or(first, err)
		case done:
			rounds++
			c.slot.Tracker.Stop()
		default:
			c.pending, left = q.conn.Begin(ctx, c.call), len(q.all)
		}
	}
	return rounds, first
}

// A mixWatcher watches some keys, and reads each again whenever it has changed.
type mixWatcher struct {
	*mixClient
	keys  []int
	fired chan int // the keys that have changed; its buffer holds all of them, since each key has one watch
	armed bool
}

// watchedKeys is how many keys a watcher watches, if there are that many.
const watchedKeys = 10

func newMixWatcher(c *mixClient) *mixWatcher {
	c.slot.Untracked() // a watcher only waits
	w := &mixWatcher{mixClient: c}
	first := c.draw()
	for i := range min(watchedKeys, c.Keys) {
		w.keys = append(w.keys, (first+i)%c.Keys)
	}
	w.fired = make(chan int, len(w.keys))
	return w
}

// Turn waits for a key to change and watches it again. The first Turn also arms the watches on all
// keys.
func (w *mixWatcher) Turn(ctx context.Context) (rounds int64, err error) {
	if !w.armed {
		w.armed = true
		for _, key := range w.keys {
			before := w.Known(key)
			stat, err := w.watch(ctx, key)
			if err != nil {
				return 0, err
			}
			w.ReadReturned(key, before, stat.Version)
		}
	}
	select {
	case key := <-w.fired:
		before := w.Known(key)
		stat, err := w.watch(ctx, key)
		if err == nil {
			w.NotifiedReadReturned(key, before, stat.Version)
		}
		return 0, err
	case <-w.slot.Stopping:
		return 0, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func (w *mixWatcher) watch(ctx context.Context, key int) (drivers.Stat, error) {
	_, stat, err := drivers.Steady(w.slot.Conn).Get(ctx, w.paths[key], func(drivers.Event) { w.fired <- key })
	return stat, err
}
