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
	return s.Add(metrics.Safety{Violations: 1, Details: []string{
		"violation: no order of the calls explains the answers about " + of + ": " + strings.ReplaceAll(why, "\n", "; ")}}, MaxDetails)
}

// A Client is a client whose actions are checked. It is compared by identity.
type Client interface {
	// Number returns the client's number in messages, from 1.
	Number() int
	// Disturbances returns how often the client's session was disconnected or lost so far.
	Disturbances() int64
}

// A StepKind says what a client did.
type StepKind uint8

const (
	// Of locks, and of consumers of a queue. Asked, Releasing and Leaving are recorded before a call, the others
	// after it. The Value of Asked is the priority, if the lock has priorities.
	Asked     StepKind = iota + 1 // it began to wait for the lock
	Granted                       // it got the lock
	GaveUp                        // it stopped waiting without the lock
	Releasing                     // it began to release the lock
	Released                      // the release has returned
	Deposing                      // it has deposed holders by force: Value is their number
	Queued                        // the service has acknowledged its request, which has a priority
	Leaving                       // it begins to withdraw that request

	// Of rounds and updates. Arrived, Voted and Updating are recorded before the call that announces them to
	// the service, the others after a call has returned.
	Arrived  // it came to the point Name of the turn
	Passed   // it passed that point
	Placed   // it has this place, a Value, among the clients of the turn
	Voted    // it votes: 1 to commit, 0 to abort
	Decided  // it learned the decision
	Updating // it makes the update Turn, of the value that Value numbers
	Saw      // it saw that update
	Left     // it has finished its part in the turn

	// Of queues. Turn is the number of the item. Putting and Taking are recorded before a call.
	Putting // it begins to put an item of the priority Value
	Put     // the put has returned
	InDoubt // the put or the take of the item is in doubt
	Taking  // it begins to take an item; Value numbers its takes
	Took    // it has taken the item
	Ended   // it has taken an end item
	Cleared // its session is lost, and the items that it put with it

	// Of times that end in another process than they begin. Name is the phase.
	Began   // the times of the turn begin
	Reached // a time of the turn ends that began with that step, maybe in another process

	// Of a fan-out. Turn is the number of the write.
	Written  // the write is acknowledged
	Notified // a watcher was notified of it
	Missed   // a watcher will not be notified of it
)

// announces reports whether the step is recorded before the call that shows it to other clients. Other
// steps are recorded after the call that showed something to the client.
func (k StepKind) announces() bool {
	switch k {
	case Asked, Releasing, Leaving, Arrived, Voted, Updating, Putting, Taking, Began:
		return true
	}
	return false
}

// A Step is what a client did at a time.
type Step struct {
	Kind      StepKind
	Group     int           // of the instance, from 0
	Client    int           // its index in the instance
	At        time.Duration // on the clock of the client's process
	Token     int64         // of a grant; drivers.NoSeq if the form has none
	Shared    bool          // of a client that asks: it can hold together with others
	Disturbed bool          // the session was disturbed since the client asked, or came to the round
	Deposed   bool          // of a release, or of a client that gives up: another client had ended the hold by force
	Name      string
	Turn      int64
	Value     int64
	Lag       time.Duration // of Began: the time since it was due
}

// Steps stamps what the clients of one process do with the time. It passes each step to the judge of the
// instance at once, or keeps it for a judge that gets the steps of all processes. Its methods may be called
// from any goroutine.
type Steps struct {
	group int
	judge func(TimedStep) // of the instance; may be nil
	log   *stepLog
}

type stepLog struct {
	at   func(time.Time) time.Duration
	take func(s *Steps, step Step) // the caller holds the lock
	mu   sync.Mutex
	last time.Duration
	all  []Step
}

// NewSteps returns Steps that pass each step on. The clock returns what it showed when time.Now returned its
// argument: if a step's time were found from two readings, one of each clock, it would be wrong by the time
// between them, for which a busy machine may stop the process.
func NewSteps(clock func(time.Time) time.Duration) *Steps {
	return &Steps{log: &stepLog{at: clock, take: func(s *Steps, step Step) {
		if s.judge != nil {
			s.judge(TimedStep{step, step.At, step.At})
		}
	}}}
}

// KeepSteps returns Steps that keep each step, with a clock as that of NewSteps.
func KeepSteps(clock func(time.Time) time.Duration) *Steps {
	keep := func(s *Steps, step Step) { s.log.all = append(s.log.all, step) }
	return &Steps{log: &stepLog{at: clock, take: keep}}
}

// ForGroup returns where the clients of an instance record their steps, among those of the others.
func (s *Steps) ForGroup(group int) *Steps { return &Steps{group: group, log: s.log} }

// JudgeBy sets the judge of the instance, which must not record steps. It gets one step at a time.
func (s *Steps) JudgeBy(take func(TimedStep)) { s.judge = take }

// Record records a step that happens now. No other step is recorded with the same time.
func (s *Steps) Record(step Step) {
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = max(l.at(time.Now()), l.last+1)
	s.pass(step, l.last)
}

// RecordAt records a step that happened at the time, which time.Now has returned.
func (s *Steps) RecordAt(at time.Time, step Step) {
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	s.pass(step, l.at(at))
}

func (s *Steps) pass(step Step, at time.Duration) {
	step.Group, step.At = s.group, at
	s.log.take(s, step)
}

// All returns the steps that were kept, in the order in which they were recorded.
func (s *Steps) All() []Step {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.all
}
