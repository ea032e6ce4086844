package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A TimedStep is a step with the bounds of its time on a clock that all processes of the run share.
type TimedStep struct {
	Step
	Earliest, Latest time.Duration
}

// Middle is the estimate of the step's time.
func (s TimedStep) Middle() time.Duration { return s.Earliest + (s.Latest-s.Earliest)/2 }

// Error is how far Middle can be wrong.
func (s TimedStep) Error() time.Duration { return (s.Latest - s.Earliest + 1) / 2 }

// A Window is the measured part of a run, on the same clock.
type Window struct{ Begin, End time.Duration }

func (w Window) contains(t time.Duration) bool { return t >= w.Begin && t <= w.End }

// A JudgedSteps is what the steps of all clients of a lock show together.
type JudgedSteps struct {
	Safety      metrics.Safety
	Handoffs    []time.Duration // from a release, while others waited, to the next grant, in the window
	Error       time.Duration   // how far a hand-off can be wrong, by the error of the clocks
	Inversions  int64           // grants in the window to a client while another that had asked earlier still waited
	LongestWait time.Duration   // in the window
}

// A dividedHold is the time from a grant to its release, as the steps of one client tell it.
type dividedHold struct {
	asked, granted TimedStep
	releasing      TimedStep
	disturbed      bool
	deposed        bool
	counted        bool // its overlap after a disturbance has been counted
}

// surely returns the time for which the client certainly held, whatever the error of the clocks; to is
// before from if there is none.
func (h *dividedHold) surely() (from, to time.Duration) {
	return h.granted.Latest, h.releasing.Earliest
}

// forever is the end of a hold that was not released.
const forever = time.Duration(math.MaxInt64)

// JudgeSteps judges the steps of all clients of a lock, which one client holds at a time, or several that
// share it. The error of the clocks never accuses: two holds overlap only if they do so whatever the error,
// and tokens are out of order only if the smaller one was certainly granted later. Equal tokens need no
// clock.
func JudgeSteps(steps []TimedStep, w Window) JudgedSteps {
	ordered := inOrder(steps, TimedStep.Middle)
	var j JudgedSteps
	holds := holdsOf(ordered)
	j.Safety.Checked = int64(len(holds))
	judgeOverlaps(&j.Safety, holds)
	judgeTokens(&j.Safety, holds)
	judgeDeposals(&j.Safety, ordered, holds)
	if slices.ContainsFunc(holds, (*dividedHold).shared) {
		j.measureWaits(ordered, w)
		j.measureShared(Ordered(steps), w)
		return j
	}
	j.measureWaits(ordered, w)
	j.measure(ordered, holds, w)
	return j
}

func (h *dividedHold) shared() bool { return h.asked.Shared }

// exclude reports whether the two must not hold at the same time.
func exclude(a, b *dividedHold) bool { return !a.shared() || !b.shared() }

// judgeDeposals finds holders that lost the lock by force although no client has deposed so many.
func judgeDeposals(s *metrics.Safety, steps []TimedStep, holds []*dividedHold) {
	var deposed, force int64
	for _, h := range holds {
		if h.deposed {
			deposed++
		}
	}
	for _, step := range steps {
		if step.Kind == Deposing {
			force += step.Value
		}
	}
	if unexplained := deposed - force; unexplained > 0 {
		s.Violations += unexplained
		s.Details = append(s.Details, fmt.Sprintf("violation: %d holders lost the lock although no client deposed them", unexplained))
	}
}

// holdsOf returns the holds in the order of their grants.
func holdsOf(steps []TimedStep) (holds []*dividedHold) {
	current := map[int]*dividedHold{} // by client
	for _, s := range steps {
		switch h := current[s.Client]; s.Kind {
		case Asked:
			current[s.Client] = &dividedHold{asked: s, releasing: TimedStep{Earliest: forever, Latest: forever}}
		case Granted:
			h.granted, holds = s, append(holds, h)
		case Releasing:
			h.releasing = s
		case Released:
			h.disturbed, h.deposed = s.Disturbed, s.Deposed
		}
	}
	return holds
}

// judgeOverlaps finds clients that certainly held at the same time.
func judgeOverlaps(s *metrics.Safety, holds []*dividedHold) {
	sure := slices.DeleteFunc(slices.Clone(holds), func(h *dividedHold) bool {
		from, to := h.surely()
		return to <= from
	})
	slices.SortFunc(sure, func(a, b *dividedHold) int { return cmp.Compare(a.granted.Latest, b.granted.Latest) })
	var open []*dividedHold
	for _, h := range sure {
		from, _ := h.surely()
		open = slices.DeleteFunc(open, func(o *dividedHold) bool { return o.releasing.Earliest <= from })
		for _, o := range open {
			if !exclude(o, h) {
				continue
			}
			accuse(s, o, h, fmt.Sprintf("held at the same time as client %d", o.granted.Client+1))
		}
		open = append(open, h)
	}
}

// judgeTokens finds equal tokens, and tokens that were certainly granted in the wrong order.
func judgeTokens(s *metrics.Safety, holds []*dividedHold) {
	with := slices.DeleteFunc(slices.Clone(holds), func(h *dividedHold) bool { return h.granted.Token == drivers.NoSeq })
	s.Tokens = len(with) > 0
	slices.SortStableFunc(with, func(a, b *dividedHold) int { return cmp.Compare(a.granted.Token, b.granted.Token) })
	var last, alone *dividedHold // of those with smaller tokens, the one that was certainly granted last, and that of those that did not share
	for i, h := range with {
		latest := last
		if h.shared() {
			latest = alone
		}
		switch {
		case i > 0 && with[i-1].granted.Token == h.granted.Token && exclude(with[i-1], h):
			accuse(s, with[i-1], h, fmt.Sprintf("got token %d, as client %d did", h.granted.Token, with[i-1].granted.Client+1))
		case latest != nil && h.granted.Latest < latest.granted.Earliest:
			accuse(s, h, latest, fmt.Sprintf("got token %d after client %d had %d", latest.granted.Token, h.granted.Client+1, h.granted.Token))
		}
		if last = grantedLast(last, h); !h.shared() {
			alone = grantedLast(alone, h)
		}
	}
}

func grantedLast(a, b *dividedHold) *dividedHold {
	if a == nil || b.granted.Earliest > a.granted.Earliest {
		return b
	}
	return a
}

// accuse counts a conflict of two holds as a violation, or as a belief overlap if a session was
// disturbed.
func accuse(s *metrics.Safety, earlier, later *dividedHold, what string) {
	verdict := "violation"
	switch {
	case !earlier.excused() && !later.excused():
		s.Violations++
	case earlier.counted:
		return
	default:
		earlier.counted = true
		verdict = "belief overlap after a disturbed session"
		if !earlier.disturbed && !later.disturbed {
			verdict = "belief overlap after a holder was deposed"
		}
		s.BeliefOverlaps++
		if earlier.granted.Token != drivers.NoSeq && later.granted.Token != drivers.NoSeq {
			s.TokensRefused++
		}
	}
	if len(s.Details) < MaxDetails {
		s.Details = append(s.Details, fmt.Sprintf("%s: client %d %s", verdict, later.granted.Client+1, what))
	}
}

// excused reports whether the service may have been right to grant the lock again during the hold.
func (h *dividedHold) excused() bool { return h.disturbed || h.deposed }

// measure takes the hand-offs of a lock that one client holds at a time.
func (j *JudgedSteps) measure(steps []TimedStep, holds []*dividedHold, w Window) {
	next := map[TimedStep]*dividedHold{} // the hold after the one that a release ends
	for i, h := range holds[:max(len(holds)-1, 0)] {
		next[h.releasing] = holds[i+1]
	}
	waiting := map[int]bool{}
	for _, s := range steps {
		switch s.Kind {
		case Asked:
			waiting[s.Client] = true
		case Granted, GaveUp:
			delete(waiting, s.Client)
		case Releasing:
			// The next client may seem to have left the queue before, by the error of the clocks.
			if h := next[s]; h != nil && (len(waiting) > 0 || h.asked.Middle() <= s.Middle()) {
				j.handedOff(s, h.granted, w)
			}
		}
	}
}

// measureShared takes the hand-offs of a lock that several clients can hold: from the release of the last
// of them, while others wait. The steps are in an order in which a release comes before each grant that may
// have followed it.
func (j *JudgedSteps) measureShared(steps []TimedStep, w Window) {
	waiting, holding := map[int]bool{}, map[int]bool{}
	var released *TimedStep
	for i, s := range steps {
		switch s.Kind {
		case Asked:
			waiting[s.Client] = true
		case GaveUp:
			delete(waiting, s.Client)
		case Granted:
			delete(waiting, s.Client)
			holding[s.Client] = true
			if released != nil {
				j.handedOff(*released, s, w)
				released = nil
			}
		case Releasing:
			delete(holding, s.Client)
			if released = nil; len(holding) == 0 && len(waiting) > 0 {
				released = &steps[i]
			}
		}
	}
}

func (j *JudgedSteps) handedOff(releasing, granted TimedStep, w Window) {
	if !w.contains(granted.Middle()) {
		return
	}
	j.Handoffs = append(j.Handoffs, max(granted.Middle()-releasing.Middle(), 0))
	j.Error = max(j.Error, releasing.Error()+granted.Error())
}

// measureWaits finds how long clients waited, and which were served before others that had asked earlier.
func (j *JudgedSteps) measureWaits(steps []TimedStep, w Window) {
	var waiting []TimedStep // in the order of asking
	leave := func(client int, at time.Duration) (overtook bool) {
		i := slices.IndexFunc(waiting, func(a TimedStep) bool { return a.Client == client })
		if i < 0 {
			return false
		}
		mine := waiting[i]
		if w.contains(at) {
			j.LongestWait = max(j.LongestWait, at-mine.Middle())
		}
		overtook = slices.ContainsFunc(waiting[:i], func(a TimedStep) bool { return !a.Shared || !mine.Shared })
		waiting = slices.Delete(waiting, i, i+1)
		return overtook
	}
	for _, s := range steps {
		at := s.Middle()
		switch s.Kind {
		case Asked:
			waiting = append(waiting, s)
		case Granted:
			if leave(s.Client, at) && w.contains(at) {
				j.Inversions++
			}
		case GaveUp:
			leave(s.Client, at)
		}
	}
	if len(waiting) > 0 {
		j.LongestWait = max(j.LongestWait, w.End-waiting[0].Middle())
	}
}
