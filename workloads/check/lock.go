package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A LockJudge checks that at most one client holds a lock at any time, or several that share it, and finds
// the hand-offs. It takes the steps of all clients, in the order of [InOrder] or as they happen.
//
// Two holds contradict each other if they overlap and do not both share, or if the later one has no larger
// token. That is a violation if neither session was disturbed before its hold ended. If one was, the
// service may have been right to grant the lock again. That is a belief overlap: the earlier holder still
// believes that it holds, and only the fencing token protects the resource, which refuses the older token.
//
// A hold begins after Acquire has returned and ends before Release is called, so every overlap that is
// found is real. The error of the clocks never accuses: holds overlap only if they do so whatever the
// error, and tokens are out of order only if the smaller one was certainly granted later. Equal tokens
// need no clock.
//
// It remembers the holds that have not ended, those that the error of the clocks does not order, and four
// others.
type LockJudge struct {
	mu        sync.Mutex
	handedOff func(released, granted TimedStep)
	current   map[int]*hold // by client: the hold that it has or waits for
	waiting   int
	holding   []*hold // in the order of their grants
	newest    *tenure
	conflicts []*conflict
	// recent are the holds that are not known to precede all that follow, and largest the one with the largest
	// token among the others, by class.
	recent         []*hold
	largest        [4]*hold
	widest         time.Duration // the largest error of a grant
	deposed, force int64         // holds that another client ended, and those that clients ended by force
	safety         metrics.Safety
}

// A hold is the time from a grant to its release.
type hold struct {
	asked, granted, releasing TimedStep
	tenure                    *tenure
	ended                     bool
	disturbed, deposed        bool // known when it has ended
	counted                   bool // its belief overlap has been counted
}

// forever is the end of a hold that was not released.
const forever = time.Duration(math.MaxInt64)

// excludes reports whether the two must not hold at the same time.
func (h *hold) excludes(o *hold) bool { return !h.asked.Shared || !o.asked.Shared }

// excused reports whether the service may have been right to grant the lock again during the hold.
func (h *hold) excused() bool { return h.disturbed || h.deposed }

// class returns the index of the hold in largest.
func (h *hold) class() (i int) {
	if h.asked.Shared {
		i = 1
	}
	if h.excused() {
		i += 2
	}
	return i
}

// overlaps reports whether both certainly held at the same time.
func (h *hold) overlaps(o *hold) bool {
	return max(h.granted.Latest, o.granted.Latest) < min(h.releasing.Earliest, o.releasing.Earliest)
}

// contradicts reports whether the token of the later hold is certainly wrong after that of this one.
func (h *hold) contradicts(later *hold) bool {
	theirs, own := later.granted.Token, h.granted.Token
	return theirs == own || theirs < own && h.granted.Latest < later.granted.Earliest
}

// A tenure is one hold, or several that share the lock. It ends when all of them are released.
type tenure struct {
	open     int       // number of holds that are not released
	released TimedStep // the last release
	awaited  bool      // clients waited then
	next     *hold     // was granted before the last release, by the middle of their times
}

// A conflict is a hold and earlier ones that may contradict it, judged when all of them have ended.
type conflict struct {
	earlier []*hold
	later   *hold
	tokens  bool // their tokens contradict it, not their times
}

// NewLockJudge returns a judge that calls handedOff with the steps of each hand-off: a release while
// clients waited, and the next grant.
func NewLockJudge(handedOff func(released, granted TimedStep)) *LockJudge {
	return &LockJudge{handedOff: handedOff, current: map[int]*hold{}}
}

// Take takes the next step.
func (j *LockJudge) Take(s TimedStep) {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.current[s.Client]
	switch {
	case s.Kind == Asked:
		if h != nil { // its session was lost, and the hold with it
			j.release(h, s)
			j.end(h, Step{Disturbed: true})
		}
		j.current[s.Client] = &hold{asked: s, releasing: TimedStep{Earliest: forever, Latest: forever}}
		j.waiting++
	case s.Kind == Deposing:
		j.force += s.Value
	case h == nil: // a step of something else
	case s.Kind == GaveUp:
		delete(j.current, s.Client)
		if j.waiting--; j.waiting == 0 && j.newest != nil {
			j.newest.awaited = false
		}
	case s.Kind == Granted:
		j.waiting--
		j.grant(h, s)
	case s.Kind == Releasing:
		j.release(h, s)
	case s.Kind == Released:
		delete(j.current, s.Client)
		j.end(h, s.Step)
	}
}

// grant begins a hold. It finds those that the hold may contradict, and a hand-off to it.
func (j *LockJudge) grant(h *hold, s TimedStep) {
	h.granted = s
	j.safety.Checked++
	for _, o := range j.holding {
		if o.excludes(h) {
			j.conflicts = append(j.conflicts, &conflict{earlier: []*hold{o}, later: h})
		}
	}
	if h.granted.Token != drivers.NoSeq {
		j.compareToken(h)
	}
	switch t := j.newest; {
	case t != nil && t.open > 0 && !slices.ContainsFunc(j.holding, h.excludes):
	case t != nil && t.open > 0:
		t.next, j.newest = h, &tenure{}
	default:
		if t != nil && t.awaited {
			j.handedOff(t.released, h.granted)
		}
		j.newest = &tenure{}
	}
	h.tenure = j.newest
	h.tenure.open++
	j.holding = append(j.holding, h)
}

// compareToken finds the earlier holds whose tokens are not smaller.
func (j *LockJudge) compareToken(h *hold) {
	j.safety.Tokens = true
	j.widest = max(j.widest, h.granted.Error())
	var rivals []*hold
	for _, some := range [][]*hold{j.largest[:], j.recent} {
		for _, o := range some {
			if o != nil && o.excludes(h) && o.contradicts(h) {
				rivals = append(rivals, o)
			}
		}
	}
	if len(rivals) > 0 {
		slices.SortStableFunc(rivals, func(a, b *hold) int { return cmp.Compare(b.granted.Token, a.granted.Token) })
		j.conflicts = append(j.conflicts, &conflict{rivals, h, true})
	}
	settled := h.granted.Middle() - 2*j.widest // no grant that follows was earlier
	j.recent = slices.DeleteFunc(j.recent, func(o *hold) bool {
		if !o.ended || o.granted.Latest >= settled {
			return false
		}
		if most := &j.largest[o.class()]; *most == nil || o.granted.Token > (*most).granted.Token {
			*most = o
		}
		return true
	})
	j.recent = append(j.recent, h)
}

// release records that the hold ends, and finds a hand-off that seems to have come before.
func (j *LockJudge) release(h *hold, s TimedStep) {
	if h.tenure == nil || h.releasing.Kind != 0 {
		return
	}
	h.releasing = s
	j.holding = slices.DeleteFunc(j.holding, func(o *hold) bool { return o == h })
	t := h.tenure
	if t.open--; t.open > 0 {
		return
	}
	t.released, t.awaited = s, j.waiting > 0
	if n := t.next; n != nil && n.granted.Latest >= s.Earliest && n.asked.Middle() <= s.Middle() {
		j.handedOff(s, n.granted)
	}
}

// end records that the release has returned. From now on it is known whether the session was disturbed.
func (j *LockJudge) end(h *hold, released Step) {
	if h.ended, h.disturbed, h.deposed = true, released.Disturbed, released.Deposed; h.deposed {
		j.deposed++
	}
	j.settle((*conflict).ended)
}

// settle judges the conflicts for which ready holds.
func (j *LockJudge) settle(ready func(*conflict) bool) {
	j.conflicts = slices.DeleteFunc(j.conflicts, func(c *conflict) bool {
		if !ready(c) {
			return false
		}
		j.judge(c)
		return true
	})
}

func (c *conflict) ended() bool {
	return c.later.ended && !slices.ContainsFunc(c.earlier, func(h *hold) bool { return !h.ended })
}

// judge counts a conflict as a violation if no disturbance excuses it, and otherwise as a belief overlap
// of the earlier hold, which is counted once.
func (j *LockJudge) judge(c *conflict) {
	earlier, verdict, count := c.earlier[0], "violation", &j.safety.Violations
	if !c.tokens && !earlier.overlaps(c.later) {
		return
	}
	undisturbed := slices.IndexFunc(c.earlier, func(h *hold) bool { return !h.excused() })
	switch {
	case undisturbed >= 0 && !c.later.excused():
		earlier = c.earlier[undisturbed]
	case earlier.counted:
		return
	default:
		earlier.counted = true
		verdict, count = "belief overlap after a disturbed session", &j.safety.BeliefOverlaps
		if !earlier.disturbed && !c.later.disturbed {
			verdict = "belief overlap after a holder was deposed"
		}
		if earlier.granted.Token != drivers.NoSeq && c.later.granted.Token != drivers.NoSeq {
			j.safety.TokensRefused++
		}
	}
	*count++
	addDetail(&j.safety, fmt.Sprintf("%s: client %d %s", verdict, c.later.granted.Client+1, c.describe(earlier)))
}

// describe returns how the later hold contradicts an earlier one.
func (c *conflict) describe(earlier *hold) string {
	client, token := earlier.granted.Client+1, earlier.granted.Token
	switch {
	case !c.tokens:
		return fmt.Sprintf("held at the same time as client %d", client)
	case token == c.later.granted.Token:
		return fmt.Sprintf("got token %d, as client %d did", token, client)
	}
	return fmt.Sprintf("got token %d after client %d had %d", c.later.granted.Token, client, token)
}

// Verdict judges the remaining conflicts and returns all findings. If more holders lost the lock than
// clients have deposed, some were deposed without the right.
func (j *LockJudge) Verdict() metrics.Safety {
	j.mu.Lock()
	defer j.mu.Unlock()
	if unexplained := j.deposed - j.force; unexplained > 0 {
		j.deposed = j.force
		j.safety.Violations += unexplained
		text := fmt.Sprintf("violation: %d holders lost the lock although no client deposed them", unexplained)
		addDetail(&j.safety, text)
	}
	j.settle(func(*conflict) bool { return true })
	return j.safety
}
