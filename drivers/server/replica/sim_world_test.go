package replica

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/raft/v3/raftpb"
)

// A world is one simulated ensemble with its network, disks, clocks and clients. Everything in it
// follows from the seed.
type world struct {
	seed    uint64
	r       *rand.Rand
	now     time.Duration
	queue   events
	count   int // events scheduled
	nodes   []*simNode
	clients []*simClient
	oracle  *oracle
	cut     map[[2]uint64]bool // links that lose everything
	lossy   float64            // share of messages lost
	doubled float64            // share of messages that arrive twice
	late    float64            // share of messages that arrive late
	calm    time.Duration      // since when there are no faults, or never
	sick    *simNode           // the only node with a fault, if that is known
	healing *simNode           // a node whose disk was replaced, until it has caught up
	trace   uint64             // hash of everything that happened
	stopped bool               // clients send no more
	updates updates
}

const never = time.Duration(1<<63 - 1)

// An event is something that happens at a time. Events at the same time happen in the order in which
// they were scheduled.
type event struct {
	at    time.Duration
	order int
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// A violation is what the checks found.
type violation struct{ error }

func (w *world) fail(format string, args ...any) {
	panic(violation{fmt.Errorf("at %v: %w", w.now, fmt.Errorf(format, args...))})
}

func (w *world) after(d time.Duration, do func()) {
	w.count++
	heap.Push(&w.queue, event{w.now + d, w.count, do})
}

// run lets a time pass.
func (w *world) run(d time.Duration) {
	for end := w.now + d; len(w.queue) > 0 && w.queue[0].at <= end; {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.do()
	}
}

// between returns a random duration.
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.r.Int64N(int64(high-low)+1))
}

func (w *world) chance(p float64) bool { return w.r.Float64() < p }

func newWorld(seed uint64, members int) *world {
	w := &world{seed: seed, r: rand.New(rand.NewPCG(seed, 1)), cut: map[[2]uint64]bool{}, calm: never}
	w.oracle = newOracle(w)
	var ids []uint64
	for i := range members {
		ids = append(ids, uint64(i+1))
	}
	for _, id := range ids {
		n := newNode(w, id, ids)
		w.nodes = append(w.nodes, n)
		n.start()
	}
	for range 3 + w.r.IntN(3) {
		w.clients = append(w.clients, newClient(w, false))
	}
	for range holders {
		w.clients = append(w.clients, newClient(w, true))
	}
	return w
}

// deliver sends a message through the network.
func (w *world) deliver(x Message, sections [][]byte) {
	from, to := w.nodes[x.From-1], w.nodes[x.To-1]
	copies := 1
	switch {
	case w.cut[[2]uint64{x.From, x.To}], w.chance(w.lossy):
		w.report(x, from, false)
		return
	case w.chance(w.doubled):
		copies = 2
	}
	sent, start := w.now, from.boots
	for range copies {
		d := w.between(200*time.Microsecond, 3*time.Millisecond)
		if w.chance(w.late) {
			d = w.between(0, 700*time.Millisecond)
		}
		copied := x
		copied.Raft = proto.Clone(x.Raft).(*pb.Message)
		w.after(d, func() {
			accepted := to.m != nil && from.greets(to)
			if from.boots == start {
				w.report(x, from, accepted)
			}
			if sent < from.replaced || !accepted {
				return
			}
			to.receive(copied, sections)
		})
	}
}

// report tells the sender of a snapshot what became of it.
func (w *world) report(x Message, from *simNode, ok bool) {
	if x.Raft.GetType() != pb.MsgSnap || from.m == nil {
		return
	}
	start := from.boots
	w.after(time.Millisecond, func() {
		if from.boots == start && from.m != nil {
			from.m.SnapshotSent(x.To, ok)
			from.pump()
		}
	})
}

// wreck makes one random fault.
func (w *world) wreck() {
	n := w.nodes[w.r.IntN(len(w.nodes))]
	switch w.r.IntN(11) {
	case 0, 1:
		w.crash(n)
	case 2:
		if leader := w.leader(); leader != nil {
			w.crash(leader)
		}
	case 3:
		w.isolate(n)
	case 4:
		if leader := w.leader(); leader != nil {
			w.isolate(leader)
		}
	case 5:
		w.cutOne(n)
	case 6:
		if leader := w.leader(); leader != nil && w.chance(0.6) {
			n = leader
		}
		n.frozen = w.now + w.between(200*time.Millisecond, 5*time.Second)
	case 7:
		w.lossy, w.doubled, w.late = w.r.Float64()*0.1, w.r.Float64()*0.1, w.r.Float64()*0.1
	case 8:
		w.wipe(n)
	case 9:
		w.halve(n)
	case 10:
		w.hang(n)
	}
}

// outlast lets members be half alive for longer than all time-outs, one after the other.
func (w *world) outlast() {
	for range 1 + w.r.IntN(3) {
		n := w.nodes[w.r.IntN(len(w.nodes))]
		if leader := w.leader(); leader != nil && w.chance(0.3) {
			n = leader
		} else if holder := w.holder(); holder != nil && w.chance(0.7) {
			n = holder.conn.node
		}
		if w.chance(0.4) {
			w.hang(n)
		} else {
			w.halve(n)
		}
		w.run(w.between(5*time.Second, 12*time.Second))
	}
}

// holder returns a client that has the lock and a connection, or nil.
func (w *world) holder() *simClient {
	for _, c := range w.clients {
		if c.locked && c.conn != nil {
			return c
		}
	}
	return nil
}

// halve cuts the links of a node in one direction, all or one of them, as long as the schedule lasts.
func (w *world) halve(n *simNode) {
	out, all, other := w.chance(0.7), w.chance(0.6), w.nodes[w.r.IntN(len(w.nodes))]
	w.cutFor(never, func(from, to uint64) bool {
		if !out {
			from, to = to, from
		}
		return from == n.id && (all || to == other.id)
	})
}

// hang lets a node's disk hang for up to several time-outs.
func (w *world) hang(n *simNode) {
	n.hung = w.now + w.between(time.Second, 4*simTimeout*time.Millisecond)
}

// freezeLeaders freezes one leader after the other for long enough that there is another one meanwhile. It has
// clients, and does not know that it is deposed when it goes on.
func (w *world) freezeLeaders() {
	for range 6 {
		if leader := w.leader(); leader != nil {
			leader.frozen = w.now + w.between(3*time.Second, 6*time.Second)
		}
		w.run(7 * time.Second)
	}
}

// leader returns the leader of the highest term, or nil.
func (w *world) leader() (leader *simNode) {
	for _, n := range w.nodes {
		if n.m != nil && n.m.leads() && (leader == nil || n.m.term > leader.m.term) {
			leader = n
		}
	}
	return leader
}

func (w *world) crash(n *simNode) {
	if n.m == nil {
		return
	}
	n.crash()
	w.after(w.between(50*time.Millisecond, 4*time.Second), n.start)
}

// isolate cuts a node off for a while, in one direction or both.
func (w *world) isolate(n *simNode) {
	which := 1 + w.r.IntN(3)
	w.isolateFor(n, w.between(300*time.Millisecond, 6*time.Second), which)
}

// isolateFor cuts a node off in the direction out (1), in (2) or both (3).
func (w *world) isolateFor(n *simNode, d time.Duration, which int) {
	w.cutFor(d, func(from, to uint64) bool {
		return which&1 != 0 && from == n.id || which&2 != 0 && to == n.id
	})
}

// cutOne cuts one link.
func (w *world) cutOne(n *simNode) {
	other := w.nodes[w.r.IntN(len(w.nodes))]
	w.cutFor(w.between(300*time.Millisecond, 6*time.Second), func(from, to uint64) bool { return from == n.id && to == other.id })
}

// cutFor cuts links. What they carry vanishes, and half of the times both ends are told that the connection
// broke.
func (w *world) cutFor(d time.Duration, which func(from, to uint64) bool) {
	breaks := w.chance(0.5)
	for _, a := range w.nodes {
		for _, b := range w.nodes {
			key := [2]uint64{a.id, b.id}
			if a == b || !which(a.id, b.id) {
				continue
			}
			w.cut[key] = true
			if d != never {
				w.after(d, func() { delete(w.cut, key) })
			}
			if breaks {
				a.lose(b)
				b.lose(a)
			}
		}
	}
}

// lose tells a node that the connection with another one broke.
func (n *simNode) lose(o *simNode) {
	n.later(n.w.between(0, 20*time.Millisecond), func() { n.m.Lost(o.id) })
}

// wipe replaces a node's disk by an empty one.
func (w *world) wipe(n *simNode) { w.replace(n, newDisk()) }

// replaceDisks lets clocks jump and the network fail, while nodes lose their disks or get older copies of them back, one after the other.
func (w *world) replaceDisks() {
	for range 8 + w.r.IntN(12) {
		n := w.nodes[w.r.IntN(len(w.nodes))]
		switch w.r.IntN(6) {
		case 0:
			w.wipe(n)
		case 1, 2:
			w.restore(n)
		case 3:
			n.wrong = w.between(-10000*time.Hour, 10000*time.Hour)
		default:
			w.wreck()
		}
		w.run(w.between(100*time.Millisecond, 2*time.Second))
	}
}

// restore replaces a node's disk by the copy that was made of it. If there is none, it copies the disk of a node, or that of a
// leader that nobody hears, so that others replace the end of what was copied.
func (w *world) restore(n *simNode) {
	if n.copied == nil {
		if leader := w.leader(); leader != nil && leader.copied == nil && w.chance(0.7) {
			n = leader
			w.isolate(n)
			w.run(w.between(300*time.Millisecond, 2*time.Second))
		}
		n.copied = n.disk.copy()
		return
	}
	w.replace(n, n.copied)
	n.copied = nil
}

// replace replaces a node's disk. No other disk is lost until the node has caught up.
func (w *world) replace(n *simNode, disk *simDisk) {
	if w.healing != nil || n.m == nil {
		return
	}
	n.crash()
	n.disk, n.disk.joining = disk, true
	n.replaced = w.now + 1
	w.oracle.replaced = true
	w.healing = n
	w.after(w.between(50*time.Millisecond, time.Second), n.start)
	w.watchHealing()
}

func (w *world) watchHealing() {
	w.after(50*time.Millisecond, func() {
		if n := w.healing; !n.disk.joining {
			w.healing = nil
			return
		}
		w.watchHealing()
	})
}

// level reports whether all members have applied the same entries.
func (w *world) level() bool {
	for _, n := range w.nodes {
		if n.m == nil || n.m.state.index != w.nodes[0].m.state.index || n.m.Status().Committed != n.m.state.index {
			return false
		}
	}
	return true
}

// heal ends all faults.
func (w *world) heal() {
	clear(w.cut)
	w.lossy, w.doubled, w.late = 0, 0, 0
	for _, n := range w.nodes {
		n.frozen, n.hung, n.wrong = 0, 0, 0
		n.start()
	}
	w.calm = w.now
}
