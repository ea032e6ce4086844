package workloads

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/history"
)

// A recollection is what clients asked and were answered in a run in which things
// are broken on purpose, to be held against what can be. The zero one is empty.
type recollection struct {
	mu     sync.Mutex
	since  time.Time // what it counts time from; zero before anything was asked
	ops    map[int][]*history.Op
	count  int           // of all of them
	closed time.Duration // when there were too many; what was answered later was not answered
	holds  int
}

// mostRecalled bounds what is recalled of a run: it has to be checked.
const mostRecalled = 50_000

// ask recalls what a client asks of a lock or node. It returns nil when there is
// too much to recall.
func (r *recollection) ask(of, client int, what any) *history.Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		r.since, r.ops = time.Now(), map[int][]*history.Op{}
	}
	if r.count == mostRecalled {
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

// answer recalls what the answer was. Without one it may have been done later, or
// never.
func (r *recollection) answer(op *history.Op, what any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op != nil && r.closed == 0 {
		op.Returned, op.What = time.Since(r.since), what
	}
}

// asks recalls that a client wants the lock.
func (r *recollection) asks(client int) *history.Op {
	r.mu.Lock()
	r.holds++
	hold := r.holds
	r.mu.Unlock()
	return r.ask(0, client, history.Grant{Hold: hold})
}

// granted recalls that it got it.
func (r *recollection) granted(op *history.Op, token int64) {
	if op != nil {
		r.answer(op, history.Grant{Hold: op.What.(history.Grant).Hold, Token: token})
	}
}

// releases recalls that it gives it up.
func (r *recollection) releases(grant *history.Op) *history.Op {
	if grant == nil {
		return nil
	}
	return r.ask(0, grant.Client, history.Release{Hold: grant.What.(history.Grant).Hold})
}

// released recalls that it did. A client whose session was disturbed may have lost
// it at any time since it had it, and a call that failed may be done later.
func (r *recollection) released(grant, op *history.Op, certain bool) {
	if op == nil {
		return
	}
	if certain {
		r.answer(op, op.What)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	op.Called = grant.Returned
}

// locks adds to the safety of a lock what cannot be in its history.
func (r *recollection) locks(s metrics.Safety) metrics.Safety {
	r.mu.Lock()
	defer r.mu.Unlock()
	verdict, why := history.Lock(recalled(r.ops[0])).Check()
	return judged(s, verdict, "the lock", why.String())
}

// registers adds to the safety of nodes what cannot be in their histories.
func (r *recollection) registers(s metrics.Safety) metrics.Safety {
	r.mu.Lock()
	defer r.mu.Unlock()
	for node, ops := range r.ops {
		verdict, why := history.Register(recalled(ops)).Check()
		s = judged(s, verdict, fmt.Sprintf("key %d", node), why.String())
	}
	return s
}

func recalled(ops []*history.Op) (all []history.Op) {
	for _, op := range ops {
		all = append(all, *op)
	}
	return all
}

func judged(s metrics.Safety, v history.Verdict, of, why string) metrics.Safety {
	if v != history.Wrong {
		return s
	}
	return s.With(metrics.Safety{Violations: 1, Details: []string{
		"violation: no order explains what clients were told of " + of + ": " + strings.ReplaceAll(why, "\n", "; ")}}, maxDetails)
}
