package check

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/history"
)

// Operations records the calls of clients and their answers in a run with faults, so that the
// history can be checked. The zero Operations is empty.
type Operations struct {
	mu     sync.Mutex
	since  time.Time // the origin of its times; zero before the first call
	ops    map[int][]*history.Op
	count  int           // number of calls
	closed time.Duration // when the limit was reached; later answers are not recorded
	holds  int
}

// maxOperations bounds the number of recorded calls, since the history has to be checked.
const maxOperations = 50_000

// Called records a client's call on a lock or node. It returns nil when the limit is reached.
func (r *Operations) Called(of, client int, what any) *history.Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		r.since, r.ops = time.Now(), map[int][]*history.Op{}
	}
	if r.count == maxOperations {
		if r.closed == 0 {
			r.closed = time.Since(r.since)
		}
		return nil
	}
	r.count++
	op := &history.Op{Client: client, Called: time.Since(r.since), Returned: history.Never, What: what}
	r.ops[of] = append(r.ops[of], op)
	return op
}

// Returned records the answer to a call. A call without an answer may have been executed later, or
// never.
func (r *Operations) Returned(op *history.Op, what any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op != nil && r.closed == 0 {
		op.Returned, op.What = time.Since(r.since), what
	}
}

// LockRequested records that a client wants the lock.
func (r *Operations) LockRequested(client int) *history.Op {
	r.mu.Lock()
	r.holds++
	hold := r.holds
	r.mu.Unlock()
	return r.Called(0, client, history.Grant{Hold: hold})
}

// LockGranted records that the client got the lock.
func (r *Operations) LockGranted(op *history.Op, token int64) {
	if op != nil {
		r.Returned(op, history.Grant{Hold: op.What.(history.Grant).Hold, Token: token})
	}
}

// ReleaseCalled records that the client begins to release the lock.
func (r *Operations) ReleaseCalled(grant *history.Op) *history.Op {
	if grant == nil {
		return nil
	}
	return r.Called(0, grant.Client, history.Release{Hold: grant.What.(history.Grant).Hold})
}

// ReleaseReturned records the end of the release. If it is not certain, the release may have happened at
// any time since the grant, because a disturbed client may have lost the lock and a failed call
// may be executed later.
func (r *Operations) ReleaseReturned(grant, op *history.Op, certain bool) {
	if op == nil {
		return
	}
	if certain {
		r.Returned(op, op.What)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	op.Called = grant.Returned
}

// JudgeLock adds to the safety verdict of a lock if its history is impossible.
func (r *Operations) JudgeLock(s metrics.Safety) metrics.Safety {
	r.mu.Lock()
	defer r.mu.Unlock()
	verdict, why := history.Lock(copies(r.ops[0])).Check()
	return addVerdict(s, verdict, "the lock", why.String())
}

// JudgeRegisters adds to the safety verdict each node whose history is impossible.
func (r *Operations) JudgeRegisters(s metrics.Safety) metrics.Safety {
	r.mu.Lock()
	defer r.mu.Unlock()
	for node, ops := range r.ops {
		verdict, why := history.Register(copies(ops)).Check()
		s = addVerdict(s, verdict, fmt.Sprintf("key %d", node), why.String())
	}
	return s
}

func copies(ops []*history.Op) (all []history.Op) {
	for _, op := range ops {
		all = append(all, *op)
	}
	return all
}

func addVerdict(s metrics.Safety, v history.Verdict, of, why string) metrics.Safety {
	if v != history.Wrong {
		return s
	}
	return s.With(metrics.Safety{Violations: 1, Details: []string{
		"violation: no order of the calls explains the answers about " + of + ": " + strings.ReplaceAll(why, "\n", "; ")}}, MaxDetails)
}
