package replica

import (
	"math"
	"testing"
	"time"

	"go.etcd.io/raft/v3"
)

// A leader whose disk hangs hands over to a member whose disk does not, and calls no election. Sessions whose
// clients vanish after that end as all others, and the member serves again when its disk does.
func TestLeaderWhoseDiskHangs(t *testing.T) {
	simulateEach(t, hangLeader)
}

func hangLeader(w *world) {
	if w.oracle.counter < math.MaxUint32 {
		return // leaders hand over all the time, and give sessions their whole time-outs
	}
	w.run(3 * time.Second)
	was := w.leader()
	if was == nil {
		w.fail("no leader")
	}
	was.hung = never
	w.run(4 * time.Second)
	if now := w.leader(); now == nil || now == was {
		w.fail("member %d, whose disk hangs, leads on", was.id)
	}
	c := w.clients[0]
	for !c.ready {
		w.run(100 * time.Millisecond)
	}
	session := c.session
	c.vanish()
	c.away = w.now + time.Minute
	for range 400 { // it leads no term until its disk works
		w.run(50 * time.Millisecond)
		if was.m.soft.RaftState != raft.StateFollower {
			w.fail("member %d, whose disk hangs, is %v", was.id, was.m.soft.RaftState)
		}
	}
	if _, ended := w.oracle.closed[session]; !ended {
		w.fail("session %x lives on without its client", session)
	}
	c.away = 0
	w.heal()
	w.run(6 * time.Second)
	if !was.m.Serving() {
		w.fail("member %d does not serve, although its disk works again", was.id)
	}
}
