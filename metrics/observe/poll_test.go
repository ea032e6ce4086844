package observe

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestPollingForANodeThatDoesNotExist has a session ask forty times for a node that is not there: all but the first
// answer are the same as the one before, whatever the operation is. An answer after the node was there is another.
func TestPollingForANodeThatDoesNotExist(t *testing.T) {
	for _, op := range []drivers.Op{drivers.OpExists, drivers.OpGet, drivers.OpChildren} {
		s := newStage()
		p := s.session(1)
		for range 40 {
			p.do(op, "/none", 0, false, drivers.ErrNoNode)
		}
		m := drivers.Message{Kind: drivers.Request, Op: op, Path: []byte("/none")}
		p.Message(s.now, m)
		m.Kind, m.Digest = drivers.Reply, 7
		p.Message(s.now, m)
		p.do(op, "/none", 0, false, drivers.ErrNoNode)
		place := s.a.Report().Places[0]
		if place.PollsSame != 39 || place.Polls != 41 || !place.Polled() {
			t.Errorf("%v: %d of %d polls returned the same, want 39 of 41", op, place.PollsSame, place.Polls)
		}
	}
}

// TestOnlyAWatchThatIsSetIsArmed has reads with a watch of a node that does not exist: that of exists is set, no other.
func TestOnlyAWatchThatIsSetIsArmed(t *testing.T) {
	s := newStage()
	p := s.session(1)
	for range 5 {
		p.do(drivers.OpGet, "/none", 0, true, drivers.ErrNoNode)
		p.do(drivers.OpChildren, "/none", 0, true, drivers.ErrNoNode)
	}
	p.do(drivers.OpExists, "/none", 0, true, drivers.ErrNoNode)
	p.watch("/some")
	p.do(drivers.OpWatchTree, "/tree", 0, false, nil)
	p.do(drivers.OpWatchTree, "/tree", 0, false, drivers.ErrUnsupported)
	r := s.a.Report()
	if r.Traffic.Armed != 3 || r.Traffic.MostStanding != 3 {
		t.Errorf("%d watches armed, %d at once; want 3 and 3", r.Traffic.Armed, r.Traffic.MostStanding)
	}
	for _, place := range r.Places {
		if place.Armed != 1 {
			t.Errorf("%s: %d watches armed, want 1", place.Path, place.Armed)
		}
	}
}
