package observe

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// TestTwoFormsOfALockInOneObservation observes a lock with a line and one on a single node whose
// paths are of one pattern, with watches that last, as etcd's are. Each must be recognised.
func TestTwoFormsOfALockInOneObservation(t *testing.T) {
	a := New(DefaultLimits)
	holder, next := newScript(a, 1), newScript(a, 2)
	const line, node = "/1/lock/lock-000000000", "/2/lock/lock"
	lasting := func(path string) {
		next.call(drivers.Message{Op: drivers.OpWatchNode, Path: []byte(path), Watch: true, Pos: 3})
	}
	joinLine(holder, line+"1", 1)
	joinLine(next, line+"2", 2)
	lasting(line + "1")
	lasting(node)
	for i := range int64(3) {
		holder.call(drivers.Message{Op: drivers.OpCreate, Path: []byte(node), Mode: drivers.Ephemeral, Pos: 4 + 2*i})
		next.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.Created, Path: []byte(node), Pos: 4 + 2*i})
		next.call(drivers.Message{Op: drivers.OpCreate, Path: []byte(node), Mode: drivers.Ephemeral, Err: drivers.ErrNodeExists})
		holder.call(drivers.Message{Op: drivers.OpDelete, Path: []byte(node), Pos: 5 + 2*i})
		next.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.Deleted, Path: []byte(node), Pos: 5 + 2*i})
	}
	found := map[string]string{}
	for _, p := range a.Report().Places {
		if p.Form != nil {
			found[p.Form.Name] = p.Path
		}
	}
	if found["lock or election, one node"] != "/#/lock/lock" || found["lock or election, predecessor or leader"] != "/#/lock/lock-#" || len(found) != 2 {
		t.Errorf("recognised %v; want a lock on one node and a lock by predecessor", found)
	}
}

// TestSessionWithTwoNodesWaitsForItself has one client hold a lock and wait for it, as clients of one connection do: it
// watches the node ahead of the second, which is its own, and nobody asks it to release the lock.
func TestSessionWithTwoNodesWaitsForItself(t *testing.T) {
	for range 20 { // the session's nodes have no order
		a := New(DefaultLimits)
		s := newScript(a, 1)
		joinLine(s, place1, 1)
		joinLine(s, place2, 2)
		s.call(drivers.Message{Op: drivers.OpGet, Path: []byte(place1), Watch: true, Pos: 2})
		s.call(drivers.Message{Op: drivers.OpDelete, Path: []byte(place1), Pos: 3})
		s.Message(time.Unix(11, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.Deleted, Path: []byte(place1)})
		for _, p := range a.Report().Places {
			if p.Form != nil && p.Form.Name != "lock or election, predecessor or leader" {
				t.Fatalf("recognised %q", p.Form.Name)
			}
		}
	}
}

// TestOnlyCandidatesAnnounceThemselves observes a line beside which a session has an ephemeral node: an
// announcement if it is a candidate's.
func TestOnlyCandidatesAnnounceThemselves(t *testing.T) {
	for announcer, want := range map[int]string{1: "election, acknowledged", 0: "lock or election, predecessor or leader"} {
		a := New(DefaultLimits)
		all := []script{newScript(a, 1), newScript(a, 2), newScript(a, 3)}
		joinLine(all[1], place1, 1)
		joinLine(all[2], place2, 2)
		all[2].call(drivers.Message{Op: drivers.OpGet, Path: []byte(place1), Watch: true, Pos: 2})
		all[announcer].call(drivers.Message{Op: drivers.OpCreate, Path: []byte("/lock/leader"), Mode: drivers.Ephemeral, Pos: 3})
		got := ""
		for _, p := range a.Report().Places {
			if p.Form != nil {
				got = p.Form.Name
			}
		}
		if got != want {
			t.Errorf("session %d has a node beside the line: recognised %q, want %q", announcer, got, want)
		}
	}
}

// TestLineWithALastingWatchIsNotPolled observes sessions that watch all keys below a node of etcd,
// and read that node again and again: they do not poll the line, and their form is not known.
func TestLineWithALastingWatchIsNotPolled(t *testing.T) {
	for _, c := range []struct {
		watched bool
		read    string
		want    string
	}{{false, "/lock", "lock, polled"}, {false, "/lock/", "lock, polled"}, {true, "/lock", ""}} {
		a := New(DefaultLimits)
		first, second := newScript(a, 1), newScript(a, 2)
		joinLine(first, place1, 1)
		joinLine(second, place2, 2)
		if c.watched {
			second.call(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/lock/"), Watch: true, Pos: 2})
		}
		for range 3 {
			second.call(drivers.Message{Op: drivers.OpGet, Path: []byte(c.read), Pos: 2})
		}
		got := ""
		for _, p := range a.Report().Places {
			if p.Form != nil && p.Form.Name != "names, recursive watch" {
				got = p.Form.Name
			}
		}
		if got != c.want {
			t.Errorf("watched %t, read %s: recognised %q, want %q", c.watched, c.read, got, c.want)
		}
	}
}

// TestParentOfAPathIsNoPlace observes a value whose children are listed under another number, as
// stampede's driver for etcd does: it must stay one value.
func TestParentOfAPathIsNoPlace(t *testing.T) {
	a := New(DefaultLimits)
	watcher, writer := newScript(a, 1), newScript(a, 2)
	causeChange(watcher, writer, "/3/config", 1)
	watcher.call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/4/config/"), Pos: 2})
	if p := a.Report().Places; len(p) == 0 || p[0].Form == nil || p[0].Form.Name != "value, watched" {
		t.Errorf("recognised %+v, want a watched value", p)
	}
}
