package check

import (
	"sync"
	"time"
)

// A StepKind says what a client did.
type StepKind uint8

const (
	// Of locks, and of consumers of a queue. Asked and Releasing are recorded before a call, the others after it.
	Asked     StepKind = iota + 1 // it began to wait for the lock
	Granted                       // it got the lock
	GaveUp                        // it stopped waiting without the lock
	Releasing                     // it began to release the lock
	Released                      // the release has returned
	Deposing                      // it has deposed holders by force: Value is their number

	// Of rounds and updates. Arrived, Voted and Updating are recorded before the call that announces them to
	// the service, the others after a call has returned.
	Arrived  // it came to the point Name of the turn
	Passed   // it passed that point
	Placed   // it has this place, a Value, among the clients of the turn
	Voted    // it votes: 1 to commit, 0 to abort
	Decided  // it learned the decision
	Updating // it makes the update Turn, of the value that Value numbers
	Saw      // it saw that update
	Troubled // its session was disturbed during the turn

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
	Due     // the turn was due
	Timed   // a time of the turn ends that began in the same process; Lag is its service time

	// Of a fan-out. Turn is the number of the write.
	Written  // the write is acknowledged
	Notified // a watcher was notified of it
	Missed   // a watcher will not be notified of it
)

// announces reports whether the step is recorded before the call that shows it to other clients. Other
// steps are recorded after the call that showed something to the client.
func (k StepKind) announces() bool {
	switch k {
	case Asked, Releasing, Arrived, Voted, Updating, Putting, Taking, Began:
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
	Deposed   bool          // of a release: another client had ended the hold by force
	Name      string
	Turn      int64
	Value     int64
	Lag       time.Duration // of Began: the time since it was due; of Timed: the service time
}

// Steps records what the clients of one process did in a run whose other clients are in other
// processes. Its methods may be called from any goroutine, and do nothing on a nil Steps.
type Steps struct {
	group int
	log   *stepLog
}

type stepLog struct {
	now func() time.Duration
	mu  sync.Mutex
	all []Step
}

// NewSteps returns an empty Steps with a clock, which must be monotonic.
func NewSteps(now func() time.Duration) *Steps { return &Steps{log: &stepLog{now: now}} }

// Of returns where the clients of an instance record their steps, among those of the others.
func (s *Steps) Of(group int) *Steps {
	if s == nil {
		return nil
	}
	return &Steps{group, s.log}
}

// Record records a step that happens now.
func (s *Steps) Record(step Step) {
	if s == nil {
		return
	}
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	step.Group, step.At = s.group, l.now()
	l.all = append(l.all, step)
}

// RecordAt records a step that happened at the time, which time.Now has returned.
func (s *Steps) RecordAt(at time.Time, step Step) {
	if s == nil {
		return
	}
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	step.Group, step.At = s.group, l.now()-time.Since(at)
	l.all = append(l.all, step)
}

// All returns the steps in the order in which they were recorded.
func (s *Steps) All() []Step {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.all
}
