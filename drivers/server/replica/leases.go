package replica

import (
	"cmp"
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
	ids := make([]int64, 0, len(l.heard))
	for id := range l.heard {
		ids = append(ids, id)
	}
	slices.Sort(ids)
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
