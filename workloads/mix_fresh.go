package workloads

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A freshness checks that no session is shown an older version of a key than it
// was shown before or wrote itself, and that a conditional set makes the next
// version of the one that it was on.
type freshness struct {
	// lags: a read may show what is older, as etcd's serializable ones may:
	// each is answered by whichever member is asked, with what that has.
	lags bool

	mu      sync.Mutex
	checked []*checks // of all sessions
	safety  metrics.Safety
}

// checks counts those of one session. No two counts share a cache line, which the
// processors would take from each other with each operation.
type checks struct {
	atomic.Int64
	_ [56]byte
}

// A sight is what one session has been shown. It has four bytes for each key.
// Several requests may be in flight: each is held against what the session knew
// before it was sent, since the answers may be seen in another order than they came.
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

// known is the newest version of a key that the session has been shown. It is asked
// for before a request is sent.
func (s *sight) known(key int) int32 { return s.newest[key].Load() }

// learned notes a version that the session was shown.
func (s *sight) learned(key int, version int32) {
	for {
		known := s.newest[key].Load()
		if version <= known || s.newest[key].CompareAndSwap(known, version) {
			return
		}
	}
}

// shown notes the version that a read showed, which was sent when before was known.
func (s *sight) shown(key int, before, version int32) {
	if !s.lags {
		s.check(version >= before, "was shown version %d of a key after version %d", version, before)
	}
	s.learned(key, version)
}

// told notes the version that a read showed after a watch had told of a change.
func (s *sight) told(key int, before, version int32) {
	if !s.lags {
		s.check(version > before, "was told of a change after version %d of a key, and shown version %d", before, version)
	}
	s.learned(key, version)
}

// wrote notes the version that a set made, over one or over any.
func (s *sight) wrote(key int, before, version, over int32) {
	switch {
	case over != drivers.AnyVersion:
		s.check(version == over+1, "made version %[2]d of a key by a set on version %[1]d", over, version)
	case !s.lags:
		s.check(version > before, "made version %[2]d of a key after version %[1]d", before, version)
	}
	s.learned(key, version)
}

// listed notes how many nodes a list showed, of how many there have been since
// before the session.
func (s *sight) listed(nodes, want int) {
	s.check(nodes == want, "was shown %d of %d nodes", int32(nodes), int32(want))
}

// check counts what is right without an allocation. What is wrong is said by two
// numbers.
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
