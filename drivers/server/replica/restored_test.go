package replica

import (
	"math"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
)

// TestARestoredTail restores a disk that was copied while its node was a leader that nobody heard: the copy ends with entries
// that were never committed, and that others have replaced since. The leader of then relies on what the node has confirmed.
// Its heartbeats must not make the node apply what it has instead.
func TestARestoredTail(t *testing.T) {
	simulateEach(t, func(w *world) {
		if w.oracle.counter < math.MaxUint32 {
			return // leaders hand over all the time
		}
		w.run(3 * time.Second)
		n := w.leader()
		if n == nil {
			w.fail("no leader")
		}
		w.isolateFor(n, 4*time.Second, 3)
		for range 300 { // more than the next leader writes until the disk is restored
			n.m.propose([]*pb.Entry{{Data: n.m.encode(nil, &entry{Kind: Register, Origin: n.id, Boot: 1, Before: 1})}}) // it has no effect
			n.pump()
		}
		w.run(time.Second)
		copied := n.disk.copy()
		w.run(5 * time.Second)
		leader := w.leader()
		if leader == nil || leader == n || n.m.state.index >= w.lastOf(copied) {
			w.fail("no other leader, or it has written too much")
		}
		w.replace(n, copied)
		w.run(time.Second)
		w.settle()
	})
}

func (w *world) lastOf(d *simDisk) uint64 {
	last, err := d.LastIndex()
	if err != nil {
		w.fail("%w", err)
	}
	return last
}
