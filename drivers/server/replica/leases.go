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

// leases decide when sessions expire. Members collect the sessions whose clients they hear of and
// report them to the leader at each tick. The leader closes a session that no member has heard of for its whole
// time-out. A new leader gives every session its whole time-out again. The time is that of the last
// tick, which is why a lease is longer by the longest tick.
type leases struct {
	heard map[int64]struct{} // since the last tick
	until map[int64]lease    // only of a leader
	reap  time.Duration      // when to look for unused nodes
}

type lease struct {
	until   time.Duration
	closing bool // its end is proposed
}

// reapEvery is the interval at which a leader looks for unused containers and expired nodes. It is
// ZooKeeper's default.
const reapEvery = time.Minute

func (l *leases) init(*Member) { l.heard = map[int64]struct{}{} }

// Touch reports that the member has heard of a session's client.
func (m *Member) Touch(session int64) { m.leases.heard[session] = struct{}{} }

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

// touched extends leases.
func (l *leases) touched(m *Member, sessions []int64) {
	for _, id := range sessions {
		if x, ok := l.until[id]; ok && !x.closing {
			l.until[id] = lease{until: m.now + m.state.owners[id].lease()}
		}
	}
}

func (l *leases) tick(m *Member) {
	l.forward(m)
	if l.until == nil {
		return
	}
	l.expire(m)
	if m.now >= l.reap {
		l.reap = m.now + reapEvery
		m.reapIdle()
	}
}

// forward tells the leader which clients were heard of.
func (l *leases) forward(m *Member) {
	if m.soft.Lead == raft.None || len(l.heard) == 0 {
		return
	}
	ids := slices.Sorted(maps.Keys(l.heard))
	clear(l.heard)
	if m.leads() {
		l.touched(m, ids)
		return
	}
	m.out.Messages = append(m.out.Messages, Message{From: m.config.ID, To: m.soft.Lead, Touched: ids})
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
		x := tree.Txn{Session: id, Time: m.wall, Op: tree.Op{Kind: tree.CloseSession}}
		e := entry{Kind: Expire, Origin: m.config.ID, Term: m.term, Session: id, Generation: m.state.owners[id].Generation, Txn: x}
		if m.propose([]*pb.Entry{{Data: e.append(nil)}}) {
			l.until[id] = lease{until: l.until[id].until, closing: true}
		}
	}
}

// reapIdle proposes to delete unused nodes.
func (m *Member) reapIdle() {
	for _, path := range m.state.tree.Idle(m.wall) {
		x := tree.Txn{Time: m.wall, Op: tree.Op{Kind: tree.Reap, Path: path}}
		e := entry{Kind: Reap, Origin: m.config.ID, Term: m.term, Txn: x}
		m.propose([]*pb.Entry{{Data: e.append(nil)}})
	}
}

// reads are the syncs that wait. The leader tells the index of its last committed entry after a
// majority has confirmed that it still leads, and a sync is done when the member has applied that
// entry.
type reads struct {
	boot    uint64
	next    []func() // to ask for
	asked   uint64   // number of the last question
	waiting []read   // in the order of their numbers
	idle    int      // ticks without progress
}

type read struct {
	number uint64
	index  uint64 // 0 before the leader's answer
	sent   bool
	done   []func()
}

func (r *reads) init(m *Member) { r.boot = m.config.Boot }

// add asks the leader at the next flush.
func (r *reads) add(done func()) { r.next = append(r.next, done) }

func (r *reads) flush(m *Member) {
	if m.soft.Lead == raft.None {
		return
	}
	if len(r.next) > 0 {
		r.asked++
		r.waiting = append(r.waiting, read{number: r.asked, done: r.next})
		r.next = nil
	}
	for i := range r.waiting {
		if w := &r.waiting[i]; !w.sent && w.index == 0 {
			w.sent = true
			m.node.ReadIndex(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, r.boot), w.number))
		}
	}
}

// confirmed takes an answer. An answer to a later question is one to the earlier ones, too.
func (r *reads) confirmed(s raft.ReadState) {
	if len(s.RequestCtx) != 16 || binary.BigEndian.Uint64(s.RequestCtx) != r.boot {
		return
	}
	number := binary.BigEndian.Uint64(s.RequestCtx[8:])
	for i := range r.waiting {
		if w := &r.waiting[i]; w.number <= number && w.index == 0 {
			w.index = s.Index
		}
	}
	r.idle = 0
}

// serve finishes the syncs that the index suffices for.
func (r *reads) serve(applied uint64) {
	for len(r.waiting) > 0 && r.waiting[0].index != 0 && r.waiting[0].index <= applied {
		first := r.waiting[0]
		r.waiting = r.waiting[1:]
		for _, done := range first.done {
			done()
		}
	}
}

// again makes the next flush ask again.
func (r *reads) again() {
	for i := range r.waiting {
		r.waiting[i].sent = false
	}
	r.idle = 0
}

func (r *reads) tick() {
	if len(r.waiting) == 0 {
		r.idle = 0
	} else if r.idle++; r.idle >= retryTicks {
		r.again()
	}
}
