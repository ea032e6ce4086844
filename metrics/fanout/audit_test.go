package fanout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/delivery"
)

// audited plays a random schedule of audited sessions and returns what the listener was told.
func audited(seed uint64, strangers int, lasting bool, faults *simFaults) (s *sim, missed, unasked []string) {
	h := new(heard)
	s = newSimOf(NewListening(h, func() time.Time { return time.Unix(1, 0) }, 1<<14), seed, 5, strangers, seed%2 == 0)
	s.lasting, s.faults = lasting, faults
	numbers := map[*delivery.Session]int{}
	for _, c := range s.clients {
		if c.session != nil {
			c.session.Audit()
			numbers[c.session.delivery] = c.id
		}
	}
	s.run(1500)
	for _, c := range s.clients {
		if !c.closed {
			s.tell(c, drivers.Message{Kind: drivers.Reply, Op: drivers.OpPing, Pos: s.pos})
		}
	}
	s.meter.Finish()
	for _, m := range h.missed {
		missed = append(missed, fmt.Sprint(numbers[m.Session], " ", m.Path))
	}
	return s, missed, h.unasked
}

// TestNobodyIsAccusedWhoTells plays services that lose nothing, with sessions that close, persistent watches, and writers
// that the meter does not see.
func TestNobodyIsAccusedWhoTells(t *testing.T) {
	for _, strangers := range []int{0, 1} {
		for seed := range uint64(300) {
			if _, missed, unasked := audited(seed, strangers, true, nil); len(missed)+len(unasked) > 0 {
				t.Fatalf("seed %d, %d strangers: missed %q, unasked %q; in truth none", seed, strangers, missed, unasked)
			}
		}
	}
}

// TestLostNotificationsAreFound plays services that lose one of eight notifications. Of a hundred watches of lost ones at least 99
// are found, and no other, since every session hears of a later change.
func TestLostNotificationsAreFound(t *testing.T) {
	found, lost := 0, 0
	for seed := range uint64(300) {
		truth := simFaults{lose: true}
		_, missed, unasked := audited(seed, 0, false, &truth)
		lost += len(truth.missed)
		for _, of := range missed {
			i := slices.IndexFunc(truth.missed, func(w string) bool { return strings.HasPrefix(w, of+" ") })
			if i < 0 || len(unasked) > 0 {
				t.Fatalf("seed %d: missed %q and unasked %q, in truth %q", seed, missed, unasked, truth.missed)
			}
			truth.missed = slices.Delete(truth.missed, i, i+1)
			found++
		}
	}
	if found < lost*99/100 || lost < 1000 {
		t.Errorf("%d of %d lost notifications were found", found, lost)
	}
}

// TestRepeatedNotificationsAreFound plays services that send one of eight notifications twice. The second belongs to no watch,
// unless the session has armed it again before.
func TestRepeatedNotificationsAreFound(t *testing.T) {
	found, repeated := 0, 0
	for seed := range uint64(100) {
		var truth simFaults
		_, _, unasked := audited(seed, 0, false, &truth)
		repeated += len(truth.again)
		for _, path := range unasked {
			i := slices.Index(truth.again, path)
			if i < 0 {
				t.Fatalf("seed %d: %s is said to be told without a watch", seed, path)
			}
			truth.again = slices.Delete(truth.again, i, i+1)
			found++
		}
	}
	if found < repeated*9/10 {
		t.Errorf("%d of %d repeated notifications were found", found, repeated)
	}
}

// TestAnAuditKnowsWhereItCannotKnow cuts a session, removes a watch, and loses sight of a session.
func TestAnAuditKnowsWhereItCannotKnow(t *testing.T) {
	for name, c := range map[string]struct {
		before func(s *Session)
		want   int
	}{
		"nothing is in the way": {func(*Session) {}, 1},
		"the watch is removed": {func(s *Session) {
			s.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpUnwatch, Path: []byte("/a"), Removes: drivers.AnyWatch, Pos: 1})
		}, 0},
		"the connection breaks": {func(s *Session) {
			s.Message(drivers.Message{Kind: drivers.Cut})
			s.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen})
			s.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen})
			s.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpRearm})
			s.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpRearm, Pos: 1})
		}, 0},
		"a part is not seen": {(*Session).StopAudit, 0},
	} {
		h := new(heard)
		m := NewListening(h, func() time.Time { return time.Unix(1, 0) }, 1<<14)
		writer, watcher := m.Session(), m.Session()
		watcher.Audit()
		watcher.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpGet, Path: []byte("/a"), Watch: true})
		watcher.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpGet, Path: []byte("/a"), Watch: true, Pos: 1})
		c.before(watcher)
		writer.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpSet, Path: []byte("/a")})
		writer.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpSet, Path: []byte("/a"), Pos: 2})
		m.Prune()
		if len(h.missed) > 0 {
			t.Errorf("%s: missed before the session has heard of a later change", name)
		}
		watcher.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpPing, Pos: 2})
		m.Finish()
		m.Finish()
		if len(h.missed) != c.want {
			t.Errorf("%s: %d missed, want %d", name, len(h.missed), c.want)
		}
	}
}
