package observe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A contender is a session that watches by one connection and acts by another, which may be the same.
type contender struct{ watches, acts actor }

// contenders returns sessions that do both, or pairs of sessions from one host each.
func contenders(s *stage, n int, pairs bool) (all []contender) {
	for i := range n {
		one := s.session(int64(i + 1))
		all = append(all, contender{one, one})
		if pairs {
			other := s.a.Open(traffic.Connection{ID: uint64(100 + i), Client: fmt.Sprintf("192.0.2.%d:6", i+1), At: s.now})
			other.Session(s.now, traffic.Session{ID: int64(100 + i), Timeout: 10 * time.Second, Ordered: true})
			all[i].acts = actor{s, other, int64(100 + i)}
		}
	}
	return all
}

// TestTheVerdictFollowsFromWhoLoses has five sessions do something twelve times after a change has woken them. Whether that is a herd
// follows from what each of them tried, and got.
func TestTheVerdictFollowsFromWhoLoses(t *testing.T) {
	const n, turns = 5, 12
	const herd, none, unknown = "herd", "no herd", "not known"
	item := func(turn int) string { return fmt.Sprintf("/app/q/job-%c", 'a'+turn) }
	claim := func(turn int) string { return fmt.Sprintf("/app/claims/job-%c", 'a'+turn) }
	told := func(all []contender, e drivers.EventType, path string) {
		for _, c := range all {
			c.watches.told(e, path)
		}
	}
	lists := func(all []contender) {
		for _, c := range all {
			c.watches.list("/app/q")
		}
	}
	exists := func(c contender, path string, there bool) {
		var err error
		if !there {
			err = drivers.ErrNoNode
		}
		c.watches.do(drivers.OpExists, path, 0, true, err)
	}
	// take has the first of the sessions succeed.
	take := func(all []contender, turn int, op drivers.Op, path string, mode drivers.Mode, err error) {
		for i := range all {
			c := all[(turn+i)%n]
			if i == 0 {
				c.acts.do(op, path, mode, false, nil)
			} else {
				c.acts.do(op, path, mode, false, err)
			}
		}
	}
	queue := func(pairs bool) func(*stage) string {
		return func(s *stage) string {
			producer, all := s.session(50), contenders(s, n, pairs)
			lists(all)
			for turn := range turns {
				producer.do(drivers.OpCreate, item(turn), 0, false, nil)
				told(all, drivers.ChildrenChanged, "/app/q")
				lists(all)
				take(all, turn, drivers.OpDelete, item(turn), 0, drivers.ErrNoNode)
				told(all, drivers.ChildrenChanged, "/app/q")
				lists(all)
				s.pass(time.Second)
			}
			return "/app/q"
		}
	}
	claims := func(mode drivers.Mode, pairs bool) func(*stage) string {
		return func(s *stage) string {
			producer, all := s.session(50), contenders(s, n, pairs)
			lists(all)
			for turn := range turns {
				producer.do(drivers.OpCreate, item(turn), 0, false, nil)
				told(all, drivers.ChildrenChanged, "/app/q")
				lists(all)
				take(all, turn, drivers.OpCreate, claim(turn), mode, drivers.ErrNodeExists)
				s.pass(time.Second)
			}
			return "/app/q"
		}
	}
	for name, c := range map[string]struct {
		play    func(*stage) (path string)
		verdict string
	}{
		"items of any name that all race to delete":       {queue(false), herd},
		"they watch by one session and delete by another": {queue(true), unknown},
		"claims that go":   {claims(drivers.Ephemeral, false), herd},
		"claims that stay": {claims(0, false), herd},
		"they watch by one session and claim by another": {claims(0, true), unknown},
		"items below a recursive watch": {func(s *stage) string {
			producer, all := s.session(50), contenders(s, n, false)
			for _, c := range all {
				c.watches.do(drivers.OpWatchTree, "/app/q", 0, true, nil)
			}
			for turn := range turns {
				producer.do(drivers.OpCreate, item(turn), 0, false, nil)
				told(all, drivers.Created, item(turn))
				take(all, turn, drivers.OpDelete, item(turn), 0, drivers.ErrNoNode)
				told(all, drivers.Deleted, item(turn))
				s.pass(time.Second)
			}
			return "/app/q"
		}, herd},
		"a node that they look for before they create it": {func(s *stage) string {
			const lock = "/app/lock"
			all := contenders(s, n, false)
			all[0].acts.create(lock, nil)
			for _, c := range all[1:] {
				exists(c, lock, true)
			}
			for turn := range turns {
				held, next := all[turn%n], (turn+1)%n
				held.acts.remove(lock)
				for i, c := range all {
					if i != turn%n {
						c.watches.told(drivers.Deleted, lock)
						exists(c, lock, false)
					}
				}
				all[next].acts.do(drivers.OpCreate, lock, drivers.Ephemeral, false, nil)
				for i, c := range all {
					if i == turn%n {
						exists(c, lock, true)
						continue
					}
					if c.watches.told(drivers.Created, lock); i != next {
						c.acts.create(lock, drivers.ErrNodeExists)
						exists(c, lock, true)
					}
				}
				s.pass(time.Second)
			}
			return lock
		}, herd},
		"a node that they look for without a watch, try to create, and watch if it is there": {func(s *stage) string {
			const lock = "/app/lock"
			all := contenders(s, n, false)
			take(all, 0, drivers.OpCreate, lock, drivers.Ephemeral, drivers.ErrNodeExists)
			for _, c := range all[1:] {
				exists(c, lock, true)
			}
			for turn := range turns {
				held, next := all[turn%n], all[(turn+1)%n]
				held.acts.remove(lock)
				for _, c := range all {
					if c != held {
						c.watches.told(drivers.Deleted, lock)
						c.watches.do(drivers.OpExists, lock, 0, false, drivers.ErrNoNode)
					}
				}
				next.acts.create(lock, nil)
				for _, c := range all {
					if c != held && c != next {
						c.acts.create(lock, drivers.ErrNodeExists)
						exists(c, lock, true)
					}
				}
				held.acts.create(lock, drivers.ErrNodeExists)
				exists(held, lock, true)
				s.pass(time.Second)
			}
			return lock
		}, herd},
		"they watch a node by one session and race for it by another": {func(s *stage) string {
			const lock = "/app/lock"
			all := contenders(s, n, true)
			for turn := range turns {
				take(all, turn, drivers.OpCreate, lock, drivers.Ephemeral, drivers.ErrNodeExists)
				for _, c := range all {
					exists(c, lock, true)
				}
				all[turn%n].acts.remove(lock)
				told(all, drivers.Deleted, lock)
				s.pass(time.Second)
			}
			return lock
		}, unknown},
		"several locks below one recursive watch": {func(s *stage) string {
			all := contenders(s, n+1, false)
			lock := func(i int) string { return []string{"/app/locks/one", "/app/locks/two"}[i%2] }
			for i, c := range all {
				c.watches.do(drivers.OpWatchTree, "/app/locks", 0, true, nil)
				c.acts.create(lock(i), lost(i > 1))
			}
			for turn := range turns {
				is := func(i int) bool { return i%2 == turn%2 }
				held := (turn) % (n + 1)
				all[held].acts.remove(lock(turn))
				told(all, drivers.Deleted, lock(turn))
				next := (held + 2) % (n + 1)
				all[next].acts.create(lock(turn), nil)
				for i, c := range all {
					if is(i) && i != next && i != held {
						c.acts.create(lock(turn), drivers.ErrNodeExists)
					}
				}
				told(all, drivers.Created, lock(turn))
				s.pass(time.Second)
			}
			return "/app/locks/one"
		}, herd},
		"a value that says whose turn it is": {func(s *stage) string {
			const turnOf = "/app/turn"
			holder, all := s.session(50), contenders(s, n, false)
			read := func() {
				for _, c := range all {
					c.watches.watch(turnOf)
				}
			}
			read()
			for turn := range turns {
				holder.set(turnOf) // it is free
				told(all, drivers.DataChanged, turnOf)
				read()
				take(all, turn, drivers.OpSet, turnOf, 0, drivers.ErrBadVersion)
				told(all, drivers.DataChanged, turnOf)
				read()
				s.pass(time.Second)
			}
			return turnOf
		}, herd},
		"a value that all change, until they succeed": {func(s *stage) string {
			const count = "/app/count"
			all := contenders(s, n, false)
			read := func() {
				for _, c := range all {
					c.watches.watch(count)
				}
			}
			read()
			for turn := range turns * n {
				take(all, turn, drivers.OpSet, count, 0, drivers.ErrBadVersion)
				told(all, drivers.DataChanged, count)
				read()
			}
			return count
		}, none},
		"a node that all wanted once and then follow": {func(s *stage) string {
			const leader = "/app/leader"
			all := contenders(s, n, false)
			take(all, 0, drivers.OpCreate, leader, drivers.Ephemeral, drivers.ErrNodeExists)
			for range turns {
				for _, c := range all[1:] {
					exists(c, leader, true)
				}
				all[0].acts.remove(leader)
				told(all[1:], drivers.Deleted, leader)
				for _, c := range all[1:] {
					exists(c, leader, false)
				}
				all[0].acts.create(leader, nil)
				told(all[1:], drivers.Created, leader)
				s.pass(time.Second)
			}
			return leader
		}, none},
		"the leader closes first and all others then": {func(s *stage) string {
			const leader = "/app/leader"
			all := contenders(s, n, false)
			take(all, 0, drivers.OpCreate, leader, drivers.Ephemeral, drivers.ErrNodeExists)
			for _, c := range all[1:] {
				c.watches.do(drivers.OpWatchNode, leader, 0, true, nil)
			}
			for _, c := range all {
				c.acts.do(drivers.OpClose, "", 0, false, nil)
				if c == all[0] {
					told(all[1:], drivers.Deleted, leader)
				}
			}
			return leader
		}, none},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			path := c.play(s)
			r, got := s.a.Report(), none
			switch {
			case len(r.Herds()) > 0:
				got = herd
			case len(r.Undecided()) > 0:
				got = unknown
			}
			if got != c.verdict {
				p := placeAt(t, r, path)
				t.Errorf("%s, want %s: %+v with %s", got, c.verdict, p.Form, counts(p))
			}
		})
	}
}

// TestALeaseThatIsRevokedEndsATurn has clients of etcd wait for their turn with a key each below a prefix, which they watch for good. A key
// ends when its owner revokes the lease. That may be a lock, whatever the keys are called and however deep they are. It is one if
// the keys stand in a line, and who is first reads it no more.
func TestALeaseThatIsRevokedEndsATurn(t *testing.T) {
	const clients, turns = 5, 15
	for _, c := range []struct {
		name   string
		busy   bool // who is first reads no more
		known  bool
		useful int64 // turns, and what they are told before they stand in line
	}{{"/app/line/worker-%c", false, false, 0}, {"/app/line/host-%c/worker", false, false, 0}, {"/app/line/worker-%c", true, false, 0},
		{"/app/line/%016x", false, false, 0}, {"/app/line/%016x", true, true, 1 + turns + 4 + 3 + 2 + 1}} {
		a := New(DefaultLimits)
		pos := int64(1)
		var all []script
		var line []int
		key := make([]string, clients)
		list := func(i int) {
			all[i].call(drivers.Message{Op: drivers.OpChildren, Path: []byte("/app/line/"), Pos: pos})
		}
		for i := range clients {
			s := script{a.Open(traffic.Connection{ID: uint64(i + 1), Client: fmt.Sprintf("192.0.2.%d:5", i), At: time.Unix(1, 0)})}
			s.call(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/app/line/"), Watch: true, Number: 1, Pos: pos})
			all = append(all, s)
		}
		first := -1 // it knows that it is
		changed := func(e drivers.EventType, key string) {
			for i, s := range all {
				if s.event(e, key, pos); !c.busy || i != first {
					list(i)
				}
			}
			if len(line) > 0 {
				first = line[0]
			}
		}
		join := func(i int, lease int64) {
			pos++
			mode := drivers.Ephemeral
			if key[i] = fmt.Sprintf(c.name, 'a'+i); strings.HasSuffix(c.name, "x") {
				key[i], mode = fmt.Sprintf(c.name, 1<<40+lease), mode|drivers.Sequential
			}
			all[i].granted(lease)
			all[i].Lease(time.Unix(10, 0), lease)
			all[i].call(drivers.Message{Op: drivers.OpSet, Mode: mode, Path: []byte(key[i]), Pos: pos})
			line = append(line, i)
			changed(drivers.Created, key[i])
		}
		for i := range clients {
			join(i, int64(100+i))
		}
		for turn := range turns {
			i, lease := turn%clients, int64(100+turn)
			pos++
			all[i].Lease(time.Unix(10, 0), lease)
			all[i].call(drivers.Message{Op: drivers.OpClose, Pos: pos})
			line, first = line[1:], -1
			changed(drivers.Deleted, key[i])
			join(i, lease+clients)
		}
		r := a.Report()
		if known := len(r.Herds()) > 0; known != c.known || !known && len(r.Undecided()) == 0 {
			t.Errorf("%s, busy %v: a herd %v, want %v, else in doubt: %+v", c.name, c.busy, known, c.known, r.Places)
		} else if known && *r.Herds()[0].Useful != c.useful {
			t.Errorf("%s: %s, want %d useful", c.name, counts(r.Herds()[0]), c.useful)
		}
	}
}
