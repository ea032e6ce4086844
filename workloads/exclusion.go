package workloads

import (
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/history"
)

// An exclusion checks that at most one client holds at any time, or several that share, and
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
type exclusion struct {
	mu        sync.Mutex
	holding   []*hold
	newest    *hold     // the granted hold with the largest token
	exclusive *hold     // the newest hold that is not shared
	released  time.Time // when the last holder began to release while others waited
	deposed   int64     // holds that another client ended
	safety    metrics.Safety
	suspicion []conflict // judged when both holds have ended
}

// A hold is the time from a grant to its release.
type hold struct {
	seat   *Seat
	shares bool // it is shared with other holds
	token  int64
	calm   int64 // the seat's disturbances when it asked for the hold
	ended  bool
	// deposed: its release found that another client had ended it by force. verdict checks whether
	// that client had the right to.
	deposed bool
	grant   *history.Op // the recorded call; nil if it is not recorded
	// mistaken: another client held while this one believed that it held. That is counted once.
	mistaken bool
}

func (h *hold) disturbed() bool { return h.seat.Disturbances() != h.calm }

// A conflict is two holds that contradict each other.
type conflict struct {
	earlier, later *hold
	what           string
}

// excuse returns why the service may have been right to grant both holds, "" if it was not.
func (c conflict) excuse() string {
	switch {
	case c.earlier.disturbed() || c.later.disturbed():
		return "a disturbed session"
	case c.earlier.deposed || c.later.deposed:
		return "a holder was deposed"
	}
	return ""
}

// granted records a hold. It returns the duration of the hand-off that the grant completes, from
// the release before it, and false if there was no hand-off to measure.
func (x *exclusion) granted(h *hold, now time.Time) (time.Duration, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.safety.Checked++
	for _, other := range x.holding {
		if h.shares && other.shares {
			continue
		}
		x.suspect(other, h, fmt.Sprintf("held at the same time as client %d", other.seat.Index+1))
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

// holder returns the seat index of the newest current hold.
func (x *exclusion) holder() (index int, holds bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.holding) == 0 {
		return 0, false
	}
	return x.holding[len(x.holding)-1].seat.Index, true
}

func (x *exclusion) checkToken(h *hold) {
	if h.token == drivers.NoSeq {
		return
	}
	x.safety.Tokens = true
	rival := x.newest
	if h.shares {
		rival = x.exclusive
	}
	if rival != nil && h.token <= rival.token {
		x.suspect(rival, h, fmt.Sprintf("got token %d after client %d had %d", h.token, rival.seat.Index+1, rival.token))
		return
	}
	if x.newest == nil || h.token > x.newest.token {
		x.newest = h
	}
	if !h.shares {
		x.exclusive = h
	}
}

// releasing records that a hold is about to end. waiting is how many other clients want the lock.
func (x *exclusion) releasing(h *hold, waiting int, now time.Time) {
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

// ended records that the release of a hold has returned. From now on it is known whether the
// session was disturbed during the hold.
func (x *exclusion) ended(h *hold) {
	x.mu.Lock()
	defer x.mu.Unlock()
	h.ended = true
	if h.deposed {
		x.deposed++
	}
	open := x.suspicion[:0]
	for _, c := range x.suspicion {
		if !c.earlier.ended || !c.later.ended {
			open = append(open, c)
			continue
		}
		x.judge(c)
	}
	x.suspicion = open
}

func (x *exclusion) suspect(earlier, later *hold, what string) {
	x.suspicion = append(x.suspicion, conflict{earlier, later, what})
}

func (x *exclusion) judge(c conflict) {
	verdict, count := "violation", &x.safety.Violations
	if excuse := c.excuse(); excuse != "" {
		if c.earlier.mistaken {
			return
		}
		c.earlier.mistaken = true
		verdict, count = "belief overlap after "+excuse, &x.safety.BeliefOverlaps
		if c.earlier.token != drivers.NoSeq && c.later.token != drivers.NoSeq {
			x.safety.TokensRefused++
		}
	}
	*count++
	x.tell(fmt.Sprintf("%s: client %d %s", verdict, c.later.seat.Index+1, c.what))
}

func (x *exclusion) tell(detail string) {
	if len(x.safety.Details) < maxDetails {
		x.safety.Details = append(x.safety.Details, detail)
	}
}

// maxDetails bounds how many details are kept of a form that breaks its guarantees again and
// again.
const maxDetails = 10

// verdict judges the remaining conflicts and returns all findings. force is how many holders were
// rightly deposed: if more lost their hold, some were deposed without the right.
func (x *exclusion) verdict(force int64) metrics.Safety {
	x.mu.Lock()
	defer x.mu.Unlock()
	if robbed := x.deposed - force; robbed > 0 {
		x.deposed = force
		x.safety.Violations += robbed
		x.tell(fmt.Sprintf("violation: %d holders lost the lock and nobody had deposed them", robbed))
	}
	for _, c := range x.suspicion {
		x.judge(c)
	}
	x.suspicion = nil
	return x.safety
}
