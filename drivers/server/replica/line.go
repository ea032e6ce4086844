package replica

import "github.com/stampede-bench/stampede/drivers/server/tree"

// A Line holds the requests of one client's connection and answers them in their order: a read waits
// behind the client's writes. Writes do not wait for each other, but they wait for syncs before them.
// The callbacks of a line may call its methods.
type Line struct {
	member *Member
	owner  Owner
	id     int64
	steps  []*pendingRequest
	syncs  int // among the steps and not done
	closed bool
}

// A pendingRequest is a request without an answer so far.
type pendingRequest struct {
	ready bool
	sync  bool
	start func() // proposes a write that waits for a sync
	run   func() // answers it
}

// NewLine returns the line of a connection without a session.
func (m *Member) NewLine() *Line { return &Line{member: m} }

// Open opens a session: x has its ID, time-out and password. The function gets the result, or nil if
// the result will never be known; the caller then ends the connection.
func (l *Line) Open(x tree.Txn, done func(*Applied)) { l.begin(Open, x, done) }

// Move gives the session to this member, if the password is right. x has the ID, the time-out and
// the password.
func (l *Line) Move(x tree.Txn, done func(*Applied)) { l.begin(Move, x, done) }

func (l *Line) begin(kind Kind, x tree.Txn, done func(*Applied)) {
	x.Kind = tree.OpenSession
	l.propose(&entry{Kind: kind, Session: x.Session, Txn: x}, func(a *Applied) {
		if a != nil {
			l.id, l.owner = a.Session, a.Owner
		}
		done(a)
	})
}

// Write requests a transaction of the line's session. The function is that of Open.
func (l *Line) Write(x tree.Txn, done func(*Applied)) {
	l.propose(&entry{Kind: Request, Session: l.id, Generation: l.owner.Generation, Txn: x}, done)
}

func (l *Line) propose(e *entry, done func(*Applied)) {
	s := &pendingRequest{}
	start := func() {
		l.member.proposals.add(l.member, e, func(a *Applied) {
			s.run = func() { done(a) }
			l.finish(s)
		})
	}
	l.steps = append(l.steps, s)
	if l.syncs > 0 {
		s.start = start
	} else {
		start()
	}
}

// Read calls serve when the requests before it are answered.
func (l *Line) Read(serve func()) {
	l.steps = append(l.steps, &pendingRequest{ready: true, run: serve})
	l.advance()
}

// Sync calls done when the member has applied all that was committed before the call, and the
// requests before it are answered.
func (l *Line) Sync(done func()) {
	s := &pendingRequest{sync: true, run: done}
	l.steps = append(l.steps, s)
	l.syncs++
	l.member.reads.add(func() {
		l.syncs--
		s.sync = false
		l.finish(s)
		l.startWrites()
	})
}

func (l *Line) finish(s *pendingRequest) {
	s.ready = true
	l.advance()
}

// advance answers the requests that wait for nothing any more.
func (l *Line) advance() {
	for len(l.steps) > 0 && l.steps[0].ready && !l.closed {
		run := l.steps[0].run
		l.steps[0] = nil
		l.steps = l.steps[1:]
		run()
	}
}

// startWrites proposes the writes up to the next sync.
func (l *Line) startWrites() {
	for _, s := range l.steps {
		if s.sync {
			return
		}
		if s.start != nil {
			s.start()
			s.start = nil
		}
	}
}

// Len returns the number of requests without an answer.
func (l *Line) Len() int { return len(l.steps) }

// Close gives up all answers.
func (l *Line) Close() { l.closed, l.steps = true, nil }
