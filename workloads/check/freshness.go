package check

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

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
	s.safety.Violations++
	if len(s.safety.Details) < MaxDetails {
		s.safety.Details = append(s.safety.Details, fmt.Sprintf("violation: client %d %s", s.client.Number(), what))
	}
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

// JudgeUpdates finds updates that clients of several processes saw before they were made, by their steps.
func JudgeUpdates(steps []TimedStep) (s metrics.Safety) {
	type update struct{ value, number int64 }
	made := map[update]bool{}
	v := Visibility{}
	for _, step := range Ordered(steps) {
		switch of := (update{step.Value, step.Turn}); {
		case step.Kind == Updating:
			made[of] = true
		case step.Kind == Saw && step.Turn > 0 && !made[of]:
			v.addViolation("client %d saw \"%d\", which was never written", step.Client+1, step.Turn)
		}
	}
	return v.safety
}
