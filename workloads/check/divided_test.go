package check

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
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

var always = Window{0, time.Hour}

// blurred gives each step of a client a time that is wrong by up to e, and the bounds of its error.
// All times of one client are wrong by the same.
func blurred(r *rand.Rand, steps []TimedStep, e time.Duration) (all []TimedStep) {
	offsets := map[int]time.Duration{}
	for _, s := range steps {
		if _, known := offsets[s.Client]; !known {
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

// TestTheErrorOfClocksNeverAccuses has a correct lock whose clients have clocks that are wrong by more
// than a hold or a hand-off takes.
func TestTheErrorOfClocksNeverAccuses(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := time.Duration(r.Int64N(int64(3 * ms)))
		var steps []TimedStep
		now := 10 * ms
		for token := range int64(50) {
			client := int(token) % 7
			granted := now + time.Duration(r.Int64N(int64(ms)))
			now = granted + time.Duration(r.Int64N(int64(ms)))
			steps = append(steps, round(client, token, granted-ms, granted, now)...)
		}
		j := JudgeSteps(blurred(r, steps, e), always)
		if s := j.Safety; s.Violations+s.BeliefOverlaps > 0 || s.Checked != 50 || !s.Tokens {
			t.Fatalf("seed %d, clocks wrong by %v: %+v, want 50 checks and no violation", seed, e, s)
		}
	}
}

// TestHandoffsOfDividedLock compares the hand-offs with those that are known.
func TestHandoffsOfDividedLock(t *testing.T) {
	var steps []TimedStep
	for i := range 10 {
		at := time.Duration(i) * 10 * ms // granted; 6 ms held; a hand-off of 4 ms
		steps = append(steps, round(i%3, int64(i), at-20*ms+1, at, at+6*ms)...)
	}
	const e = 300 * time.Microsecond
	j := JudgeSteps(blurred(rand.New(rand.NewPCG(1, 1)), steps, e), always)
	got := j.Handoffs
	if len(got) != 9 || j.Error != 2*e {
		t.Fatalf("%d hand-offs, wrong by up to %v; want 9, by %v", len(got), j.Error, 2*e)
	}
	for _, h := range got {
		if (h - 4*ms).Abs() > 2*e {
			t.Errorf("a hand-off took %v, want 4 ms to within %v", h, 2*e)
		}
	}
	if got := JudgeSteps(steps, Window{35 * ms, 65 * ms}).Handoffs; len(got) != 3 {
		t.Errorf("%d hand-offs in a window with 3 grants", len(got))
	}
}

// TestNobodyWaited has releases without a hand-off.
func TestNobodyWaited(t *testing.T) {
	steps := slices.Concat(round(0, 1, 0, 1*ms, 2*ms), round(1, 2, 5*ms, 6*ms, 7*ms))
	if j := JudgeSteps(steps, always); len(j.Handoffs) > 0 || j.Inversions > 0 || j.LongestWait != ms {
		t.Errorf("got %+v, want no hand-off, no inversion and a wait of 1 ms", j)
	}
}

func TestOvertakingInDividedLock(t *testing.T) {
	steps := slices.Concat(round(0, 1, 0, 1*ms, 20*ms), round(1, 3, 2*ms, 50*ms, 60*ms), round(2, 2, 4*ms, 30*ms, 40*ms))
	j := JudgeSteps(steps, always)
	if j.Inversions != 1 || j.LongestWait != 48*ms || j.Safety.Violations > 0 {
		t.Errorf("got %+v, want 1 inversion and a wait of 48 ms", j)
	}
	gaveUp := append(round(0, 1, 0, 1*ms, 20*ms), exactly(2*ms, Step{Kind: Asked, Client: 1}), exactly(9*ms, Step{Kind: GaveUp, Client: 1}))
	if j := JudgeSteps(gaveUp, always); len(j.Handoffs) > 0 || j.LongestWait != 7*ms {
		t.Errorf("got %+v, want no hand-off to a client that gave up, and a wait of 7 ms", j)
	}
	waiting := append(round(0, 1, 0, 1*ms, 20*ms), exactly(2*ms, Step{Kind: Asked, Client: 1}))
	if j := JudgeSteps(waiting, Window{0, 30 * ms}); j.LongestWait != 28*ms {
		t.Errorf("a client that still waits has waited %v, want 28 ms", j.LongestWait)
	}
}

// TestDividedLockViolations has locks that are wrong.
func TestDividedLockViolations(t *testing.T) {
	disturbed := round(1, 2, 0, 5*ms, 9*ms)
	disturbed[3].Disturbed = true
	noTokens := slices.Concat(round(0, drivers.NoSeq, 0, 1*ms, 6*ms), round(1, drivers.NoSeq, 0, 4*ms, 8*ms))
	for _, c := range []struct {
		name    string
		steps   []TimedStep
		violate bool
		detail  string
	}{
		{"two holders", slices.Concat(round(0, 1, 0, 1*ms, 6*ms), round(1, 2, 0, 4*ms, 8*ms)), true, "client 2 held at the same time as client 1"},
		{"two holders without tokens", noTokens, true, "client 2 held at the same time as client 1"},
		{"a disturbed session", slices.Concat(round(0, 1, 0, 1*ms, 6*ms), disturbed), false, "belief overlap"},
		{"equal tokens", slices.Concat(round(0, 7, 0, 1*ms, 2*ms), round(1, 7, 0, 4*ms, 8*ms)), true, "client 2 got token 7, as client 1 did"},
		{"a smaller token later", slices.Concat(round(0, 9, 0, 1*ms, 2*ms), round(1, 7, 0, 4*ms, 8*ms)), true, "client 2 got token 7 after client 1 had 9"},
		{"held to the end", slices.Concat(round(0, 1, 0, 1*ms, 2*ms)[:2], round(1, 2, 0, 4*ms, 8*ms)), true, "held at the same time"},
	} {
		s := JudgeSteps(c.steps, always).Safety
		if (s.Violations == 1) != c.violate || (s.BeliefOverlaps == 1) == c.violate || len(s.Details) != 1 || !strings.Contains(s.Details[0], c.detail) {
			t.Errorf("%s: got %+v, want a violation: %v, and %q", c.name, s, c.violate, c.detail)
		}
	}
}

// TestOverlapBeyondTheErrorIsFound has two holders for longer than the clocks can be wrong.
func TestOverlapBeyondTheErrorIsFound(t *testing.T) {
	steps := slices.Concat(round(0, drivers.NoSeq, 0, 1*ms, 20*ms), round(1, drivers.NoSeq, 0, 5*ms, 25*ms))
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		if s := JudgeSteps(blurred(r, steps, 2*ms), always).Safety; s.Violations != 1 {
			t.Errorf("clocks wrong by up to 2 ms: %+v, want 1 violation", s)
		}
		if s := JudgeSteps(blurred(r, steps, 20*ms), always).Safety; s.Violations != 0 {
			t.Errorf("clocks wrong by up to 20 ms: %+v, want none", s)
		}
	}
}
