package check

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A lockScript performs holds. Each call is one action of a client.
type lockScript struct {
	t       *testing.T
	court   Exclusion
	clients [3]testClient
	holds   [3]*Hold
	force   int64 // number of holders deposed
	now     time.Time
}

func newLockScript(t *testing.T) *lockScript {
	s := &lockScript{t: t, now: time.Unix(0, 0)}
	for i := range s.clients {
		s.clients[i].index = i
	}
	return s
}

func (s *lockScript) seek(client int) {
	s.holds[client] = &Hold{Client: &s.clients[client], DisturbancesBefore: s.clients[client].Disturbances()}
}

// seekToShare is seek for a reader.
func (s *lockScript) seekToShare(client int) {
	s.seek(client)
	s.holds[client].Shared = true
}

func (s *lockScript) grant(client int, token int64) (time.Duration, bool) {
	s.holds[client].Token = token
	return s.court.Granted(s.holds[client], s.now)
}

func (s *lockScript) release(client, waiting int) {
	s.court.Releasing(s.holds[client], waiting, s.now)
	s.court.Released(s.holds[client])
}

func (s *lockScript) disturb(client int) { s.clients[client].disturb() }

func (s *lockScript) want(violations, overlaps, refused int64, detail string) {
	s.t.Helper()
	v := s.court.Verdict(s.force)
	if v.Violations != violations || v.BeliefOverlaps != overlaps || v.TokensRefused != refused {
		s.t.Errorf("violations %d, belief overlaps %d, refused %d; want %d, %d, %d",
			v.Violations, v.BeliefOverlaps, v.TokensRefused, violations, overlaps, refused)
	}
	if got := strings.Join(v.Details, "; "); got != detail {
		s.t.Errorf("details %q, want %q", got, detail)
	}
}

func TestHoldsInTurnAreSafe(t *testing.T) {
	s := newLockScript(t)
	for token := range int64(6) {
		c := int(token % 3)
		s.seek(c)
		s.grant(c, token)
		s.release(c, 0)
	}
	s.want(0, 0, 0, "")
}

func TestTwoHoldersAtTheSameTimeAreAViolation(t *testing.T) {
	s := newLockScript(t)
	s.seek(0)
	s.seek(1)
	s.grant(0, drivers.NoSeq)
	s.grant(1, drivers.NoSeq)
	s.release(0, 0)
	s.release(1, 0)
	s.want(1, 0, 0, "violation: client 2 held at the same time as client 1")
}

func TestATokenThatDoesNotIncreaseIsAViolation(t *testing.T) {
	s := newLockScript(t)
	s.seek(0)
	s.grant(0, 7)
	s.release(0, 0)
	s.seek(1)
	s.grant(1, 7)
	s.release(1, 0)
	s.want(1, 0, 0, "violation: client 2 got token 7 after client 1 had 7")
}

// TestOverlapAfterADisturbanceIsOneOfBelief checks that a disturbed client may have lost the lock
// rightly, whether the disturbance came before the overlap or after it, during the hold.
func TestOverlapAfterADisturbanceIsOneOfBelief(t *testing.T) {
	const detail = "belief overlap after a disturbed session: client 2 held at the same time as client 1"
	for _, when := range []string{"before the overlap", "after the overlap"} {
		t.Run(when, func(t *testing.T) {
			s := newLockScript(t)
			s.seek(0)
			s.seek(1)
			s.grant(0, 1)
			if when == "before the overlap" {
				s.disturb(0)
			}
			s.grant(1, 2)
			if when == "after the overlap" {
				s.disturb(0)
			}
			s.release(1, 0)
			s.release(0, 0)
			s.want(0, 1, 1, detail)
		})
	}
}

func TestADisturbanceBeforeTheHoldWasSoughtExcusesNothing(t *testing.T) {
	s := newLockScript(t)
	s.disturb(0)
	s.disturb(1)
	s.seek(0)
	s.seek(1)
	s.grant(0, drivers.NoSeq)
	s.grant(1, drivers.NoSeq)
	s.want(1, 0, 0, "violation: client 2 held at the same time as client 1") // judged although neither hold has ended
}

func TestHandoffCountsOnlyWhenAClientWaited(t *testing.T) {
	s := newLockScript(t)
	s.seek(0)
	if _, ok := s.grant(0, 1); ok {
		t.Error("the first grant counts as a hand-off")
	}
	s.release(0, 1)
	s.now = s.now.Add(3 * time.Millisecond)
	s.seek(1)
	if d, ok := s.grant(1, 2); !ok || d != 3*time.Millisecond {
		t.Errorf("hand-off %v, %v; want 3ms", d, ok)
	}
	s.release(1, 0)
	s.seek(2)
	if _, ok := s.grant(2, 3); ok {
		t.Error("a grant of a lock that lay idle is no hand-off")
	}
}

func TestReadersTogetherAreSafe(t *testing.T) {
	s := newLockScript(t)
	s.seek(0)
	s.grant(0, 1)
	s.release(0, 2)
	s.seekToShare(1)
	s.seekToShare(2)
	s.grant(2, 3) // either of them may be notified first
	s.grant(1, 2)
	s.release(2, 1)
	s.release(1, 1)
	s.seek(0)
	s.grant(0, 4)
	s.want(0, 0, 0, "")
}

func TestAReaderAndAWriterAtOnceAreAViolation(t *testing.T) {
	for _, reader := range []int{0, 1} {
		s := newLockScript(t)
		s.seek(1 - reader)
		s.seekToShare(reader)
		s.grant(0, 1)
		s.grant(1, 2)
		s.want(1, 0, 0, "violation: client 2 held at the same time as client 1")
	}
}

func TestTokensOfReadersAndWriters(t *testing.T) {
	t.Run("a writer below an earlier reader", func(t *testing.T) {
		s := newLockScript(t)
		s.seekToShare(0)
		s.grant(0, 2)
		s.release(0, 0)
		s.seek(1)
		s.grant(1, 1)
		s.want(1, 0, 0, "violation: client 2 got token 1 after client 1 had 2")
	})
	t.Run("a writer below the higher of two earlier readers", func(t *testing.T) {
		s := newLockScript(t)
		s.seekToShare(0)
		s.seekToShare(1)
		s.grant(0, 3)
		s.grant(1, 1)
		s.release(0, 0)
		s.release(1, 0)
		s.seek(2)
		s.grant(2, 2)
		s.want(1, 0, 0, "violation: client 3 got token 2 after client 1 had 3")
	})
	t.Run("a reader below an earlier writer", func(t *testing.T) {
		s := newLockScript(t)
		s.seek(0)
		s.grant(0, 2)
		s.release(0, 0)
		s.seekToShare(1)
		s.grant(1, 1)
		s.want(1, 0, 0, "violation: client 2 got token 1 after client 1 had 2")
	})
}

// TestHandoffFromReaders checks that the last reader hands off the lock, and not each reader.
func TestHandoffFromReaders(t *testing.T) {
	s := newLockScript(t)
	s.seekToShare(0)
	s.seekToShare(1)
	s.grant(0, 1)
	s.grant(1, 2)
	s.release(0, 1)
	s.now = s.now.Add(time.Millisecond)
	s.release(1, 1)
	s.now = s.now.Add(time.Millisecond)
	s.seek(2)
	if d, ok := s.grant(2, 3); !ok || d != time.Millisecond {
		t.Errorf("hand-off %v, %v; want 1ms", d, ok)
	}
}

func TestOverlapWithADeposedHolderIsOneOfBelief(t *testing.T) {
	s := newLockScript(t)
	s.force = 1
	s.seek(0)
	s.seek(1)
	s.grant(0, 1)
	s.grant(1, 2)
	s.holds[0].Deposed = true // as its Release would report
	s.release(0, 0)
	s.release(1, 0)
	s.want(0, 1, 1, "belief overlap after a holder was deposed: client 2 held at the same time as client 1")
}

func TestALostHoldThatNoClientTookIsAViolation(t *testing.T) {
	s := newLockScript(t)
	s.seek(0)
	s.grant(0, 1)
	s.holds[0].Deposed = true
	s.release(0, 0)
	s.want(1, 0, 0, "violation: 1 holders lost the lock although no client deposed them")
}
