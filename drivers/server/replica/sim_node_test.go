package replica

import (
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// A simNode is one member with its disk.
type simNode struct {
	w        *world
	id       uint64
	ids      []uint64
	disk     *simDisk
	program  *program      // that it starts with
	updated  time.Duration // until when it ran with the newer program, at least; 0 if it never did
	m        *Member       // nil while it is down
	boots    int
	replaced time.Duration // when its disk was; messages from before it have no effect
	copied   *simDisk      // an older copy of its disk
	skew     float64
	offset   time.Duration // of its clock
	wrong    time.Duration // by how much its clock is ahead of what is right
	frozen   time.Duration // until when it does nothing
	hung     time.Duration // until when its disk confirms nothing
	leading  time.Duration // since when it leads
	watches  *tree.Watches
	conns    []*simConn
	received map[uint64][][]byte // snapshots from others, by index
	shot     *Snapshot
	shown    [][]byte // sections of the snapshot in progress
}

func newNode(w *world, id uint64, ids []uint64) *simNode {
	return &simNode{w: w, id: id, ids: ids, program: current, disk: newDisk(), skew: 0.85 + 0.3*w.r.Float64(), offset: w.between(0, time.Hour)}
}

const simTick = 100 * time.Millisecond

// start starts the node from its disk if it is down.
func (n *simNode) start() {
	if n.m != nil {
		return
	}
	state, err := n.disk.state(n.program)
	if err != nil {
		n.refused(err)
		return
	}
	state.counter = n.w.oracle.counter
	n.boots++
	n.watches, n.received, n.shot = tree.NewWatches(), map[uint64][][]byte{}, nil
	n.m, err = New(Config{ID: n.id, Members: n.ids, Storage: n.disk, State: state, Boot: n.w.r.Uint64(), Joining: n.disk.joining, Handler: n,
		CompareEvery: 16, program: n.program})
	if err != nil {
		n.refused(err)
		return
	}
	n.pump()
	n.tick()
}

func (n *simNode) crash() {
	n.ran()
	n.m, n.hung = nil, 0
	n.boots++
	for _, c := range slices.Clone(n.conns) {
		c.sever()
	}
	n.disk.crash(n.w, n.received)
	for _, o := range n.w.nodes {
		if o != n && n.w.chance(0.7) {
			o.lose(n)
		}
	}
}

// later calls do unless the node is down or was started again by then, and when it is not frozen.
func (n *simNode) later(d time.Duration, do func()) {
	start := n.boots
	n.w.after(d, func() {
		switch {
		case n.boots != start || n.m == nil:
		case n.frozen > n.w.now:
			n.later(n.frozen-n.w.now, do)
		default:
			n.look()
			do()
			n.pump()
		}
	})
}

// look lets the member look at the clock, which every node does before it does anything else.
func (n *simNode) look() { n.m.Look(n.clock()) }

func (n *simNode) clock() time.Duration { return time.Duration(float64(n.w.now)/n.skew) + n.offset }

func (n *simNode) tick() {
	n.later(time.Duration(float64(simTick)*n.skew), func() {
		n.m.Tick(n.clock(), n.wall())
		if n.m.Serving() && !n.w.oracle.off {
			n.w.oracle.fresh(n)
		}
		if n.m.leads() && n.leading == 0 {
			n.leading = n.w.now
		} else if !n.m.leads() {
			n.leading = 0
		}
		n.snapshot()
		n.tick()
	})
}

func (n *simNode) receive(x Message, sections [][]byte) {
	if n.frozen > n.w.now { // a thawed node reads from its connections in any order
		n.later(n.frozen-n.w.now+n.w.between(0, 5*time.Millisecond), func() { n.step(x, sections) })
		return
	}
	n.look()
	n.step(x, sections)
	n.pump()
}

func (n *simNode) step(x Message, sections [][]byte) {
	if sections != nil {
		n.received[x.Raft.GetSnapshot().GetMetadata().GetIndex()] = sections
	}
	n.m.Step(x)
}

// pump does what the member wants done.
func (n *simNode) pump() {
	if n.m == nil {
		return
	}
	n.m.Flush()
	out := n.m.Take()
	if err := n.m.Err(); err != nil {
		n.refused(err)
		return
	}
	n.raises(&out)
	n.w.oracle.followTo(n)
	for _, x := range out.Messages {
		n.w.note(x.From, x.To)
		if x.Raft.GetType() == pb.MsgSnap {
			n.w.deliver(x, n.disk.sections)
			continue
		}
		n.w.deliver(x, nil)
	}
	n.disk.joining = n.m.Joining()
	n.disk.queue = append(n.disk.queue, out.Appends...)
	n.write()
}

// write writes all queued appends with one sync.
func (n *simNode) write() {
	if n.disk.busy || len(n.disk.queue) == 0 {
		return
	}
	n.disk.busy = true
	d := n.w.between(100*time.Microsecond, 4*time.Millisecond)
	if n.w.chance(0.02) {
		d = n.w.between(0, 300*time.Millisecond)
	}
	n.await(d, len(n.disk.queue))
}

// await confirms a batch of appends after a while, or when the disk does not hang any more.
func (n *simNode) await(d time.Duration, batch int) {
	n.later(d, func() {
		if n.hung > n.w.now {
			n.await(10*time.Millisecond, batch)
			return
		}
		n.disk.busy = false
		for range batch {
			a := n.disk.queue[0]
			n.disk.queue = n.disk.queue[1:]
			n.saved(&a)
		}
	})
}

func (n *simNode) saved(a *Append) {
	if a.Snapshot == nil {
		n.disk.save(a, nil)
		n.m.Saved(a, nil)
		return
	}
	sections := n.received[a.Snapshot.GetMetadata().GetIndex()]
	n.disk.save(a, sections)
	state, err := n.program.readState(sectionsOf(sections))
	if err != nil {
		n.w.fail("node %d: %w", n.id, err)
	}
	state.counter = n.w.oracle.counter
	n.shot = nil
	n.m.Saved(a, state)
}

// snapshot takes a snapshot now and then, in pieces.
func (n *simNode) snapshot() {
	switch {
	case n.shot == nil && n.w.chance(0.02) && n.m.state.index > n.snapshotIndex():
		n.shot, n.shown = n.m.state.Snapshot(), nil
	case n.shot != nil:
		if b := n.shot.Next(); b != nil {
			n.shown = append(n.shown, b)
			return
		}
		n.keep()
	}
}

func (n *simNode) snapshotIndex() uint64 {
	s, _ := n.disk.Snapshot()
	return s.GetMetadata().GetIndex()
}

// keep saves the snapshot that was taken and forgets some of the log before it.
func (n *simNode) keep() {
	shot := n.shot
	n.shot = nil
	if shot.Index <= n.snapshotIndex() {
		return
	}
	if _, err := n.disk.CreateSnapshot(shot.Index, &pb.ConfState{Voters: n.ids}, nil); err != nil {
		n.w.fail("node %d: %w", n.id, err)
	}
	n.disk.sections = n.shown
	if err := n.disk.Compact(shot.Index - min(shot.Index-1, uint64(n.w.r.IntN(20)))); err != nil && err != raft.ErrCompacted {
		n.w.fail("node %d: %w", n.id, err)
	}
}

func sectionsOf(all [][]byte) func() ([]byte, error) {
	return func() ([]byte, error) {
		if len(all) == 0 {
			return nil, io.EOF
		}
		first := all[0]
		all = all[1:]
		return first, nil
	}
}

// Apply implements Handler.
func (n *simNode) Apply(a *Applied) {
	n.w.oracle.applied(n, a)
	for _, e := range a.Events {
		n.watches.Fire(e, a.Result.Zxid)
	}
	owner, open := n.m.state.Owner(a.Session)
	for _, c := range slices.Clone(n.conns) {
		moved, ended := open && owner.Generation != c.generation, !open && !c.closing
		if c.session == a.Session && c.generation != 0 && (moved || ended) {
			n.w.oracle.severs(c, "its session moved or ended")
			c.sever()
		}
	}
}

// Suspend implements Handler.
func (n *simNode) Suspend() {
	for _, c := range slices.Clone(n.conns) {
		n.w.oracle.severs(c, "it serves no clients")
		c.sever()
	}
}

// Report implements Handler.
func (n *simNode) Report(string) {}

// note adds to the trace.
func (w *world) note(values ...uint64) {
	for _, v := range values {
		w.trace = (w.trace ^ v ^ uint64(w.now)) * 1099511628211
	}
}

// A seededReader is the randomness of raft's election time-outs, which are the only thing in a member
// that its inputs do not determine.
type seededReader struct{ *rand.ChaCha8 }
