package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
)

func (s script) get(path string, pos int64) {
	s.call(drivers.Message{Op: drivers.OpGet, Path: []byte(path), Watch: true, Pos: pos})
}

func (s script) list(path string, pos int64) {
	s.call(drivers.Message{Op: drivers.OpChildren, Path: []byte(path), Watch: true, Pos: pos})
}

func (s script) set(path string, pos int64) {
	s.call(drivers.Message{Op: drivers.OpSet, Path: []byte(path), Pos: pos})
}

func (s script) create(path string, mode drivers.Mode, pos int64, err error) {
	s.call(drivers.Message{Op: drivers.OpCreate, Path: []byte(path), Mode: mode, Pos: pos, Err: err})
}

func (s script) remove(path string, pos int64) {
	s.call(drivers.Message{Op: drivers.OpDelete, Path: []byte(path), Pos: pos})
}

func (s script) told(event drivers.EventType, path string) {
	s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: event, Path: []byte(path)})
}

// contest makes all but the one that held the leader's node ask for it, and the next win.
func contest(all []script, held, next script, pos int64) {
	const node = "/demo/leader"
	next.create(node, drivers.Ephemeral, pos, nil)
	for _, s := range all {
		if s != held && s != next {
			s.create(node, drivers.Ephemeral, pos, drivers.ErrNodeExists)
		}
	}
}

// raceBeside has sessions race for a node three times, and do something before and after the race.
func raceBeside(all []script, before, after func(script, int64)) {
	raceFor(all, "/svc/leader", before, after)
}

func raceFor(all []script, node string, before, after func(script, int64)) {
	pos := int64(1)
	all[1].create(node, drivers.Ephemeral, pos, nil)
	look := func(s script) {
		s.call(drivers.Message{Op: drivers.OpExists, Path: []byte(node), Watch: true, Pos: pos})
	}
	for _, s := range all[2:] {
		look(s)
	}
	for turn := range 3 {
		holder, next := all[1+turn], all[2+turn]
		pos++
		holder.remove(node, pos)
		var woken []script
		for _, s := range all[1:] {
			if s != holder {
				s.told(drivers.Deleted, node)
				woken = append(woken, s)
			}
		}
		for _, s := range woken {
			if before != nil {
				before(s, pos)
			}
		}
		pos++
		next.create(node, drivers.Ephemeral, pos, nil)
		for _, s := range append(woken, holder) {
			if s == next {
				continue
			}
			s.create(node, drivers.Ephemeral, pos, drivers.ErrNodeExists)
			if after != nil {
				after(s, pos)
			}
			look(s)
		}
	}
}

// lost returns the error of a create that another one came before.
func lost(so bool) error {
	if so {
		return drivers.ErrNodeExists
	}
	return nil
}

// signalled has all sessions but the first watch a signal, four changes of it, and a node that all of them then try
// to create: another one each time if it is ephemeral, whose creator deletes it before the next change, else one that
// stays.
func signalled(all []script, signal, node string, mode drivers.Mode) {
	for _, s := range all[1:] {
		s.get(signal, 0)
	}
	for turn := range 4 {
		pos := int64(10*turn + 1)
		all[0].set(signal, pos)
		for _, s := range all[1:] {
			s.told(drivers.DataChanged, signal)
		}
		for i, s := range all[1:] {
			s.get(signal, pos)
			wins := i == turn && mode != 0 || turn == 0 && i == 0
			if i == turn {
				all[1+i].create(node, mode, pos+1, lost(!wins))
			}
		}
		for i, s := range all[1:] {
			if i != turn {
				s.create(node, mode, pos+2, drivers.ErrNodeExists)
			}
		}
		if mode != 0 {
			all[1+turn].remove(node, pos+3)
		}
	}
}

// logOf has the first session add an entry to a list six times, which all but the first two watch and list again after
// each change, and another one remove it.
func logOf(all []script, remover func(turn int64) script) {
	watching := all[2:]
	for _, s := range watching {
		s.list("/log", 0)
	}
	changed := func(pos int64) {
		for _, s := range watching {
			s.told(drivers.ChildrenChanged, "/log")
			s.list("/log", pos)
		}
	}
	for turn := range int64(6) {
		entry := fmt.Sprintf("/log/e-%010d", turn)
		all[0].create(entry, drivers.Sequential, 2*turn+1, nil)
		changed(2*turn + 1)
		remover(turn).remove(entry, 2*turn+2)
		changed(2*turn + 2)
	}
}

// inLine has all sessions but the first join a line, and list it with a watch whenever they are told of a change. They
// leave it in the order in which they joined, and join again if they take turns.
func inLine(all []script, turns bool) {
	var line []int // the sessions in it
	pos, number := int64(0), 0
	node := map[int]string{}
	tell := func() {
		for _, i := range line {
			all[i].told(drivers.ChildrenChanged, "/locks/a")
			all[i].list("/locks/a", pos)
		}
	}
	join := func(i int) {
		pos, number = pos+1, number+1
		node[i] = fmt.Sprintf("/locks/a/n-%010d", number)
		all[i].create(node[i], drivers.Ephemeral|drivers.Sequential, pos, nil)
		tell()
		line = append(line, i)
		all[i].list("/locks/a", pos)
	}
	for i := range all[1:] {
		join(1 + i)
	}
	for range 3 * len(line) {
		if len(line) == 0 {
			return
		}
		i := line[0]
		line = line[1:]
		pos++
		all[i].remove(node[i], pos)
		tell()
		if turns {
			join(i)
		}
	}
}

// TestVerdictsFollowFromWhatWasMeasured observes programs whose sessions do several things at once, and whose
// right verdict is known.
func TestVerdictsFollowFromWhatWasMeasured(t *testing.T) {
	const sequential = drivers.Ephemeral | drivers.Sequential
	for name, c := range map[string]struct {
		play func(all []script) // the first one is an administrator
		path string
		form string // "" if there is none
		herd bool
		// sessions that watched, that a change woke at most, notifications, and of these the useful and the wasted, −1 if unknown
		watched, most          int
		notified, useful, vain int64
		reads                  int64
	}{
		"a value that two sessions write": {func(all []script) {
			for i, writer := range []script{all[0], all[1]} {
				for _, s := range all[2:] {
					s.get("/app/config", int64(i))
				}
				writer.set("/app/config", int64(i+1))
				for _, s := range all[2:] {
					s.told(drivers.DataChanged, "/app/config")
				}
			}
		}, "/app/config", "value, watched", false, 4, 4, 8, 8, 0, 4},
		"a list that is watched from outside": {func(all []script) {
			for i := range int64(3) {
				for _, s := range all[2:] {
					s.list("/services/web", i)
				}
				all[i%2].create(fmt.Sprintf("/services/web/i-%010d", i), sequential, i+1, nil)
				for _, s := range all[2:] {
					s.told(drivers.ChildrenChanged, "/services/web")
				}
			}
		}, "/services/web", "list of nodes, watched from outside", false, 4, 4, 12, 12, 0, 8},
		"a lock beside a configuration": {func(all []script) {
			pos := int64(0)
			for _, s := range all[1:] {
				s.get("/cfg", pos)
			}
			place := func(i int) string { return fmt.Sprintf("/locks/lock-%010d", i) }
			for i := 1; i < len(all); i++ {
				pos++
				all[i].create(place(i), sequential, pos, nil)
				if i > 1 {
					all[i].call(drivers.Message{Op: drivers.OpExists, Path: []byte(place(i - 1)), Watch: true, Pos: pos})
				}
			}
			for i := 1; i < len(all); i++ {
				pos++
				all[0].set("/cfg", pos)
				for _, s := range all[1:] {
					s.told(drivers.DataChanged, "/cfg")
					s.get("/cfg", pos)
				}
				pos++
				all[i].remove(place(i), pos)
				if i+1 < len(all) {
					all[i+1].told(drivers.Deleted, place(i))
					all[i+1].call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/locks"), Pos: pos})
				}
			}
		}, "/locks/lock-#", "lock or election, predecessor", false, 4, 1, 4, 4, 0, 4},
		"a race for a node that is watched from above": {func(all []script) {
			pos := int64(1)
			all[1].create("/demo/leader", drivers.Ephemeral, pos, nil)
			for _, s := range all[1:] {
				s.list("/demo", pos)
			}
			for turn := range 3 {
				holder, next := all[1+turn], all[2+turn]
				pos++
				holder.remove("/demo/leader", pos)
				for _, s := range all[1:] {
					if s != holder {
						s.told(drivers.ChildrenChanged, "/demo")
					}
				}
				pos++
				contest(all[1:], holder, next, pos)
				for _, s := range all[1:] {
					s.list("/demo", pos)
				}
			}
		}, "/demo", "lock or election, one node, watched from above", true, 5, 4, 12, 3, 9, 9},
		"locks whose names differ in a number": {func(all []script) {
			for _, node := range []string{"/locks/1", "/locks/2"} {
				raceFor(all, node, nil, nil)
			}
		}, "/locks/#", "lock or election, one node", true, 5, 4, 24, 6, 18, 21}, // those who lost the first look at the second next
		"a race by the version of a value": {func(all []script) {
			const node = "/lease"
			pos := int64(1)
			for _, s := range all[1:] {
				s.get(node, pos)
			}
			for turn := range 3 {
				holder, next := all[1+turn], all[2+turn]
				pos++
				holder.set(node, pos)
				for _, s := range all[1:] {
					if s != holder {
						s.told(drivers.DataChanged, node)
						s.call(drivers.Message{Op: drivers.OpGet, Path: []byte(node), Pos: pos})
					}
				}
				pos++
				next.set(node, pos)
				for _, s := range all[1:] {
					if s != holder && s != next {
						s.call(drivers.Message{Op: drivers.OpSet, Path: []byte(node), Pos: pos, Err: drivers.ErrBadVersion})
					}
				}
				for _, s := range all[1:] {
					if s != next {
						s.get(node, pos)
					}
				}
			}
		}, "/lease", "lock or election, one node, set by version", true, 5, 4, 12, 3, 9, 21},
		"one session with two watches": {func(all []script) {
			all[1].list("/p", 1)
			all[1].get("/p/x", 1)
			all[0].remove("/p/x", 2)
			all[1].told(drivers.Deleted, "/p/x")
			all[1].told(drivers.ChildrenChanged, "/p")
		}, "/p", "", false, 1, 1, 1, -1, -1, 0},
		"a race whose losers write elsewhere": {func(all []script) {
			pos := int64(1)
			all[1].create("/demo/leader", drivers.Ephemeral, pos, nil)
			for turn := range 3 {
				holder, next := all[1+turn], all[2+turn]
				for _, s := range all[1:] {
					if s != holder {
						s.get("/demo/leader", pos)
					}
				}
				pos++
				holder.remove("/demo/leader", pos)
				for _, s := range all[1:] {
					if s != holder {
						s.told(drivers.Deleted, "/demo/leader")
						s.set(fmt.Sprintf("/members/m-%p", s.Tap), pos)
					}
				}
				pos++
				contest(all[1:], holder, next, pos)
			}
			for _, s := range all[1:] {
				s.get("/demo/leader", pos)
			}
		}, "/demo/leader", "lock or election, one node", true, 5, 4, 12, 3, 9, 9},
		"a race whose losers write beside it": {func(all []script) {
			raceBeside(all, func(s script, pos int64) { s.set(fmt.Sprintf("/svc/st%p", s.Tap), pos) }, nil)
		}, "/svc/leader", "lock or election, one node", true, 5, 4, 12, 3, 9, 9},
		"a race whose losers fail beside it": {func(all []script) {
			raceBeside(all, func(s script, pos int64) {
				s.call(drivers.Message{Op: drivers.OpSet, Path: []byte("/svc/x"), Pos: pos, Err: drivers.ErrBadVersion})
			}, nil)
		}, "/svc/leader", "lock or election, one node", true, 5, 4, 12, 3, 9, 9},
		"a race whose losers write beside it afterwards": {func(all []script) {
			raceBeside(all, nil, func(s script, pos int64) { s.set("/svc/x", pos) })
		}, "/svc/leader", "lock or election, one node", true, 5, 4, 12, 3, 9, 9},
		"a queue whose consumers write beside it": {func(all []script) {
			for _, s := range all[1:] {
				s.list("/app/q", 0)
			}
			woken := func(pos int64) {
				for _, s := range all[1:] {
					s.told(drivers.ChildrenChanged, "/app/q")
				}
				for _, s := range all[1:] {
					s.set("/app/stats", pos)
					s.list("/app/q", pos)
				}
			}
			for i := range int64(4) {
				item := fmt.Sprintf("/app/q/item-%010d", i)
				all[0].create(item, drivers.Sequential, 2*i+1, nil)
				woken(2*i + 1)
				all[1].remove(item, 2*i+2)
				woken(2*i + 2)
				for _, s := range all[2:] {
					s.call(drivers.Message{Op: drivers.OpDelete, Path: []byte(item), Pos: 2*i + 2, Err: drivers.ErrNoNode})
				}
			}
		}, "/app/q", "queue, all consumers watch", true, 5, 5, 40, 4, 36, 40},
		"two nodes that change together": {func(all []script) {
			for _, s := range all[1:] {
				s.get("/app/data", 0)
				s.list("/app/kids", 0)
			}
			for turn := range int64(3) {
				pos := 3 * (turn + 1)
				all[0].create(fmt.Sprintf("/app/kids/k%d", turn), 0, pos, nil)
				all[0].set("/app/data", pos+1)
				for _, s := range all[1:] {
					s.told(drivers.ChildrenChanged, "/app/kids")
					s.told(drivers.DataChanged, "/app/data")
					s.list("/app/kids", pos+1)
					s.get("/app/data", pos+1)
				}
			}
		}, "/app/kids", "list of nodes, watched from outside", false, 5, 5, 15, 15, 0, 15},
		"a node whose masters change, and that others follow": {func(all []script) {
			followers, masters := all[1:4], all[4:]
			exists := func(s script, pos int64) {
				s.call(drivers.Message{Op: drivers.OpExists, Path: []byte("/app/master"), Watch: true, Pos: pos})
			}
			masters[0].create("/app/master", drivers.Ephemeral, 1, nil)
			for _, s := range followers {
				exists(s, 1)
			}
			for turn := range int64(3) {
				pos := 10 * (turn + 1)
				master, standby := masters[turn%2], masters[1-turn%2]
				standby.create("/app/master", drivers.Ephemeral, pos, drivers.ErrNodeExists)
				exists(standby, pos)
				master.remove("/app/master", pos+1)
				for _, s := range append(followers[:3:3], standby) {
					s.told(drivers.Deleted, "/app/master")
				}
				for _, s := range followers {
					exists(s, pos+1)
				}
				standby.create("/app/master", drivers.Ephemeral, pos+2, nil)
				for _, s := range followers {
					s.told(drivers.Created, "/app/master")
					exists(s, pos+2)
				}
			}
		}, "/app/master", "lock or election, one node", false, 5, 4, 21, 21, 0, 18},
		"a log that all read and its author trims": {func(all []script) {
			logOf(all, func(int64) script { return all[0] })
		}, "/log", "list of nodes, watched from outside", false, 4, 4, 48, 48, 0, 48},
		"a queue with one worker, whose length others show": {func(all []script) {
			logOf(all, func(int64) script { return all[2] })
		}, "/log", "list of nodes, watched from outside", false, 4, 4, 48, 48, 0, 48},
		"a queue whose workers take by turns": {func(all []script) {
			logOf(all, func(turn int64) script { return all[2+turn%4] })
		}, "/log", "queue, all consumers watch", true, 4, 4, 48, 6, 42, 48},
		"a lock beside a value for which its holder waits": {func(all []script) {
			pos := int64(1)
			place := func(i int) string { return fmt.Sprintf("/app/lock/n-%010d", i) }
			for i := 1; i < len(all); i++ {
				all[i].create(place(i), sequential, pos, nil)
				if i > 1 {
					all[i].call(drivers.Message{Op: drivers.OpExists, Path: []byte(place(i - 1)), Watch: true, Pos: pos})
				}
				pos++
			}
			for i := 1; i < len(all); i++ {
				if i > 1 {
					all[i].told(drivers.Deleted, place(i-1))
					all[i].call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/app/lock"), Pos: pos})
				}
				all[i].get("/app/data", pos)
				pos++
				all[0].set("/app/data", pos)
				all[i].told(drivers.DataChanged, "/app/data")
				pos++
				all[i].remove(place(i), pos)
			}
		}, "/app/lock/n-#", "lock or election, predecessor", false, 4, 1, 4, 4, 0, 4},
		"a lock whose holder goes on watching the line": {func(all []script) {
			inLine(all, true)
		}, "/locks/a", "lock or group", false, 5, 4, 130, -1, -1, 130},
		"a group whose members leave in their order": {func(all []script) {
			inLine(all, false)
		}, "/locks/a", "group, children watch", false, 5, 4, 20, 20, 0, 20},
		"a signal beside the lock": {func(all []script) {
			signalled(all, "/svc/sig", "/svc/lock", drivers.Ephemeral)
		}, "/svc/sig", "signal before a race", true, 5, 5, 20, 4, 16, 20},
		"a signal far from the lock": {func(all []script) {
			signalled(all, "/sig", "/lock", drivers.Ephemeral)
		}, "/sig", "signal before a race", true, 5, 5, 20, 4, 16, 20},
		"a value whose watchers make sure that a node exists": {func(all []script) {
			signalled(all, "/svc/config", "/svc/ready", 0)
		}, "/svc/config", "value, watched", false, 5, 5, 20, 20, 0, 20},
		"tasks that are claimed below them": {func(all []script) {
			for _, s := range all[1:] {
				s.list("/tasks", 0)
			}
			for turn := range int64(4) {
				task := fmt.Sprintf("/tasks/t-%d", turn)
				all[0].create(task, 0, 2*turn+1, nil)
				for _, s := range all[1:] {
					s.told(drivers.ChildrenChanged, "/tasks")
				}
				for i, s := range all[1:] {
					s.list("/tasks", 2*turn+1)
					s.create(task+"/claim", drivers.Ephemeral, 2*turn+2, lost(i > 0))
				}
			}
		}, "/tasks", "race for nodes, all watch", true, 5, 5, 20, 4, 16, 20},
		"a value after whose changes all want a lock that they watch": {func(all []script) {
			for _, s := range all[1:] {
				s.get("/cfg", 0)
			}
			for turn := range int64(4) {
				all[0].set("/cfg", 2*turn+1)
				for _, s := range all[1:] {
					s.told(drivers.DataChanged, "/cfg")
				}
				for i, s := range all[1:] {
					s.get("/cfg", 2*turn+1)
					s.create("/reload", drivers.Ephemeral, 2*turn+2, lost(i > 0))
					s.call(drivers.Message{Op: drivers.OpExists, Path: []byte("/reload"), Watch: true, Pos: 2*turn + 2})
				}
			}
		}, "/cfg", "value, watched", false, 5, 5, 20, 20, 0, 20},
		"a group whose members delete their own nodes": {func(all []script) {
			member := func(s script) string { return fmt.Sprintf("/app/members/m%p", s.Tap) }
			for i, s := range all[1:] {
				s.list("/app/members", int64(i))
			}
			for i, s := range append(all[1:], all[1:]...) {
				if i < 5 {
					s.create(member(s), 0, int64(i+10), nil)
				} else {
					s.remove(member(s), int64(i+10))
				}
				for _, s := range all[1:] {
					s.told(drivers.ChildrenChanged, "/app/members")
					s.list("/app/members", int64(i+10))
				}
			}
		}, "/app/members", "group, children watch", false, 5, 5, 50, 50, 0, 50},
	} {
		t.Run(name, func(t *testing.T) {
			a := New(DefaultLimits)
			var all []script
			for i := range int64(6) {
				all = append(all, newScript(a, i+1))
			}
			c.play(all)
			for _, p := range a.Report().Places {
				if p.Path != c.path {
					continue
				}
				form, herd, useful, vain := "", false, int64(-1), int64(-1)
				if p.Form != nil {
					form, herd = p.Form.Name, p.Form.Herd
				}
				if p.Wasted != nil {
					useful, vain = *p.Useful, *p.Wasted
				}
				if form != c.form || herd != c.herd || p.Sessions != c.watched || p.FanoutMax != int64(c.most) || p.Notifications != c.notified || useful != c.useful || vain != c.vain || p.ReadsAfter != c.reads {
					t.Errorf("%q, herd %v, watched by %d, wakes %d, %d notifications, %d useful and %d in vain, %d reads; want %+v",
						form, herd, p.Sessions, p.FanoutMax, p.Notifications, useful, vain, p.ReadsAfter, c)
				}
				return
			}
			t.Errorf("no place %s", c.path)
		})
	}
}

// TestWhatNobodyWatchesIsReported has sessions that create one node, and set one by its version: most of these writes fail, and no
// watch is armed.
func TestWhatNobodyWatchesIsReported(t *testing.T) {
	a := New(DefaultLimits)
	var all []script
	for i := range int64(6) {
		all = append(all, newScript(a, i+1))
	}
	for turn := range 4 {
		for i, s := range all {
			var err error
			if turn+i > 0 {
				err = drivers.ErrNodeExists
			}
			s.create("/app", 0, 1, err)
		}
	}
	r := a.Report()
	if len(r.Places) != 1 {
		t.Fatalf("got %+v, want one place", r.Places)
	}
	p := r.Places[0]
	if p.Path != "/app" || p.Askers != 6 || p.Requests != 24 || p.Writes != 24 || p.FailedWrites != 23 || p.Watched() || p.Armed != 0 {
		t.Errorf("got %+v, want 23 of 24 writes of 6 sessions that failed, and nobody who watches", p)
	}
	if c := r.Traffic; c.FailedWrites != 23 || c.Armed != 0 || c.MostStanding != 0 {
		t.Errorf("got %+v, want 23 failed writes and no watch", c)
	}
}

// TestWatchesAreCountedAtTheirMost has watches that are armed and gone at the end.
func TestWatchesAreCountedAtTheirMost(t *testing.T) {
	a := New(DefaultLimits)
	first, second := newScript(a, 1), newScript(a, 2)
	for _, path := range []string{"/a", "/b", "/c"} {
		first.get(path, 1)
	}
	second.get("/a", 1)
	second.set("/a", 2)
	for _, s := range []script{first, second} {
		s.told(drivers.DataChanged, "/a")
	}
	first.get("/a", 2)
	if c := a.Report().Traffic; c.Armed != 5 || c.MostStanding != 4 || c.MostOfSession != 3 {
		t.Errorf("armed %d, at the same time %d, of one session %d; want 5, 4, 3", c.Armed, c.MostStanding, c.MostOfSession)
	}
}

// TestWatchesThatCannotFireAreNotLive has a client that asks with a watch whether the node before its own in a line is there, of
// which two have just gone. A watch for a node that is still to be created can fire.
func TestWatchesThatCannotFireAreNotLive(t *testing.T) {
	a := New(DefaultLimits)
	one, other := newScript(a, 1), newScript(a, 2)
	one.call(drivers.Message{Op: drivers.OpCreate, Path: []byte("/lock/n-0000000001"), Mode: drivers.Ephemeral | drivers.Sequential, Pos: 1})
	other.call(drivers.Message{Op: drivers.OpCreate, Path: []byte("/lock/n-0000000004"), Mode: drivers.Ephemeral | drivers.Sequential, Pos: 2})
	for _, path := range []string{"/lock/n-0000000003", "/lock/n-0000000002", "/lock/ready"} {
		other.call(drivers.Message{Op: drivers.OpExists, Path: []byte(path), Watch: true, Err: drivers.ErrNoNode, Pos: 3})
	}
	other.call(drivers.Message{Op: drivers.OpExists, Path: []byte("/lock/n-0000000001"), Watch: true, Pos: 4})
	r := a.Report()
	if c := r.Traffic; c.MostStanding != 4 || c.MostLive != 2 {
		t.Errorf("%d watches, of which %d can fire; want 4 and 2", c.MostStanding, c.MostLive)
	}
	other.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Request, Op: drivers.OpClose})
	other.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Reply, Op: drivers.OpClose, Pos: 5})
	if a.watches.Now != 0 || a.live.Now != 0 {
		t.Errorf("%d watches, of which %d can fire, after the session has closed; want none", a.watches.Now, a.live.Now)
	}
}

// TestWhoWasNotToldIsFound has two sessions that watch a node, of which a change tells one, and one of which it tells twice. Where
// bytes of the session are missing, or its service keeps no order, nothing is said.
func TestWhoWasNotToldIsFound(t *testing.T) {
	play := func(ordered, gap bool) (observation.Place, observation.Traffic) {
		a := New(DefaultLimits)
		var all []script
		for id := range int64(3) {
			tap := a.Open(traffic.Connection{ID: uint64(id + 1), Client: "192.0.2.1:5", At: time.Unix(1, 0)})
			tap.Session(time.Unix(1, 0), traffic.Session{ID: id + 1, Timeout: time.Minute, Ordered: ordered})
			all = append(all, script{tap})
		}
		writer, first, second := all[0], all[1], all[2]
		first.get("/a", 1)
		second.get("/a", 1)
		if gap {
			for _, s := range all {
				s.Gap(time.Unix(2, 0), 10, traffic.Late)
			}
		}
		writer.set("/a", 2)
		first.told(drivers.DataChanged, "/a")
		first.told(drivers.DataChanged, "/a")
		second.get("/b", 2)
		r := a.Report()
		return r.Places[0], r.Traffic
	}
	p, c := play(true, false)
	if p.Path != "/a" || p.Missed == nil || *p.Missed != 1 || *p.Unasked != 1 || c.Missed != 1 || c.Unasked != 1 || c.Audited != 3 {
		t.Errorf("got %+v of %+v, want one watch missed and one notification too many", c, p)
	}
	if p, c := play(true, true); c.Missed+c.Unasked > 0 {
		t.Errorf("bytes are missing: %+v of %+v, want nothing found", c, p)
	}
	if p, c := play(false, false); p.Missed != nil || c.Missed+c.Unasked+c.Audited > 0 {
		t.Errorf("a service without order: %+v of %+v, want nothing known", c, p)
	}
}
