package recovery

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

const ms = time.Millisecond

// A script has clients send messages at given times, in the order of the times.
type script struct {
	a     *Analysis
	start time.Time
	now   time.Time
	pos   int64
	conns uint64
	ids   int64
	steps []step

	tellFault func(Fault) // nil reports each at its time
	faulty    bool        // faults stand between the service and the clients, which receive everything at once
	lateOwner bool        // processes are known only at the end
	owners    []func()
}

type step struct {
	after time.Duration
	do    func()
}

func newScript(service string) *script {
	start := time.Unix(1_000, 0)
	return &script{a: New(service), start: start, now: start, pos: 1}
}

// at has something be done some time after the start.
func (s *script) at(after time.Duration, do func()) {
	i := len(s.steps)
	for i > 0 && s.steps[i-1].after > after {
		i--
	}
	s.steps = slices.Insert(s.steps, i, step{after, do})
}

// play does what was planned until a time. Steps may plan further ones.
func (s *script) play(until time.Duration) {
	for len(s.steps) > 0 && s.steps[0].after <= until {
		next := s.steps[0]
		s.steps = s.steps[1:]
		s.now = s.start.Add(next.after)
		next.do()
	}
	for _, late := range s.owners {
		late()
	}
	s.now = s.start.Add(until)
	s.a.Advance(s.now)
}

func (s *script) since() time.Duration { return s.now.Sub(s.start) }

// A member is one client of a program, with one session at a time.
type member struct {
	*script
	pid int
	tap traffic.Tap
	id  int64

	conn  uint64 // the latest
	armed int    // watches of etcd, of all connections

	watches []drivers.TxnOp // of ZooKeeper, that have not fired

	hidden bool   // the process of its connections is not found
	host   int    // pid if it is 0
	lock   string // a node that it has for a while
}

func (s *script) members(pid, n int) (all []*member) {
	for range n {
		m := &member{script: s, pid: pid}
		m.open(0)
		all = append(all, m)
	}
	return all
}

// connect opens a connection that carries nothing yet.
func (m *member) connect() {
	m.conns++
	m.conn = m.conns
	c := traffic.Connection{ID: m.conns, Client: fmt.Sprintf("192.0.2.%d:%d", cmp.Or(m.host, m.pid), m.conns), Server: "192.0.2.99:1", At: m.now}
	if m.faulty {
		received := m.a.Received(c)
		m.tap = passing{m.a.Open(c), received}
	} else {
		m.tap = m.a.Open(c)
	}
	tap, owner := m.tap, traffic.Process{ID: m.pid, Name: fmt.Sprintf("program%d", m.pid)}
	switch {
	case m.pid == 0, m.hidden:
	case m.lateOwner:
		m.owners = append(m.owners, func() { tap.Owner(owner) })
	default:
		tap.Owner(owner)
	}
}

// A passing tap has the client receive each message when the service has sent it.
type passing struct {
	traffic.Tap
	received traffic.Tap
}

func (p passing) Message(at time.Time, m drivers.Message) {
	p.Tap.Message(at, m)
	p.received.Message(at, m)
}

// open opens a new session, or resumes one.
func (m *member) open(resume int64) {
	m.connect()
	m.tap.Message(m.now, drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen})
	if m.id = resume; resume == 0 {
		m.ids++
		m.id, m.watches = m.ids, nil
	}
	m.tap.Session(m.now, traffic.Session{ID: m.id, Timeout: 4 * time.Second, Resumed: resume != 0, Ordered: true})
	m.tap.Message(m.now, drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen})
}

func (m *member) resume() { m.open(m.id) }

// refused tries to resume a session that has ended.
func (m *member) refused() {
	m.connect()
	m.tap.Message(m.now, drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen})
	m.tap.Message(m.now, drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen, Err: drivers.ErrSessionLost})
	m.cut()
}

// fails tries to connect, and nothing answers.
func (m *member) fails() {
	m.connect()
	m.cut()
}

func (m *member) cut() { m.tap.Close(m.now) }

func (m *member) close() {
	m.do(drivers.Message{Op: drivers.OpClose})
	m.cut()
}

func (m *member) ask(q drivers.Message) {
	q.Kind = drivers.Request
	m.tap.Message(m.now, q)
}

// do sends a request that is answered at once. A sequential node gets its number.
func (m *member) do(q drivers.Message) {
	m.ask(q)
	if q.Op.IsWrite() && q.Err == nil {
		m.pos++
	}
	if q.Watch {
		m.watches = append(m.watches, drivers.TxnOp{Op: q.Op, Path: q.Path})
	}
	q.Kind, q.Pos = drivers.Reply, m.pos
	if q.Op.IsRead() && q.Shown == nil {
		q.Shown = []drivers.Sight{{Path: q.Path, Below: q.Op == drivers.OpChildren, Values: q.Op == drivers.OpGet}}
	}
	for i := range q.Shown {
		q.Shown[i].Pos = m.pos
	}
	if q.Op == drivers.OpCreate && q.Mode&drivers.Sequential != 0 {
		q.Path = fmt.Appendf(nil, "%s%010d", q.Path, m.pos)
	}
	m.tap.Message(m.now, q)
}

// drops loses the reply that was sent last.
func (m *member) drops(op drivers.Op) { m.a.Lost(traffic.Connection{ID: m.conn}, m.now, op) }

func (m *member) register(path string) {
	m.do(drivers.Message{Op: drivers.OpCreate, Path: []byte(path), Mode: drivers.Ephemeral | drivers.Sequential})
}

func (m *member) own(path string) {
	m.do(drivers.Message{Op: drivers.OpCreate, Path: []byte(path), Mode: drivers.Ephemeral})
}
func (m *member) watch(path string) {
	m.do(drivers.Message{Op: drivers.OpGet, Path: []byte(path), Watch: true})
}
func (m *member) list(path string) {
	m.do(drivers.Message{Op: drivers.OpChildren, Path: []byte(path), Watch: true})
}
func (m *member) get(path string)    { m.do(drivers.Message{Op: drivers.OpGet, Path: []byte(path)}) }
func (m *member) set(path string)    { m.do(drivers.Message{Op: drivers.OpSet, Path: []byte(path)}) }
func (m *member) remove(path string) { m.do(drivers.Message{Op: drivers.OpDelete, Path: []byte(path)}) }

// rearm sets all watches again that the session has armed and that have not fired.
func (m *member) rearm() { m.rearmAround(func() {}) }

// rearmAround does something after the request and before the answer.
func (m *member) rearmAround(do func()) {
	m.ask(drivers.Message{Op: drivers.OpRearm, Parts: m.watches})
	do()
	m.tap.Message(m.now, drivers.Message{Kind: drivers.Reply, Op: drivers.OpRearm, Pos: m.pos})
}

func (m *member) told(e drivers.EventType, path string) {
	m.watches = slices.DeleteFunc(slices.Clone(m.watches), func(w drivers.TxnOp) bool {
		children := e == drivers.ChildrenChanged
		return string(w.Path) == path && !w.Op.IsWatch() && (e == drivers.Deleted || (w.Op == drivers.OpChildren) == children)
	})
	m.tap.Message(m.now, drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte(path), Pos: m.pos})
}

// fault reports a fault of sessions that begins now.
func (s *script) fault(kind Kind, lasts time.Duration, hit ...*member) {
	f := Fault{At: s.now, What: "test", Kind: kind}
	if lasts > 0 {
		f.Until = s.now.Add(lasts)
	}
	for _, m := range hit {
		f.Sessions = append(f.Sessions, m.id)
	}
	if s.tellFault != nil {
		s.tellFault(f)
	} else {
		s.a.Fault(f)
	}
}

// outcome returns the only outcome.
func (s *script) outcome(t *testing.T) Outcome {
	t.Helper()
	r := s.a.Report()
	if len(r.Outcomes) != 1 {
		t.Fatalf("%d outcomes, want 1", len(r.Outcomes))
	}
	return r.Outcomes[0]
}
