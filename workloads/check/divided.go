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

// middle is the estimate of the step's time.
func (s TimedStep) middle() time.Duration { return s.Earliest + (s.Latest-s.Earliest)/2 }

// error is how far middle can be wrong.
func (s TimedStep) error() time.Duration { return (s.Latest - s.Earliest + 1) / 2 }

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
	counted        bool // its overlap after a disturbance has been counted
}

// surely returns the time for which the client certainly held, whatever the error of the clocks; to is
// before from if there is none.
func (h *dividedHold) surely() (from, to time.Duration) {
	return h.granted.Latest, h.releasing.Earliest
}

// forever is the end of a hold that was not released.
const forever = time.Duration(math.MaxInt64)

// JudgeSteps judges the steps of all clients of a lock that one client holds at a time. The error of
// the clocks never accuses: two holds overlap only if they do so whatever the error, and tokens are out
// of order only if the smaller one was certainly granted later. Equal tokens need no clock.
func JudgeSteps(steps []TimedStep, w Window) JudgedSteps {
	steps = slices.SortedStableFunc(slices.Values(steps), func(a, b TimedStep) int { return cmp.Compare(a.middle(), b.middle()) })
	var j JudgedSteps
	holds := holdsOf(steps)
	j.Safety.Checked = int64(len(holds))
	judgeOverlaps(&j.Safety, holds)
	judgeTokens(&j.Safety, holds)
	j.measure(steps, holds, w)
	return j
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
			h.disturbed = s.Disturbed
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
	var latest *dividedHold // of those with smaller tokens, the one that was certainly granted last
	for i, h := range with {
		switch {
		case i > 0 && with[i-1].granted.Token == h.granted.Token:
			accuse(s, with[i-1], h, fmt.Sprintf("got token %d, as client %d did", h.granted.Token, with[i-1].granted.Client+1))
		case latest != nil && h.granted.Latest < latest.granted.Earliest:
			accuse(s, h, latest, fmt.Sprintf("got token %d after client %d had %d", latest.granted.Token, h.granted.Client+1, h.granted.Token))
		}
		if latest == nil || h.granted.Earliest > latest.granted.Earliest {
			latest = h
		}
	}
}

// accuse counts a conflict of two holds as a violation, or as a belief overlap if a session was
// disturbed.
func accuse(s *metrics.Safety, earlier, later *dividedHold, what string) {
	verdict := "violation"
	switch {
	case !earlier.disturbed && !later.disturbed:
		s.Violations++
	case earlier.counted:
		return
	default:
		earlier.counted = true
		verdict = "belief overlap after a disturbed session"
		s.BeliefOverlaps++
		if earlier.granted.Token != drivers.NoSeq && later.granted.Token != drivers.NoSeq {
			s.TokensRefused++
		}
	}
	if len(s.Details) < MaxDetails {
		s.Details = append(s.Details, fmt.Sprintf("%s: client %d %s", verdict, later.granted.Client+1, what))
	}
}

// measure takes the hand-offs and the fairness in the window.
func (j *JudgedSteps) measure(steps []TimedStep, holds []*dividedHold, w Window) {
	next := map[TimedStep]*dividedHold{} // the hold after the one that a release ends
	for i, h := range holds[:max(len(holds)-1, 0)] {
		next[h.releasing] = holds[i+1]
	}
	var waiting []TimedStep // in the order of asking
	leave := func(client int, at time.Duration) (overtook bool) {
		i := slices.IndexFunc(waiting, func(a TimedStep) bool { return a.Client == client })
		if i < 0 {
			return false
		}
		if w.contains(at) {
			j.LongestWait = max(j.LongestWait, at-waiting[i].middle())
		}
		waiting = slices.Delete(waiting, i, i+1)
		return i > 0
	}
	for _, s := range steps {
		at := s.middle()
		switch s.Kind {
		case Asked:
			waiting = append(waiting, s)
		case Granted:
			if leave(s.Client, at) && w.contains(at) {
				j.Inversions++
			}
		case GaveUp:
			leave(s.Client, at)
		case Releasing:
			// The next client may seem to have left the queue before, by the error of the clocks.
			if h := next[s]; h != nil && (len(waiting) > 0 || h.asked.middle() <= at) && w.contains(h.granted.middle()) {
				j.Handoffs = append(j.Handoffs, max(h.granted.middle()-at, 0))
				j.Error = max(j.Error, s.error()+h.granted.error())
			}
		}
	}
	if len(waiting) > 0 {
		j.LongestWait = max(j.LongestWait, w.End-waiting[0].middle())
	}
}
