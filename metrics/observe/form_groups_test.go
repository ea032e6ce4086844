package observe

import (
	"fmt"
	"slices"
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

// TestASemaphoreIsNoLock has five sessions take turns at a line of which they watch the whole list. Whose
// node is among the first so many has its turn. A lock is one for which that is one.
func TestASemaphoreIsNoLock(t *testing.T) {
	const line = "/se"
	for name, c := range map[string]struct {
		atOnce  int
		etcd    bool // a list and a watch are two requests, and a watch is ended when it has told something
		givesUp bool // one that waits gives up at the end
		late    bool // that end comes when the next change has been told
		form    string
	}{
		"a lock":                         {atOnce: 1, form: "lock or election, children watch"},
		"a lock on etcd":                 {atOnce: 1, etcd: true, form: "lock or election, children watch"},
		"a lock for which some give up":  {atOnce: 1, givesUp: true, form: "lock or election, children watch"},
		"a lock on etcd, some give up":   {atOnce: 1, etcd: true, givesUp: true, form: "lock or election, children watch"},
		"two at once":                    {atOnce: 2, form: "semaphore, children watch"},
		"two at once on etcd":            {atOnce: 2, etcd: true, form: "semaphore, children watch"},
		"three at once":                  {atOnce: 3, form: "semaphore, children watch"},
		"two at once on etcd, told late": {atOnce: 2, etcd: true, late: true, form: "semaphore, children watch"},
		"a lock on etcd, told late":      {atOnce: 1, etcd: true, late: true, form: "lock or election, children watch"},
		"three at once, some give up":    {atOnce: 3, givesUp: true, form: "semaphore, children watch"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			all := s.sessions(5)
			var inLine []string
			nodes, armed, holds, numbers := map[int]string{}, map[int]bool{}, map[int]bool{}, map[int]int{}
			created, watches := 0, 0
			watch := func(i int, op drivers.Op) { // or ends the watch
				m := drivers.Message{Kind: drivers.Request, Op: op, Path: []byte(line), Watch: true, Number: numbers[i]}
				if op == drivers.OpUnwatch {
					m.Removes = drivers.TreeWatch
				}
				all[i].Message(s.now, m)
				m.Kind, m.Pos = drivers.Reply, s.pos
				all[i].Message(s.now, m)
				armed[i] = op == drivers.OpWatchTree
			}
			list := func(i int) {
				all[i].do(drivers.OpChildren, line, 0, !c.etcd, nil)
				armed[i] = !c.etcd
				holds[i] = slices.Index(inLine, nodes[i]) < c.atOnce
				if c.etcd && !holds[i] {
					watches++
					numbers[i] = watches
					watch(i, drivers.OpWatchTree)
				}
			}
			told := func(event drivers.EventType, node string, i int) {
				all[i].Message(s.now, drivers.Message{Kind: drivers.Notification, Event: event, Path: []byte(node), Pos: s.pos, Number: numbers[i]})
			}
			tell := func(event drivers.EventType, node string) {
				var waiting []int
				for i := range all {
					switch {
					case !armed[i] || c.etcd && event == drivers.Created:
						continue
					case c.etcd:
						told(event, node, i)
					default:
						all[i].told(drivers.ChildrenChanged, line)
					}
					if armed[i] = false; c.etcd && (!c.late || holds[i]) {
						watch(i, drivers.OpUnwatch)
					}
					if nodes[i] != "" && !holds[i] {
						waiting = append(waiting, i)
					}
				}
				for _, i := range waiting {
					old := numbers[i]
					if list(i); !c.late {
						continue
					}
					if armed[i] = true; !holds[i] {
						numbers[i], old = old, numbers[i]
						watch(i, drivers.OpUnwatch)
						numbers[i], armed[i] = old, true
					}
				}
			}
			join := func(i int) {
				created++
				nodes[i] = fmt.Sprintf("%s/l-%010d", line, created)
				all[i].do(drivers.OpCreate, nodes[i], drivers.Ephemeral|drivers.Sequential, false, nil)
				inLine = append(inLine, nodes[i])
				tell(drivers.Created, nodes[i])
				list(i)
			}
			leave := func(i int) {
				node := nodes[i]
				if c.etcd && armed[i] {
					watch(i, drivers.OpUnwatch)
				}
				all[i].remove(node)
				inLine = slices.DeleteFunc(inLine, func(o string) bool { return o == node })
				nodes[i], holds[i] = "", false
				tell(drivers.Deleted, node)
			}
			for i := range all {
				join(i)
			}
			first := func() int {
				return slices.IndexFunc([]int{0, 1, 2, 3, 4}, func(i int) bool { return nodes[i] == inLine[0] })
			}
			for range 2 * len(all) {
				holder := first()
				leave(holder)
				join(holder)
			}
			if c.givesUp {
				for i := range all {
					if !holds[i] {
						leave(i)
						break
					}
				}
			}
			for len(inLine) > 0 {
				leave(first())
			}
			r := s.a.Report()
			if len(r.Herds()) != 1 || r.Herds()[0].Form.Name != c.form {
				t.Fatalf("%d herds, want one of %q: %+v", len(r.Herds()), c.form, r.Places[0].Form)
			}
			if f := r.Herds()[0].Form; (f.Instead != "") != (c.atOnce == 1) || len(f.Forms) > 0 != (c.atOnce == 1) {
				t.Errorf("forms %q, instead of it %q, with %d turns at once", f.Forms, f.Instead, c.atOnce)
			}
		})
	}
}
