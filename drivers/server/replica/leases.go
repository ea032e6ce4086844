package replica

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// leases decide when sessions expire. Members collect the sessions whose clients they hear of and name
// them in their questions to the leader. The leader closes a session that no question has named for its
// whole time-out. A new leader gives every session its whole time-out again. The time is that of the
// last tick, which is why a lease is longer by the longest tick.
//
// A member knows of a session's lease only what a confirmed question has extended. It answers the session's
// reads and heartbeats until two thirds of the time-out after it asked: then the session cannot have
// ended, even if the leader's clock is half as fast again as the member's. After that they wait for
// another confirmation, as for a sync.
type leases struct {
	heard map[int64]time.Duration // when the member last heard of clients since a confirmed question named them
	lines map[int64]*Line         // of the sessions that the member serves
	until map[int64]lease         // only of a leader
	reap  time.Duration           // when to look for unused nodes
}

type lease struct {
	until   time.Duration
	closing bool // its end is proposed
}

// reapEvery is the interval at which a leader looks for unused containers and expired nodes. It is
// ZooKeeper's default.
const reapEvery = time.Minute

func (l *leases) init(*Member) { l.heard, l.lines = map[int64]time.Duration{}, map[int64]*Line{} }

// Touch reports that the member has heard of a session's client.
func (m *Member) Touch(session int64) { m.leases.heard[session] = m.clock }

// recent is the time for which a question names a session whose client was heard of. A lease lasts longer by
// as much where an answer is lost or late.
const recent = time.Second

// unconfirmed returns the sessions that the next question must name.
func (l *leases) unconfirmed(now time.Duration) []int64 {
	maps.DeleteFunc(l.heard, func(_ int64, at time.Duration) bool { return now-at >= recent })
	return slices.Sorted(maps.Keys(l.heard))
}

// confirm extends what the member knows of leases: the leader has taken a question that named the sessions.
func (l *leases) confirm(sessions []int64, asked time.Duration) {
	for _, id := range sessions {
		if at, ok := l.heard[id]; ok && at <= asked {
			delete(l.heard, id)
		}
		if x := l.lines[id]; x != nil {
			x.extend(asked)
		}
	}
}

// Expires returns after how long a session expires unless its client is heard of, if the member is
// the leader.
func (m *Member) Expires(session int64) (left time.Duration, ok bool) {
	x, ok := m.leases.until[session]
	return x.until - m.now, ok
}

// reset gives every session its whole time-out if the member is the leader.
func (l *leases) reset(m *Member) {
	l.until = nil
	if !m.leads() {
		return
	}
	l.until = make(map[int64]lease, len(m.state.owners))
	for id, o := range m.state.owners {
		l.until[id] = lease{until: m.now + o.lease()}
	}
	l.reap = m.now + reapEvery
}

func (l *leases) stop() { l.until = nil }

func (o Owner) lease() time.Duration {
	return time.Duration(o.Timeout)*time.Millisecond + longestTick
}

// applied follows the sessions of the state.
func (l *leases) applied(m *Member, a *Applied) {
	if l.until == nil || a.Result.Err != wire.OK {
		return
	}
	if a.Kind == Open || a.Kind == Move {
		l.until[a.Session] = lease{until: m.now + a.Owner.lease()}
	}
	if _, open := m.state.owners[a.Session]; !open {
		delete(l.until, a.Session)
	}
}

// touched extends leases. It returns false if one of them has run out and the session is about to end:
// then no answer may say that it was extended.
func (l *leases) touched(m *Member, sessions []int64) (all bool) {
	all = true
	for _, id := range sessions {
		x, ok := l.until[id]
		switch {
		case ok && x.closing:
			all = false
		case ok:
			l.until[id] = lease{until: m.now + m.state.owners[id].lease()}
		}
	}
	return all
}

func (l *leases) tick(m *Member) {
	if l.until == nil {
		return
	}
	l.expire(m)
	if m.now >= l.reap {
		l.reap = m.now + reapEvery
		m.reapIdle()
	}
}

// expire proposes the end of sessions whose time has passed.
func (l *leases) expire(m *Member) {
	var due []int64
	for id, x := range l.until {
		if !x.closing && m.now >= x.until {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, cmp.Compare[int64])
	for _, id := range due {
		x := tree.Txn{Session: id, Op: tree.Op{Kind: tree.CloseSession}}
		e := entry{Kind: Expire, Origin: m.config.ID, Term: m.term, Session: id, Generation: m.state.owners[id].Generation, Txn: x}
		if m.propose([]*pb.Entry{{Data: m.encode(nil, &e)}}) {
			l.until[id] = lease{until: l.until[id].until, closing: true}
		}
	}
}

// reapIdle proposes to delete unused nodes.
func (m *Member) reapIdle() {
	for _, path := range m.state.tree.Idle(m.wall) {
		x := tree.Txn{Op: tree.Op{Kind: tree.Reap, Path: path}}
		e := entry{Kind: Reap, Origin: m.config.ID, Term: m.term, Txn: x}
		m.propose([]*pb.Entry{{Data: m.encode(nil, &e)}})
	}
}

// reads are the questions of a member to the leader. The leader answers with the index of its last
// committed entry after a majority has confirmed that it still leads, and a question is done when the
// member has applied that entry. An answer to a later question is one to the earlier ones, too.
type reads struct {
	boot    uint64
	next    question // to ask at the next flush
	any     bool     // there is something to ask
	number  uint64   // of the last question
	waiting []question
}

// A question is one to the leader.
type question struct {
	sessions []int64 // whose leases it extends
	done     []func()
	number   uint64
	asked    time.Duration // when it was first sent
	sent     bool          // to the leader of now
	index    uint64        // 0 before the leader's answer
}

func (r *reads) init(m *Member) { r.boot = m.config.Boot }

// add makes q a part of the next question.
func (r *reads) add(q question) {
	r.any = true
	r.next.sessions = append(r.next.sessions, q.sessions...)
	r.next.done = append(r.next.done, q.done...)
}

func (r *reads) flush(m *Member) {
	if m.soft.Lead == raft.None {
		return
	}
	if r.any {
		q := r.next
		r.number++
		q.number, q.asked = r.number, m.clock
		r.waiting = append(r.waiting, q)
		r.next, r.any = question{}, false
	}
	for i := range r.waiting {
		if q := &r.waiting[i]; !q.sent && q.index == 0 {
			q.sent = true
			r.ask(m, q)
		}
	}
}

// questionLength is the length of a question without sessions.
const questionLength = 16

func (r *reads) ask(m *Member, q *question) {
	if m.clock-q.asked >= recent {
		q.sessions = nil
	}
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, r.boot), q.number)
	if m.leads() {
		if m.leases.touched(m, q.sessions) {
			m.node.ReadIndex(b)
		}
		return
	}
	for _, id := range q.sessions {
		b = binary.BigEndian.AppendUint64(b, uint64(id))
	}
	m.node.ReadIndex(b)
}

// questioned takes the sessions off another member's question, and returns whether it may be answered.
func (l *leases) questioned(m *Member, x *pb.Message) bool {
	if !m.leads() { // raft would pass it on to the leader, without the sessions
		return false
	}
	if len(x.GetEntries()) != 1 || len(x.GetEntries()[0].GetData()) < questionLength {
		return false
	}
	b := x.GetEntries()[0].GetData()
	x.Entries = []*pb.Entry{{Data: b[:questionLength]}}
	var sessions []int64
	for b = b[questionLength:]; len(b) >= 8; b = b[8:] {
		sessions = append(sessions, int64(binary.BigEndian.Uint64(b)))
	}
	return l.touched(m, sessions)
}

// confirmed takes an answer.
func (r *reads) confirmed(s raft.ReadState) {
	if len(s.RequestCtx) != questionLength || binary.BigEndian.Uint64(s.RequestCtx) != r.boot {
		return
	}
	number := binary.BigEndian.Uint64(s.RequestCtx[8:])
	for i := range r.waiting {
		q := &r.waiting[i]
		if q.number < number {
			q.sessions = nil // the leader may not have this one
		}
		if q.number <= number && q.index == 0 {
			q.index = s.Index
		}
	}
}

// serve finishes the questions that the index suffices for.
func (r *reads) serve(m *Member) {
	for len(r.waiting) > 0 && r.waiting[0].index != 0 && r.waiting[0].index <= m.state.index {
		q := r.waiting[0]
		r.waiting = r.waiting[1:]
		m.leases.confirm(q.sessions, q.asked)
		m.service.confirm(m, q.asked)
		for _, done := range q.done {
			done()
		}
	}
}

// again makes the next flush ask the leader everything again.
func (r *reads) again() {
	for i := range r.waiting {
		r.waiting[i].sent = false
	}
}

// forget drops the questions asked up to a time whose confirmation would be of no use any more, and for which
// no client waits.
func (r *reads) forget(until time.Duration) {
	r.waiting = slices.DeleteFunc(r.waiting, func(q question) bool { return len(q.done) == 0 && q.asked <= until })
}

// answered reports whether the leader has answered a question for whose index the member waits.
func (r *reads) answered() bool { return len(r.waiting) > 0 && r.waiting[0].index != 0 }
