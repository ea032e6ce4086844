package fanout

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/delivery"
)

type ignorant struct{}

func (ignorant) Caused(Notified)                {}
func (ignorant) Complete(Trigger)               {}
func (ignorant) Undelivered(delivery.Violation) {}

func bounded(limit int) *Meter {
	return NewListening(ignorant{}, func() time.Time { return time.Unix(1, 0) }, limit)
}

func exchange(s *Session, m drivers.Message) {
	m.Kind = drivers.Request
	s.Message(m)
	m.Kind = drivers.Reply
	s.Message(m)
}

// TestWritesAreBoundedBesideASilentSession writes while a connected session gets no reply, which would
// keep all writes.
func TestWritesAreBoundedBesideASilentSession(t *testing.T) {
	for _, persistent := range []bool{false, true} {
		const limit, writes = 512, 20_000
		m := bounded(limit)
		writer, silent := m.Session(), m.Session()
		if persistent {
			exchange(silent, drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/v"), Watch: true})
		}
		for i := range int64(writes) {
			exchange(writer, drivers.Message{Op: drivers.OpSet, Path: fmt.Appendf(nil, "/v/%d", i%100), Pos: i + 1})
			if n := len(m.ledger.writes); n > 3*limit {
				t.Fatalf("%d writes are kept, persistent watch: %v", n, persistent)
			}
		}
		if m.Early() < writes-3*limit {
			t.Errorf("%d writes were decided early, want nearly all %d", m.Early(), writes)
		}
	}
}

// TestWritesInFlightAreBounded keeps one write without a reply while another session writes.
func TestWritesInFlightAreBounded(t *testing.T) {
	const limit = 64
	m := bounded(limit)
	hangs, writer := m.Session(), m.Session()
	hangs.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpSet, Path: []byte("/a")})
	for i := range int64(1000) {
		exchange(writer, drivers.Message{Op: drivers.OpSet, Path: []byte("/b"), Pos: i + 1})
		exchange(hangs, drivers.Message{Op: drivers.OpPing, Pos: i + 1})
		if n := len(m.ledger.inFlight.answered); n > limit {
			t.Fatalf("%d writes are in flight, want at most %d", n, limit)
		}
	}
	hangs.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpSet, Path: []byte("/a"), Pos: 2000})
	if m.Early() != 1 {
		t.Errorf("%d were decided early, want the one write without a reply", m.Early())
	}
}

// TestForeignTriggersAreBounded notifies of changes that no session has made.
func TestForeignTriggersAreBounded(t *testing.T) {
	const limit = 64
	m := bounded(limit)
	s := m.Session()
	for i := range int64(1000) {
		path := fmt.Appendf(nil, "/v/%d", i)
		exchange(s, drivers.Message{Op: drivers.OpGet, Path: path, Watch: true, Pos: 2*i + 1})
		s.Message(drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: path})
		if n := len(m.ledger.foreign); n > 2*limit {
			t.Fatalf("%d changes are kept, want at most %d", n, 2*limit)
		}
	}
	if m.Early() < 1000-2*limit {
		t.Errorf("%d were decided early, want nearly all 1000", m.Early())
	}
}

// TestWithoutALimitNothingIsDecidedEarly is the meter of a run.
func TestWithoutALimitNothingIsDecidedEarly(t *testing.T) {
	m := NewMeter(metrics.NewWindow())
	writer := m.Session()
	m.Session()
	for i := range int64(2000) {
		exchange(writer, drivers.Message{Op: drivers.OpSet, Path: []byte("/v"), Pos: i + 1})
	}
	if m.Early() != 0 || len(m.ledger.writes) != 2000 {
		t.Errorf("%d decided early, %d kept; want 0 and all 2000", m.Early(), len(m.ledger.writes))
	}
}
