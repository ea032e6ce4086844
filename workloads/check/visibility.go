package check

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// Visibility checks what the clients see of values that are updated. Updates are numbered from 1 in the
// order in which they are made, and the number is the data written. The data before the first
// update is 0.
//
// A client must not see an update that was not made, nor an older update after a newer one in the
// same session, and when writes stop every client must see the last one. An update counts as made
// from just before its request is sent, so that an update seen too early is a real finding.
type Visibility struct {
	mu      sync.Mutex
	made    []int64 // by value: the last update
	clients []*View
	steps   *Steps
	judge   UpdateJudge // of the updates of this process, if it has all clients
	safety  metrics.Safety
}

// A View is what one client sees in one session.
type View struct {
	Seen []int64     // by value: the last update seen, −1 for none
	At   []time.Time // when it was first seen
	err  error       // why the client sees nothing more
	// moved has an element when one of the fields above has changed.
	moved chan struct{}
}

// NewVisibility returns the Visibility of the clients of one process, which records what they see. Whether
// an update had been made when it was seen is judged by the steps: see [UpdateJudge].
func NewVisibility(clients, values int, steps *Steps) *Visibility {
	v := &Visibility{made: make([]int64, values), clients: make([]*View, clients), steps: steps}
	steps.JudgeBy(v.judge.Take)
	for i := range clients {
		v.OpenView(i)
	}
	return v
}

// OpenView starts a client's view from scratch, with a new session.
func (v *Visibility) OpenView(client int) *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := &View{Seen: make([]int64, len(v.made)), At: make([]time.Time, len(v.made)), moved: make(chan struct{}, 1)}
	for i := range w.Seen {
		w.Seen[i] = -1
	}
	v.clients[client] = w
	return w
}

// UpdateData returns the data of the update with this number.
func UpdateData(number int64) []byte { return strconv.AppendInt(nil, number, 10) }

// UpdateBegins records that the update of the value is about to be made.
func (v *Visibility) UpdateBegins(value int, number int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.made[value] = number
	v.steps.Record(Step{Kind: Updating, Client: noOne, Turn: number, Value: int64(value)})
}

// Made records that the update was made, maybe by a client of another process.
func (v *Visibility) Made(value int, number int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.made[value] = max(v.made[value], number)
}

// noOne is the client of steps for which it does not matter which client took them.
const noOne = -1

// Saw records that the client of the view sees this data at the value.
func (v *Visibility) Saw(client int, w *View, value int, data []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.safety.Checked++
	number, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil || number < 0 {
		v.addViolation("client %d saw %q, which was never written", client+1, data)
		return
	}
	if number < w.Seen[value] {
		v.addViolation("client %d saw update %d after %d", client+1, number, w.Seen[value])
	}
	if number != w.Seen[value] {
		w.Seen[value], w.At[value] = number, time.Now()
		v.steps.RecordAt(w.At[value], Step{Kind: Saw, Client: client, Turn: number, Value: int64(value)})
	}
	w.move()
}

// Stopped records that the view will see nothing more.
func (v *Visibility) Stopped(w *View, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w.err = err
	w.move()
}

func (w *View) move() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// Await returns when the update, or a newer one, was first seen in the view.
func (v *Visibility) Await(ctx context.Context, w *View, value int, number int64) (time.Time, error) {
	for {
		v.mu.Lock()
		seen, at, err := w.Seen[value], w.At[value], w.err
		v.mu.Unlock()
		if seen >= number {
			return at, nil
		}
		if err != nil {
			return time.Time{}, err
		}
		select {
		case <-w.moved:
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// CheckClient checks a client that does not see the last update although writes have stopped.
func (v *Visibility) CheckClient(client int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.checkLast(client)
}

// CheckAll checks that every client sees the last update of every value.
func (v *Visibility) CheckAll() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for client := range v.clients {
		v.checkLast(client)
	}
}

func (v *Visibility) checkLast(client int) {
	for value, made := range v.made {
		v.safety.Checked++
		if seen := v.clients[client].Seen[value]; seen < made {
			v.addViolation("client %d never saw update %d; the last one it saw is %d", client+1, made, seen)
		}
	}
}

func (v *Visibility) addViolation(format string, args ...any) {
	AddFinding(&v.safety, false, fmt.Sprintf(format, args...))
}

func (v *Visibility) Verdict() metrics.Safety {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.safety.Add(v.judge.Verdict(), MaxDetails)
}

// A Freshness checks that no session reads an older version of a key than it has read or written
// before, and that a conditional set creates the version after the one that it names.
type Freshness struct {
	// lags: a read may return older data, such as a serializable read of etcd, which any member
	// answers with its own data.
	Lags bool

	mu      sync.Mutex
	checked []*counter // of all sessions
	safety  metrics.Safety
}

// counter counts the checks of one session. Each counter has its own cache line, so that processors
// do not contend for it with each operation.
type counter struct {
	atomic.Int64
	_ [56]byte
}

// SessionVersions is what one session knows of the keys. It takes four bytes per key. Several requests may
// be in flight. Each answer is compared with what the session knew before the request was sent,
// since answers may be handled in another order than they arrived.
type SessionVersions struct {
	*Freshness
	client Client
	newest []atomic.Int32 // versions, by key
	checks *counter
}

func (f *Freshness) Session(s Client, keys int) *SessionVersions {
	made := new(counter)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checked = append(f.checked, made)
	return &SessionVersions{Freshness: f, client: s, newest: make([]atomic.Int32, keys), checks: made}
}

// Known returns the newest version of a key that the session knows. It must be called before a
// request is sent.
func (s *SessionVersions) Known(key int) int32 { return s.newest[key].Load() }

// learn records a version that the session has seen.
func (s *SessionVersions) learn(key int, version int32) {
	for {
		known := s.newest[key].Load()
		if version <= known || s.newest[key].CompareAndSwap(known, version) {
			return
		}
	}
}

// ReadReturned checks the version that a read returned. before is the version that was known when the
// read was sent.
func (s *SessionVersions) ReadReturned(key int, before, version int32) {
	if !s.Lags {
		s.check(version >= before, "read version %d of a key after version %d", version, before)
	}
	s.learn(key, version)
}

// NotifiedReadReturned checks the version that a read returned after a watch reported a change.
func (s *SessionVersions) NotifiedReadReturned(key int, before, version int32) {
	if !s.Lags {
		s.check(version > before, "was notified of a change after version %d of a key, and read version %d", before, version)
	}
	s.learn(key, version)
}

// SetReturned checks the version that a set created, over one version or over any.
func (s *SessionVersions) SetReturned(key int, before, version, over int32) {
	switch {
	case over != drivers.AnyVersion:
		s.check(version == over+1, "created version %[2]d of a key by a set on version %[1]d", over, version)
	case !s.Lags:
		s.check(version > before, "created version %[2]d of a key after version %[1]d", before, version)
	}
	s.learn(key, version)
}

// ListReturned checks how many nodes a list returned. want nodes have existed since before the session.
func (s *SessionVersions) ListReturned(nodes, want int) {
	s.check(nodes == want, "listed %d of %d nodes", int32(nodes), int32(want))
}

// check counts a check. It does not allocate if the check holds. Otherwise it reports two numbers.
func (s *SessionVersions) check(right bool, format string, a, b int32) {
	s.checks.Add(1)
	if !right {
		s.addViolation(fmt.Sprintf(format, a, b))
	}
}

func (s *SessionVersions) addViolation(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	AddFinding(&s.safety, false, fmt.Sprintf("client %d %s", s.client.Number(), what))
}

func (f *Freshness) Verdict() metrics.Safety {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.safety
	for _, c := range f.checked {
		v.Checked += c.Load()
	}
	if f.Lags {
		v.Weaker = "serializable reads may return older data than before: this is not checked"
	}
	return v
}

// An UpdateJudge finds updates that clients saw before they were made. It takes the steps of all clients,
// in the order of [Ordered] or as they happen, and remembers the last updates of each value.
type UpdateJudge struct {
	mu     sync.Mutex
	made   map[int64][]int64 // by value
	safety metrics.Safety
}

// keptUpdates is how many updates of a value are remembered. All clients see an update before the next is
// made.
const keptUpdates = 16

// Take takes the next step.
func (j *UpdateJudge) Take(s TimedStep) {
	j.mu.Lock()
	defer j.mu.Unlock()
	made := j.made[s.Value]
	known := slices.Contains(made, s.Turn) || len(made) == keptUpdates && s.Turn < made[0]
	switch {
	case s.Kind == Updating && !known:
		if j.made == nil {
			j.made = map[int64][]int64{}
		}
		j.made[s.Value] = append(made[max(len(made)-keptUpdates+1, 0):], s.Turn)
	case s.Kind == Saw && s.Turn > 0 && !known:
		AddFinding(&j.safety, false,
			fmt.Sprintf("client %d saw \"%d\", which was never written", s.Client+1, s.Turn))
	}
}

// Verdict returns all findings.
func (j *UpdateJudge) Verdict() metrics.Safety {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.safety
}
