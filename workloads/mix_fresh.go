package workloads

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A freshness checks that no session reads an older version of a key than it has read or written
// before, and that a conditional set creates the version after the one that it names.
type freshness struct {
	// lags: a read may return older data, such as a serializable read of etcd, which any member
	// answers with its own data.
	lags bool

	mu      sync.Mutex
	checked []*checks // of all sessions
	safety  metrics.Safety
}

// checks counts the checks of one session. Each counter has its own cache line, so that processors
// do not contend for it with each operation.
type checks struct {
	atomic.Int64
	_ [56]byte
}

// A sight is what one session knows of the keys. It takes four bytes per key. Several requests may
// be in flight. Each answer is compared with what the session knew before the request was sent,
// since answers may be handled in another order than they arrived.
type sight struct {
	*freshness
	seat   *Seat
	newest []atomic.Int32 // versions, by key
	checks *checks
}

func (f *freshness) session(s *Seat, keys int) *sight {
	made := new(checks)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checked = append(f.checked, made)
	return &sight{freshness: f, seat: s, newest: make([]atomic.Int32, keys), checks: made}
}

// known returns the newest version of a key that the session knows. It must be called before a
// request is sent.
func (s *sight) known(key int) int32 { return s.newest[key].Load() }

// learned records a version that the session has seen.
func (s *sight) learned(key int, version int32) {
	for {
		known := s.newest[key].Load()
		if version <= known || s.newest[key].CompareAndSwap(known, version) {
			return
		}
	}
}

// shown checks the version that a read returned. before is the version that was known when the
// read was sent.
func (s *sight) shown(key int, before, version int32) {
	if !s.lags {
		s.check(version >= before, "was shown version %d of a key after version %d", version, before)
	}
	s.learned(key, version)
}

// told checks the version that a read returned after a watch reported a change.
func (s *sight) told(key int, before, version int32) {
	if !s.lags {
		s.check(version > before, "was told of a change after version %d of a key, and shown version %d", before, version)
	}
	s.learned(key, version)
}

// wrote checks the version that a set created, over one version or over any.
func (s *sight) wrote(key int, before, version, over int32) {
	switch {
	case over != drivers.AnyVersion:
		s.check(version == over+1, "made version %[2]d of a key by a set on version %[1]d", over, version)
	case !s.lags:
		s.check(version > before, "made version %[2]d of a key after version %[1]d", before, version)
	}
	s.learned(key, version)
}

// listed checks how many nodes a list returned. want nodes have existed since before the session.
func (s *sight) listed(nodes, want int) {
	s.check(nodes == want, "was shown %d of %d nodes", int32(nodes), int32(want))
}

// check counts a check. It does not allocate if the check holds. Otherwise it reports two numbers.
func (s *sight) check(right bool, format string, a, b int32) {
	s.checks.Add(1)
	if !right {
		s.violated(fmt.Sprintf(format, a, b))
	}
}

func (s *sight) violated(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.safety.Violations++
	if len(s.safety.Details) < maxDetails {
		s.safety.Details = append(s.safety.Details, fmt.Sprintf("violation: client %d %s", s.seat.Index+1, what))
	}
}

func (f *freshness) verdict() metrics.Safety {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.safety
	for _, c := range f.checked {
		v.Checked += c.Load()
	}
	if f.lags {
		v.Weaker = "serializable reads may show what is older than before: that is not checked"
	}
	return v
}
