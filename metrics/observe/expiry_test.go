package observe

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

const place1, place2 = "/lock/lock-0000000001", "/lock/lock-0000000002"

// joinLine creates the session's place in the line.
func joinLine(s script, path string, pos int64) {
	s.call(drivers.Message{Op: drivers.OpCreate, Path: []byte(path), Mode: drivers.Ephemeral | drivers.Sequential, Pos: pos})
}

// TestExpiredHolderLetsTheNextInLine checks that the session behind one that has expired is seen
// to have its turn, although no request deleted the node ahead.
func TestExpiredHolderLetsTheNextInLine(t *testing.T) {
	a := New(DefaultLimits)
	holder, next := newScript(a, 1), newScript(a, 2)
	joinLine(holder, place1, 1)
	joinLine(next, place2, 2)
	next.call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/lock"), Pos: 2})
	next.call(drivers.Message{Op: drivers.OpExists, Path: []byte(place1), Watch: true, Pos: 2})
	holder.Close(time.Unix(11, 0))
	next.Message(time.Unix(12, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.Deleted, Path: []byte(place1)})
	next.call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/lock"), Pos: 4})
	r := a.Report()
	for _, p := range r.Places {
		if p.Form == nil || p.Notifications == 0 {
			continue
		}
		if p.Useful == nil || *p.Useful != 1 || *p.Wasted != 0 {
			t.Errorf("%s, %s: want one useful notification", p.Path, p.Form.Name)
		}
		if c := a.lines["/lock"]; c == nil || len(c.live) != 1 || !c.live[0].turn {
			t.Error("the session behind does not have its turn")
		}
		return
	}
	t.Errorf("no form with notifications in %+v", r.Places)
}

// TestSessionExpiresAfterItsTimeout checks that a session without a connection is kept for its
// timeout, for it may come back, and is lost after it.
func TestSessionExpiresAfterItsTimeout(t *testing.T) {
	a := New(DefaultLimits)
	away := newScript(a, 1)
	away.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/a"), Watch: true, Pos: 1})
	away.Close(time.Unix(20, 0))
	pass := func(seconds int64) {
		c := a.Open(traffic.Connection{ID: uint64(seconds), Client: "192.0.2.2:7", At: time.Unix(seconds, 0)})
		c.Close(time.Unix(seconds, 0))
	}
	lost := func() (lost, watches int64) { return a.all.lost, a.watches.Now }
	pass(70)
	if n, w := lost(); n != 0 || w != 1 {
		t.Errorf("after 50 s of 60: %d lost, %d watches; want 0 and 1", n, w)
	}
	pass(90)
	if n, w := lost(); n != 1 || w != 0 {
		t.Errorf("after 70 s of 60: %d lost, %d watches; want 1 and 0", n, w)
	}
}

// TestResumedSessionKeepsItsWatches checks that a session that comes back on another connection is
// the same.
func TestResumedSessionKeepsItsWatches(t *testing.T) {
	a := New(DefaultLimits)
	first := newScript(a, 1)
	first.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/a"), Watch: true, Pos: 1})
	first.Close(time.Unix(20, 0))
	again := a.Open(traffic.Connection{ID: 2, Client: "192.0.2.1:6", At: time.Unix(21, 0)})
	again.Session(time.Unix(21, 0), traffic.Session{ID: 1, Timeout: time.Minute, Resumed: true})
	r := a.Report().Traffic
	if r.Sessions != 1 || r.Resumed != 1 || r.Connections != 2 || r.StandingNow != 1 {
		t.Errorf("%d sessions, %d resumed, %d connections, %d watches; want 1, 1, 2, 1", r.Sessions, r.Resumed, r.Connections, r.StandingNow)
	}
}
