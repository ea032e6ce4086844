package check

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

const ms = time.Millisecond

// exactly returns a step at a time that is known exactly.
func exactly(at time.Duration, s Step) TimedStep { return TimedStep{s, at, at} }

// round returns the steps of one hold.
func round(client int, token int64, asked, granted, releasing time.Duration) []TimedStep {
	return []TimedStep{
		exactly(asked, Step{Kind: Asked, Client: client}),
		exactly(granted, Step{Kind: Granted, Client: client, Token: token}),
		exactly(releasing, Step{Kind: Releasing, Client: client}),
		exactly(releasing+1, Step{Kind: Released, Client: client}),
	}
}

// share makes a round one of a client that shares the lock.
func share(round []TimedStep) []TimedStep {
	round[0].Shared = true
	return round
}

// disturb makes a round one whose session was disturbed.
func disturb(round []TimedStep) []TimedStep {
	round[3].Disturbed = true
	return round
}

// depose makes a round one that another client ends by force.
func depose(round []TimedStep) []TimedStep {
	round[3].Deposed = true
	return round
}

// judgeLock returns what the judge finds in steps in any order, and the hand-offs.
func judgeLock(steps []TimedStep) (metrics.Safety, []time.Duration) {
	return judgeOrdered(InOrder(steps))
}

// judgeOrdered is judgeLock for steps in the order in which they happened.
func judgeOrdered(steps []TimedStep) (s metrics.Safety, handoffs []time.Duration) {
	j := NewLockJudge(func(released, granted TimedStep) {
		handoffs = append(handoffs, granted.Middle()-released.Middle())
	})
	for _, step := range steps {
		j.Take(step)
	}
	return j.Verdict(), handoffs
}

// blurred gives each step of a client a time that is wrong by up to e, and the bounds of its error. The
// times of one client are wrong by the same until its process learns more of its clock: then they jump, also
// back.
func blurred(r *rand.Rand, steps []TimedStep, e time.Duration) (all []TimedStep) {
	offsets := map[int]time.Duration{}
	for _, s := range steps {
		if _, known := offsets[s.Client]; !known || r.IntN(4) == 0 {
			offsets[s.Client] = time.Duration(r.Int64N(int64(2*e+1))) - e
		}
		s.Earliest += offsets[s.Client] - e
		s.Latest += offsets[s.Client] + e
		all = append(all, s)
	}
	first := r.Perm(1 + len(offsets)*2)[0] // the order of the clients is any, that of one client's steps is kept
	slices.SortStableFunc(all, func(a, b TimedStep) int {
		return cmp.Compare((a.Client+first)%(len(offsets)+1), (b.Client+first)%(len(offsets)+1))
	})
	return all
}

// TestFindingsOfLocks judges holds of up to three clients.
func TestFindingsOfLocks(t *testing.T) {
	const none = drivers.NoSeq
	deposing := func(at time.Duration) TimedStep { return exactly(at, Step{Kind: Deposing, Client: 2, Value: 1}) }
	for _, c := range []struct {
		name   string
		steps  []TimedStep
		want   metrics.Safety // without Checked and Tokens
		detail string
	}{
		{"in turn", slices.Concat(round(0, 1, 0, 1*ms, 2*ms), round(1, 2, 0, 3*ms, 4*ms), round(0, 3, 3*ms, 5*ms, 6*ms)), metrics.Safety{}, ""},
		{"two holders", slices.Concat(round(0, 1, 0, 1*ms, 6*ms), round(1, 2, 0, 4*ms, 8*ms)), metrics.Safety{Violations: 1},
			"violation: client 2 held at the same time as client 1"},
		{"two holders without tokens", slices.Concat(round(0, none, 0, 1*ms, 6*ms), round(1, none, 0, 4*ms, 8*ms)), metrics.Safety{Violations: 1},
			"violation: client 2 held at the same time as client 1"},
		{"a holder to the end", slices.Concat(round(0, 1, 0, 1*ms, 2*ms)[:2], round(1, 2, 0, 4*ms, 8*ms)), metrics.Safety{Violations: 1},
			"violation: client 2 held at the same time as client 1"},
		{"holders to the end", slices.Concat(round(0, none, 0, 1*ms, 2*ms)[:2], round(1, none, 0, 4*ms, 8*ms)[:2]), metrics.Safety{Violations: 1},
			"violation: client 2 held at the same time as client 1"},
		{"a disturbed earlier holder", slices.Concat(disturb(round(0, 1, 0, 1*ms, 6*ms)), round(1, 2, 0, 4*ms, 8*ms)), metrics.Safety{BeliefOverlaps: 1, TokensRefused: 1},
			"belief overlap after a disturbed session: client 2 held at the same time as client 1"},
		{"a disturbed later holder", slices.Concat(round(0, none, 0, 1*ms, 9*ms), disturb(round(1, none, 0, 4*ms, 8*ms))), metrics.Safety{BeliefOverlaps: 1},
			"belief overlap after a disturbed session: client 2 held at the same time as client 1"},
		{"two holders after a disturbed one", slices.Concat(disturb(round(0, 1, 0, 1*ms, 20*ms)), round(1, 2, 0, 4*ms, 8*ms), round(2, 3, 0, 9*ms, 12*ms)),
			metrics.Safety{BeliefOverlaps: 1, TokensRefused: 1}, "belief overlap after a disturbed session: client 2 held at the same time as client 1"},
		{"a holder that asks again", slices.Concat(round(0, none, 0, 1*ms, 2*ms)[:2], round(1, none, 0, 4*ms, 8*ms), round(0, none, 9*ms, 10*ms, 11*ms), round(2, none, 0, 12*ms, 13*ms)),
			metrics.Safety{BeliefOverlaps: 1}, "belief overlap after a disturbed session: client 2 held at the same time as client 1"},
		{"equal tokens", slices.Concat(round(0, 7, 0, 1*ms, 2*ms), round(1, 7, 0, 4*ms, 8*ms)), metrics.Safety{Violations: 1},
			"violation: client 2 got token 7, as client 1 did"},
		{"equal tokens, and a disturbed holder of a larger one between", slices.Concat(round(0, 5, 0, 1*ms, 2*ms), disturb(round(2, 9, 0, 3*ms, 4*ms)), round(1, 5, 0, 5*ms, 6*ms)),
			metrics.Safety{Violations: 1}, "violation: client 2 got token 5, as client 1 did"},
		{"equal tokens, and a disturbed holder of the same between", slices.Concat(round(0, 5, 0, 1*ms, 2*ms), disturb(round(2, 5, 0, 3*ms, 4*ms)), round(1, 5, 0, 5*ms, 6*ms)),
			metrics.Safety{Violations: 1, BeliefOverlaps: 1, TokensRefused: 1},
			"belief overlap after a disturbed session: client 3 got token 5, as client 1 did; violation: client 2 got token 5, as client 1 did"},
		{"a smaller token later", slices.Concat(round(0, 9, 0, 1*ms, 2*ms), round(1, 7, 0, 4*ms, 8*ms)), metrics.Safety{Violations: 1},
			"violation: client 2 got token 7 after client 1 had 9"},
		{"a smaller token of a disturbed holder", slices.Concat(round(0, 9, 0, 1*ms, 2*ms), disturb(round(1, 7, 0, 4*ms, 8*ms))), metrics.Safety{BeliefOverlaps: 1, TokensRefused: 1},
			"belief overlap after a disturbed session: client 2 got token 7 after client 1 had 9"},
		{"readers together", slices.Concat(round(0, 1, 0, 1*ms, 2*ms), share(round(1, 2, 0, 4*ms, 8*ms)), share(round(2, 3, 0, 3*ms, 7*ms)), round(0, 4, 3*ms, 9*ms, 10*ms)),
			metrics.Safety{}, ""},
		{"a writer among readers", slices.Concat(share(round(0, 1, 0, 1*ms, 6*ms)), round(1, 2, 0, 4*ms, 8*ms)), metrics.Safety{Violations: 1},
			"violation: client 2 held at the same time as client 1"},
		{"a reader beside a writer", slices.Concat(round(0, 1, 0, 1*ms, 6*ms), share(round(1, 2, 0, 4*ms, 8*ms))), metrics.Safety{Violations: 1},
			"violation: client 2 held at the same time as client 1"},
		{"a writer below an earlier reader", slices.Concat(share(round(0, 2, 0, 1*ms, 2*ms)), round(1, 1, 0, 4*ms, 8*ms)), metrics.Safety{Violations: 1},
			"violation: client 2 got token 1 after client 1 had 2"},
		{"a writer below the higher of two earlier readers", slices.Concat(share(round(0, 3, 0, 1*ms, 3*ms)), share(round(1, 1, 0, 2*ms, 4*ms)), round(2, 2, 0, 5*ms, 6*ms)),
			metrics.Safety{Violations: 1}, "violation: client 3 got token 2 after client 1 had 3"},
		{"a reader below an earlier writer", slices.Concat(round(0, 2, 0, 1*ms, 2*ms), share(round(1, 1, 0, 4*ms, 8*ms))), metrics.Safety{Violations: 1},
			"violation: client 2 got token 1 after client 1 had 2"},
		{"a deposed holder", append(slices.Concat(depose(round(0, 1, 0, 1*ms, 6*ms)), round(1, 2, 0, 4*ms, 8*ms)), deposing(3*ms)), metrics.Safety{BeliefOverlaps: 1, TokensRefused: 1},
			"belief overlap after a holder was deposed: client 2 held at the same time as client 1"},
		{"a holder that no client deposed", depose(round(0, 1, 0, 1*ms, 6*ms)), metrics.Safety{Violations: 1},
			"violation: 1 holders lost the lock although no client deposed them"},
	} {
		s, _ := judgeLock(c.steps)
		detail := strings.Join(s.Details, "; ")
		s.Checked, s.Tokens, s.Details = 0, false, nil
		if !reflect.DeepEqual(s, c.want) || detail != c.detail {
			t.Errorf("%s: %+v, %q, want %+v, %q", c.name, s, detail, c.want, c.detail)
		}
	}
}

// TestHandoffs has holds with the hand-offs that are known.
func TestHandoffs(t *testing.T) {
	readers := slices.Concat(share(round(0, 1, 0, 1*ms, 5*ms)), share(round(1, 2, 0, 2*ms, 8*ms)))
	gaveUp := []TimedStep{exactly(2*ms, Step{Kind: Asked, Client: 1}), exactly(30*ms, Step{Kind: GaveUp, Client: 1})}
	for _, c := range []struct {
		name  string
		steps []TimedStep
		want  []time.Duration
	}{
		{"a client that waited", slices.Concat(round(0, 1, 0, 1*ms, 5*ms), round(1, 2, 3*ms, 9*ms, 10*ms)), []time.Duration{4 * ms}},
		{"a lock that lay idle", slices.Concat(round(0, 1, 0, 1*ms, 2*ms), round(1, 2, 5*ms, 6*ms, 7*ms)), nil},
		{"the last reader", slices.Concat(readers, round(2, 3, 3*ms, 9*ms, 10*ms)), []time.Duration{1 * ms}},
		{"a client that gave up", slices.Concat(round(0, 1, 0, 1*ms, 20*ms), gaveUp, round(2, 2, 40*ms, 41*ms, 42*ms)), nil},
		{"a holder that lost the lock before its release", slices.Concat(disturb(round(0, 1, 0, 1*ms, 9*ms)), round(1, 2, 0, 4*ms, 5*ms), round(2, 3, 0, 7*ms, 8*ms)),
			[]time.Duration{2 * ms}},
	} {
		if _, got := judgeLock(c.steps); !slices.Equal(got, c.want) {
			t.Errorf("%s: hand-offs %v, want %v", c.name, got, c.want)
		}
	}
}

// TestHandoffsByClocksThatAreWrong compares the hand-offs of ten holds with those that are known. The first
// clocks are wrong by less than a hand-off takes, the others by more.
func TestHandoffsByClocksThatAreWrong(t *testing.T) {
	var steps []TimedStep
	for i := range 10 {
		at := time.Duration(i) * 10 * ms // granted; 6 ms held; a hand-off of 4 ms
		steps = append(steps, round(i%3, int64(i), at-20*ms+1, at, at+6*ms)...)
	}
	for _, e := range []time.Duration{300 * time.Microsecond, 4 * ms} {
		for seed := range uint64(100) {
			_, got := judgeLock(blurred(rand.New(rand.NewPCG(seed, 1)), steps, e))
			if len(got) != 9 {
				t.Fatalf("seed %d: %d hand-offs by clocks that are wrong by up to %v; want 9", seed, len(got), e)
			}
			for _, h := range got {
				if (h - 4*ms).Abs() > 2*e {
					t.Errorf("seed %d: a hand-off took %v, want 4 ms to within %v", seed, h, 2*e)
				}
			}
		}
	}
}

// TestFairnessBySteps finds clients that were overtaken, and how long they waited.
func TestFairnessBySteps(t *testing.T) {
	overtaken := slices.Concat(round(0, 1, 0, 1*ms, 20*ms), round(1, 3, 2*ms, 50*ms, 60*ms), round(2, 2, 4*ms, 30*ms, 40*ms))
	gaveUp := append(round(0, 1, 0, 1*ms, 20*ms), exactly(2*ms, Step{Kind: Asked, Client: 1}), exactly(9*ms, Step{Kind: GaveUp, Client: 1}))
	waits := append(round(0, 1, 0, 1*ms, 20*ms), exactly(2*ms, Step{Kind: Asked, Client: 1}))
	for _, c := range []struct {
		name  string
		steps []TimedStep
		w     Window
		want  metrics.Fairness
	}{
		{"nobody waited", slices.Concat(round(0, 1, 0, 1*ms, 2*ms), round(1, 2, 5*ms, 6*ms, 7*ms)), Window{0, 9 * ms}, metrics.Fairness{Served: []int64{1, 1, 0}, LongestWait: 1 * ms}},
		{"a client was overtaken", overtaken, Window{0, 60 * ms}, metrics.Fairness{Served: []int64{1, 1, 1}, Inversions: 1, LongestWait: 48 * ms}},
		{"it was overtaken before", overtaken, Window{45 * ms, 60 * ms}, metrics.Fairness{Served: []int64{0, 1, 0}, LongestWait: 48 * ms}},
		{"the window ends before", overtaken, Window{0, 25 * ms}, metrics.Fairness{Served: []int64{1, 0, 0}, LongestWait: 23 * ms}},
		{"a client gave up", gaveUp, Window{0, 60 * ms}, metrics.Fairness{Served: []int64{1, 0, 0}, LongestWait: 7 * ms}},
		{"a client still waits", waits, Window{0, 30 * ms}, metrics.Fairness{Served: []int64{1, 0, 0}, LongestWait: 28 * ms}},
	} {
		if got := FairnessOf(c.steps, 3, c.w); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestOverlapBeyondTheErrorIsFound has two holders for longer than the clocks can be wrong.
func TestOverlapBeyondTheErrorIsFound(t *testing.T) {
	steps := slices.Concat(round(0, drivers.NoSeq, 0, 1*ms, 20*ms), round(1, drivers.NoSeq, 0, 5*ms, 25*ms))
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		if s, _ := judgeLock(blurred(r, steps, 2*ms)); s.Violations != 1 {
			t.Errorf("clocks wrong by up to 2 ms: %+v, want 1 violation", s)
		}
		if s, _ := judgeLock(blurred(r, steps, 20*ms)); s.Violations != 0 {
			t.Errorf("clocks wrong by up to 20 ms: %+v, want none", s)
		}
	}
}

// TestATokenThatGoesBackWithinTheErrorOfClocks has a token that is too small by that of a hold that came
// certainly before, and not by those of the others, which may have come later.
func TestATokenThatGoesBackWithinTheErrorOfClocks(t *testing.T) {
	var steps []TimedStep
	for i, at := range []time.Duration{0, 15 * ms, 18 * ms, 25 * ms} {
		for _, s := range round(i, []int64{5, 9, 10, 4}[i], at, at+1*ms, at+2*ms) {
			s.Earliest, s.Latest = s.Earliest-6*ms, s.Latest+6*ms
			steps = append(steps, s)
		}
	}
	if s, _ := judgeLock(steps); s.Violations != 1 || !slices.Equal(s.Details, []string{"violation: client 4 got token 4 after client 1 had 5"}) {
		t.Errorf("%+v, want a violation after client 1", s)
	}
}

// TestTheJudgeOfALockForgets judges a long run of a lock that is often wrong. What the judge remembers does
// not grow.
func TestTheJudgeOfALockForgets(t *testing.T) {
	const holds = 20_000
	for _, e := range []time.Duration{0, 100 * time.Microsecond} {
		var steps []TimedStep
		for token := range int64(holds) {
			at := time.Duration(token) * 10 * ms
			r := round(int(token%5), token^2, at, at+1*ms, at+15*ms) // it overlaps with the next
			r[0].Shared, r[3].Disturbed = token%3 > 0, token%2 == 0
			for _, s := range r {
				s.Earliest, s.Latest = s.Earliest-e, s.Latest+e
				steps = append(steps, s)
			}
		}
		j := NewLockJudge(func(TimedStep, TimedStep) {})
		for i, s := range InOrder(steps) {
			j.Take(s)
			if n := len(j.current) + len(j.holding) + len(j.conflicts) + len(j.recent); n > 12 {
				t.Fatalf("after %d steps the judge remembers %d holds and conflicts", i+1, n)
			}
		}
		if s := j.Verdict(); s.Checked != holds || s.Violations < holds/10 || s.BeliefOverlaps < holds/10 {
			t.Errorf("%+v, want %d checks and many findings", s, holds)
		}
	}
}
