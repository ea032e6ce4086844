package check

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A PriorityJudge checks the order in which a lock with priorities is granted. It takes the steps of all
// clients, in the order of [InOrder] or as they happen. A [LockJudge] checks that holders do not overlap.
//
// A client that waits must not be passed, by a client with which it cannot share the lock,
//   - if that one asked after the request of the first had been acknowledged, and is not more urgent;
//   - if that one is less urgent, and another holder began its release, which both had to wait for, after the
//     request of the first had been acknowledged.
//
// Anything else may be a matter of microseconds. A client that leaves, or whose session is lost, has not been
// passed since; a holder whose session was disturbed, or that was deposed, may have lost the lock before its
// release. The error of the clocks never accuses.
type PriorityJudge struct {
	mu       sync.Mutex
	requests map[int]*request // by client: the one that waits or holds
	last     [2]*request      // the holds that ended last: of those that do not share, and of those that do
	safety   metrics.Safety
}

// A request is one wait for the lock, and the hold that follows.
type request struct {
	asked, granted, releasing TimedStep
	queued                    TimedStep     // the service has acknowledged it
	until                     time.Duration // when it certainly still waited
	clean                     bool          // the hold has ended with its release
	passes                    []pass
}

// A pass is the grant of another request ahead of this one. It is wrong if the hold, if there is one, was clean.
type pass struct {
	by, after *request
}

// urgent says how urgent the request is: the least number comes first.
func (r *request) urgent() int64 { return r.asked.Value }

// excludes reports whether the two cannot share the lock.
func (r *request) excludes(o *request) bool { return !r.asked.Shared || !o.asked.Shared }

// NewPriorityJudge returns a judge of a lock whose requests have their priorities as Value.
func NewPriorityJudge() *PriorityJudge { return &PriorityJudge{requests: map[int]*request{}} }

// Take takes the next step.
func (j *PriorityJudge) Take(s TimedStep) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.requests[s.Client]
	switch {
	case s.Kind == Asked:
		j.requests[s.Client] = &request{asked: s, until: forever}
	case r == nil: // a step of something else
	case s.Kind == Queued:
		r.queued = s
	case s.Kind == Leaving && r.granted.Kind == 0:
		r.until = min(r.until, s.Earliest)
	case s.Kind == GaveUp:
		delete(j.requests, s.Client)
		if !s.Disturbed && !s.Deposed {
			j.judge(r)
		}
	case s.Kind == Granted:
		r.granted, r.until = s, s.Earliest
		j.grant(r)
		j.judge(r)
	case s.Kind == Releasing:
		r.releasing = s
		if r.asked.Shared {
			j.last[1] = r
		} else {
			j.last[0] = r
		}
	case s.Kind == Released:
		r.clean = !s.Disturbed && !s.Deposed
		delete(j.requests, s.Client)
	}
}

// grant finds the requests that the grant may have passed.
func (j *PriorityJudge) grant(r *request) {
	for _, o := range j.requests {
		if o.granted.Kind != 0 || o.queued.Kind == 0 || !o.excludes(r) {
			continue
		}
		if o.queued.Latest < r.asked.Earliest && o.urgent() <= r.urgent() {
			o.passes = append(o.passes, pass{by: r})
			continue
		}
		for _, q := range j.last {
			if q != nil && q.excludes(r) && q.granted.Latest < r.granted.Earliest && o.queued.Latest < q.releasing.Earliest &&
				o.urgent() < r.urgent() {
				o.passes = append(o.passes, pass{by: r, after: q})
			}
		}
	}
}

// judge counts a request that has been passed against the promise as one violation.
func (j *PriorityJudge) judge(r *request) {
	i := slices.IndexFunc(r.passes, func(p pass) bool {
		return p.by.granted.Latest < r.until && (p.after == nil || p.after.clean)
	})
	if i < 0 {
		return
	}
	p, why := r.passes[i], "which waited when it asked"
	if p.after != nil {
		why = "which waited before the last release"
	}
	j.safety.Violations++
	addDetail(&j.safety, fmt.Sprintf("violation: client %d with priority %d got the lock ahead of client %d with priority %d, %s",
		p.by.asked.Client+1, p.by.urgent(), r.asked.Client+1, r.urgent(), why))
}

// Verdict returns all findings.
func (j *PriorityJudge) Verdict() metrics.Safety {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.safety
}
