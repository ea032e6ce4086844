package check

import (
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/history"
)

// An Exclusion checks that at most one client holds at any time, or several that share, and
// measures the hand-offs.
//
// Two holders at the same time that do not both share are a violation if neither session was
// disturbed before its hold ended. If one was, the service may have been right to grant the lock
// again. That is a belief overlap: the earlier holder still believes that it holds, and only the
// fencing token protects the resource, which refuses the older token. A token that does not
// increase between two undisturbed holders is a violation too, unless the two share.
//
// The checked part of a hold lies inside the real one: it begins after Acquire has returned and
// ends before Release is called. So every overlap that is found is real.
type Exclusion struct {
	mu        sync.Mutex
	holding   []*Hold
	newest    *Hold     // the granted hold with the largest token
	exclusive *Hold     // the newest hold that is not shared
	released  time.Time // when the last holder began to release while others waited
	deposed   int64     // holds that another client ended
	safety    metrics.Safety
	suspected []conflict // judged when both holds have ended
}

// A Hold is the time from a grant to its release.
type Hold struct {
	Client             Client
	Shared             bool // it is shared with other holds
	Token              int64
	DisturbancesBefore int64 // the client's disturbances when it asked for the hold
	ended              bool
	// Deposed: its release found that another client had ended it by force. Verdict checks whether
	// that client had the right to.
	Deposed bool
	Call    *history.Op // the recorded call; nil if it is not recorded
	// overlapCounted: another client held while this one believed that it held. That is counted once.
	overlapCounted bool
}

func (h *Hold) Disturbed() bool { return h.Client.Disturbances() != h.DisturbancesBefore }

// A conflict is two holds that contradict each other.
type conflict struct {
	earlier, later *Hold
	what           string
}

// excuse returns why the service may have been right to grant both holds, "" if it was not.
func (c conflict) excuse() string {
	switch {
	case c.earlier.Disturbed() || c.later.Disturbed():
		return "a disturbed session"
	case c.earlier.Deposed || c.later.Deposed:
		return "a holder was deposed"
	}
	return ""
}

// Granted records a hold. It returns the duration of the hand-off that the grant completes, from
// the release before it, and false if there was no hand-off to measure.
func (x *Exclusion) Granted(h *Hold, now time.Time) (time.Duration, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.safety.Checked++
	for _, other := range x.holding {
		if h.Shared && other.Shared {
			continue
		}
		x.suspect(other, h, fmt.Sprintf("held at the same time as client %d", other.Client.Number()))
	}
	x.holding = append(x.holding, h)
	x.checkToken(h)
	if x.released.IsZero() {
		return 0, false
	}
	handoff := now.Sub(x.released)
	x.released = time.Time{}
	return handoff, true
}

// Holder returns the client index of the newest current hold.
func (x *Exclusion) Holder() (index int, holds bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.holding) == 0 {
		return 0, false
	}
	return x.holding[len(x.holding)-1].Client.Number() - 1, true
}

func (x *Exclusion) checkToken(h *Hold) {
	if h.Token == drivers.NoSeq {
		return
	}
	x.safety.Tokens = true
	rival := x.newest
	if h.Shared {
		rival = x.exclusive
	}
	if rival != nil && h.Token <= rival.Token {
		x.suspect(rival, h, fmt.Sprintf("got token %d after client %d had %d", h.Token, rival.Client.Number(), rival.Token))
		return
	}
	if x.newest == nil || h.Token > x.newest.Token {
		x.newest = h
	}
	if !h.Shared {
		x.exclusive = h
	}
}

// Releasing records that a hold is about to end. waiting is how many other clients want the lock.
func (x *Exclusion) Releasing(h *Hold, waiting int, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, other := range x.holding {
		if other == h {
			x.holding = append(x.holding[:i], x.holding[i+1:]...)
			break
		}
	}
	x.released = time.Time{}
	if waiting > 0 && len(x.holding) == 0 {
		x.released = now
	}
}

// Released records that the release of a hold has returned. From now on it is known whether the
// session was disturbed during the hold.
func (x *Exclusion) Released(h *Hold) {
	x.mu.Lock()
	defer x.mu.Unlock()
	h.ended = true
	if h.Deposed {
		x.deposed++
	}
	open := x.suspected[:0]
	for _, c := range x.suspected {
		if !c.earlier.ended || !c.later.ended {
			open = append(open, c)
			continue
		}
		x.judge(c)
	}
	x.suspected = open
}

func (x *Exclusion) suspect(earlier, later *Hold, what string) {
	x.suspected = append(x.suspected, conflict{earlier, later, what})
}

func (x *Exclusion) judge(c conflict) {
	verdict, count := "violation", &x.safety.Violations
	if excuse := c.excuse(); excuse != "" {
		if c.earlier.overlapCounted {
			return
		}
		c.earlier.overlapCounted = true
		verdict, count = "belief overlap after "+excuse, &x.safety.BeliefOverlaps
		if c.earlier.Token != drivers.NoSeq && c.later.Token != drivers.NoSeq {
			x.safety.TokensRefused++
		}
	}
	*count++
	x.addDetail(fmt.Sprintf("%s: client %d %s", verdict, c.later.Client.Number(), c.what))
}

func (x *Exclusion) addDetail(detail string) {
	if len(x.safety.Details) < MaxDetails {
		x.safety.Details = append(x.safety.Details, detail)
	}
}

// MaxDetails bounds how many details are kept of a form that breaks its guarantees again and
// again.
const MaxDetails = 10

// Verdict judges the remaining conflicts and returns all findings. force is how many holders were
// rightly deposed: if more lost their hold, some were deposed without the right.
func (x *Exclusion) Verdict(force int64) metrics.Safety {
	x.mu.Lock()
	defer x.mu.Unlock()
	if unexplained := x.deposed - force; unexplained > 0 {
		x.deposed = force
		x.safety.Violations += unexplained
		x.addDetail(fmt.Sprintf("violation: %d holders lost the lock although no client deposed them", unexplained))
	}
	for _, c := range x.suspected {
		x.judge(c)
	}
	x.suspected = nil
	return x.safety
}
