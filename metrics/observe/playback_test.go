package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// TestHistoryWakesNobody has six clients of etcd watch a key from a revision on that lies before the watch, and the key change
// at each revision up to 20, and at 22 while they watch. Who knew the state at a revision and watches from there, or goes on
// from a watch that has ended, is woken by what came since; to the others it is history.
func TestHistoryWakesNobody(t *testing.T) {
	const now = 21 // at which the watches stand
	key := []byte("/k/x")
	client := func(a *Analysis, id int) script {
		return script{a.Open(traffic.Connection{ID: uint64(id), Client: fmt.Sprintf("192.0.2.%d:%d", id%100, id), At: time.Unix(1, 0)})}
	}
	watch := func(s script, op drivers.Op, path string, number int, from, stands int64) {
		m := drivers.Message{Kind: drivers.Request, Op: op, Path: []byte(path), Watch: true, Pos: from}
		s.Message(time.Unix(10, 0), m)
		m.Kind, m.Pos, m.Number = drivers.Reply, stands, number
		s.Message(time.Unix(10, 0), m)
	}
	told := func(s script, number int, pos int64) {
		s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: key, Pos: pos, Number: number})
	}
	node := func(s script, from int64) { watch(s, drivers.OpWatchNode, "/k/x", 7, from, now) }
	for name, c := range map[string]struct {
		watch   func(a *Analysis, s script, id int) (by script)
		from    int64 // of what the service sends
		changes int64
	}{
		"from now on":          {func(_ *Analysis, s script, _ int) script { node(s, 0); return s }, 22, 1},
		"from an old revision": {func(_ *Analysis, s script, _ int) script { node(s, 3); return s }, 3, 1},
		"from one that another client wrote, after a read": {func(_ *Analysis, s script, _ int) script {
			s.call(drivers.Message{Op: drivers.OpGet, Path: key, Pos: now})
			node(s, 3)
			return s
		}, 3, 1},
		"from an own write, after a read": {func(_ *Analysis, s script, _ int) script {
			s.call(drivers.Message{Op: drivers.OpSet, Path: []byte("/k/x"), Pos: 2})
			s.call(drivers.Message{Op: drivers.OpGet, Path: key, Pos: now})
			node(s, 3)
			return s
		}, 3, 1},
		"from after a read": {func(_ *Analysis, s script, _ int) script {
			s.call(drivers.Message{Op: drivers.OpGet, Path: key, Pos: 18})
			s.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/other"), Pos: now})
			node(s, 19)
			return s
		}, 19, 3},
		"from a list on": {func(_ *Analysis, s script, _ int) script {
			s.call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/k/"), Pos: 18})
			node(s, 18)
			return s
		}, 18, 4},
		"from the revision of a key that was read": {func(_ *Analysis, s script, _ int) script {
			s.call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/k/"), Pos: 18})
			node(s, 15)
			return s
		}, 15, 3},
		"by a connection of its own": {func(a *Analysis, s script, id int) script {
			s.call(drivers.Message{Op: drivers.OpGet, Path: key, Pos: 18})
			s = client(a, id+100)
			node(s, 19)
			return s
		}, 19, 3},
		"by another process of the host": {func(a *Analysis, s script, id int) script {
			s.call(drivers.Message{Op: drivers.OpGet, Path: key, Pos: 18})
			s = client(a, id+100)
			s.Owner(*process(id))
			node(s, 19)
			return s
		}, 19, 1},
		"a list, and a watch of it": {func(_ *Analysis, s script, _ int) script {
			s.call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/k/"), Pos: 18})
			watch(s, drivers.OpWatchTree, "/k/", 7, 19, now)
			return s
		}, 19, 3},
		"after a transaction": {func(_ *Analysis, s script, _ int) script {
			s.call(drivers.Message{Op: drivers.OpMulti, Path: key, Err: drivers.ErrNodeExists, Pos: 18})
			node(s, 19)
			return s
		}, 19, 3},
		"from any answer on": {func(_ *Analysis, s script, _ int) script {
			s.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/other"), Pos: 18})
			node(s, 19)
			return s
		}, 19, 3},
		"by a new connection": {func(a *Analysis, s script, id int) script {
			watch(s, drivers.OpWatchNode, "/k/x", 1, 0, 12)
			told(s, 1, 18)
			s.Close(time.Unix(10, 0))
			s = client(a, id+100)
			node(s, 19)
			return s
		}, 19, 4},
		"by a new connection, told of nothing": {func(a *Analysis, s script, id int) script {
			watch(s, drivers.OpWatchNode, "/k/x", 1, 0, 18)
			s.Close(time.Unix(10, 0))
			s = client(a, id+100)
			node(s, 19)
			return s
		}, 19, 3},
		"by a new stream": {func(_ *Analysis, s script, _ int) script {
			watch(s, drivers.OpWatchNode, "/k/x", 1, 0, 18)
			s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Reply, Op: drivers.OpUnwatch, Path: key, Watch: true, Number: 1})
			node(s, 19)
			return s
		}, 19, 3},
		"while the history was played": {func(a *Analysis, s script, id int) script {
			watch(s, drivers.OpWatchNode, "/k/x", 1, 3, 19)
			told(s, 1, 3)
			s.Close(time.Unix(10, 0))
			s = client(a, id+100)
			node(s, 4)
			return s
		}, 4, 2},
	} {
		a := New(DefaultLimits)
		writer := client(a, 99)
		for pos := int64(2); pos <= 20; pos++ {
			writer.call(drivers.Message{Op: drivers.OpSet, Path: key, Pos: pos})
		}
		var all []script
		for id := 1; id <= 6; id++ {
			all = append(all, c.watch(a, client(a, id), id))
		}
		for pos := c.from; pos <= 20; pos++ {
			for _, s := range all {
				told(s, 7, pos)
			}
		}
		writer.call(drivers.Message{Op: drivers.OpSet, Path: key, Pos: 22})
		for _, s := range all {
			told(s, 7, 22)
		}
		if r := a.Report().Traffic; r.Changes != c.changes || r.Notifications != 6*c.changes || r.FanoutMax != 6 {
			t.Errorf("%s: %d changes, %d notifications, at most %d woken; want %d changes that wake 6", name, r.Changes, r.Notifications, r.FanoutMax, c.changes)
		}
	}
}

// TestARefusedWatchNeverStood has three clients of etcd watch a key, and three that ask for its changes from a revision that
// was compacted, whose watches are confirmed and then refused. Those that ask from a revision that was not compacted stand,
// whatever shows it, and one that has been told of a change and is refused later has stood.
func TestARefusedWatchNeverStood(t *testing.T) {
	const stands = 21
	key := []byte("/k/x")
	end := drivers.Message{Kind: drivers.Reply, Op: drivers.OpUnwatch, Path: key, Watch: true, Number: 1}
	refusal := end
	refusal.Err = drivers.ErrUnsupported
	told := drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: key, Pos: 20, Number: 1}
	for name, c := range map[string]struct {
		then                     func(s script, at time.Time)
		watches, armed, sessions int64 // most that stand, those that were armed, and sessions that had one at once
	}{
		"refused":                 {func(s script, at time.Time) { s.Message(at, refusal) }, 3, 3, 3},
		"silent":                  {func(script, time.Time) {}, 6, 6, 6},
		"told":                    {func(s script, at time.Time) { s.Message(at, told) }, 6, 6, 6},
		"told, and refused later": {func(s script, at time.Time) { s.Message(at, told); s.Message(at, refusal) }, 4, 6, 6},
		"ended":                   {func(s script, at time.Time) { s.Message(at, end) }, 4, 6, 6},
		"its connection ends":     {func(s script, at time.Time) { s.Close(at) }, 4, 6, 4},
		"refused too late": {func(s script, at time.Time) {
			s.Message(at.Add(2*time.Second), drivers.Message{Kind: drivers.Request, Op: drivers.OpGet, Path: key})
			s.Message(at.Add(2*time.Second), refusal)
		}, 4, 6, 6},
	} {
		a := New(DefaultLimits)
		for id := 1; id <= 6; id++ {
			at := time.Unix(int64(10*id), 0)
			s := script{a.Open(traffic.Connection{ID: uint64(id), Client: fmt.Sprintf("192.0.2.%d:5", id), At: at})}
			m := drivers.Message{Kind: drivers.Request, Op: drivers.OpWatchNode, Path: key, Watch: true}
			if id > 3 {
				m.Pos = 3
			}
			s.Message(at, m)
			m.Kind, m.Pos, m.Number = drivers.Reply, stands, 1
			s.Message(at, m)
			if id > 3 {
				c.then(s, at)
			}
		}
		r := a.Report()
		if p, tr := r.Places[0], r.Traffic; p.Armed != c.armed || int64(p.Sessions) != c.sessions || tr.Armed != c.armed || tr.MostStanding != c.watches || p.Most != c.watches || p.Requests < 6 {
			t.Errorf("%s: %d of %d watches armed, by %d sessions, at most %d and %d at once; want %d, by %d, and %d at once",
				name, p.Armed, tr.Armed, p.Sessions, tr.MostStanding, p.Most, c.armed, c.sessions, c.watches)
		}
	}
}
