package check

import (
	"sync"
	"time"
)

// A StepKind says what a client of a lock did.
type StepKind uint8

const (
	Asked     StepKind = iota + 1 // it began to wait for the lock
	Granted                       // it got the lock
	GaveUp                        // it stopped waiting without the lock
	Releasing                     // it began to release the lock
	Released                      // the release has returned
)

// A Step is what a client of a lock did at a time.
type Step struct {
	Kind      StepKind
	Client    int           // its index
	At        time.Duration // on the clock of the client's process
	Token     int64         // of a grant; drivers.NoSeq if the form has none
	Disturbed bool          // of a release: the session was disturbed since the client asked
}

// Steps records what the clients of one process did with a lock whose other clients are in other
// processes. Its methods may be called from any goroutine, and do nothing on a nil Steps.
type Steps struct {
	now func() time.Duration
	mu  sync.Mutex
	all []Step
}

// NewSteps returns an empty Steps with a clock, which must be monotonic.
func NewSteps(now func() time.Duration) *Steps { return &Steps{now: now} }

// Asked records that the client began to wait.
func (s *Steps) Asked(client int) { s.add(Step{Kind: Asked, Client: client}) }

// Granted records that the client got the lock with this token.
func (s *Steps) Granted(client int, token int64) {
	s.add(Step{Kind: Granted, Client: client, Token: token})
}

// GaveUp records that the client no longer waits.
func (s *Steps) GaveUp(client int) { s.add(Step{Kind: GaveUp, Client: client}) }

// Releasing records that the client begins to release the lock.
func (s *Steps) Releasing(client int) { s.add(Step{Kind: Releasing, Client: client}) }

// Released records that the release has returned.
func (s *Steps) Released(client int, disturbed bool) {
	s.add(Step{Kind: Released, Client: client, Disturbed: disturbed})
}

func (s *Steps) add(step Step) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	step.At = s.now()
	s.all = append(s.all, step)
}

// All returns the steps in the order in which they were recorded.
func (s *Steps) All() []Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
