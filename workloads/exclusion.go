package workloads

import (
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/history"
)

// An exclusion checks that at most one client holds at any time, or several that
// share, and times the hand-offs.
//
// Two holders at once that do not both share are a violation if neither one's session was disturbed
// before its hold ended. If one was, the service may have given the lock away
// rightly: that is an overlap of belief, and what protects a resource then is
// the fencing token: an older one is refused. A token that does not increase
// between two undisturbed holders, other than two that share, is a violation as
// well.
//
// Both ends of a hold are marked inside it: granted after Acquire has returned,
// releasing before Release is called. So an overlap that is seen was real.
type exclusion struct {
	mu        sync.Mutex
	holding   []*hold
	newest    *hold     // of those granted, the one with the largest token
	exclusive *hold     // the newest of those that do not share
	released  time.Time // when the last holder began to release, while somebody waited
	deposed   int64     // holds that were ended by somebody else
	safety    metrics.Safety
	suspicion []conflict // judged when both holds have ended
}

// A hold is the time from one grant to its release.
type hold struct {
	seat   *Seat
	shares bool // with others that share
	token  int64
	calm   int64 // the seat's disturbances when the hold began to be sought
	ended  bool
	// deposed: somebody else ended it, by force and rightly.
	deposed bool
	grant   *history.Op // as it is recalled; nil if it is not
	// mistaken: others held while it believed that it did, which is told once.
	mistaken bool
}

func (h *hold) disturbed() bool { return h.seat.Disturbances() != h.calm }

// A conflict is two holds that should not both have been as they were.
type conflict struct {
	earlier, later *hold
	what           string
}

// excuse says why the service may have been right to grant both, "" if it was
// not.
func (c conflict) excuse() string {
	switch {
	case c.earlier.disturbed() || c.later.disturbed():
		return "a disturbed session"
	case c.earlier.deposed || c.later.deposed:
		return "a holder was deposed"
	}
	return ""
}

// granted notes a hold. It returns the hand-off that the grant completed, from
// the release before it, and false if there was none to speak of.
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

// holder is the seat, by its index, of the latest of the holds that go on.
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

// releasing notes the end of a hold; waiting is how many others want it.
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

// ended notes that a hold's release has returned: from now on it is known
// whether its session was disturbed.
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

// maxDetails bounds what a thoroughly broken form can make us remember.
const maxDetails = 10

// verdict judges what is left and returns all that was seen. So many holders were
// deposed by force: if more lost their hold, somebody took it without a right.
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
