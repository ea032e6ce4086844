package observe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// placeAt returns the place of a path.
func placeAt(t *testing.T, r observation.Report, path string) observation.Place {
	t.Helper()
	for _, p := range r.Places {
		if p.Path == path {
			return p
		}
	}
	t.Fatalf("no place %s in %+v", path, r.Places)
	return observation.Place{}
}

// TestWhoOnlyFollowsCannotLose has candidates race for a node ten times, and others follow it: each change tells all of
// them, and they read the node again, before the candidates or after them. Only candidates lose.
func TestWhoOnlyFollowsCannotLose(t *testing.T) {
	const node, turns = "/app/leader", 10
	for _, followers := range []int{0, 8, 30} {
		for _, candidates := range []int{2, 3, 5} {
			for _, first := range []bool{true, false} {
				s := newStage()
				all := s.sessions(followers + candidates)
				follow, race := all[:followers], all[followers:]
				read := func(e drivers.EventType) {
					for _, f := range follow {
						f.told(e, node)
					}
				}
				again := func() {
					for _, f := range follow {
						f.watch(node)
					}
				}
				again()
				race[0].create(node, nil)
				read(drivers.Created)
				again()
				for _, c := range race[1:] {
					c.create(node, drivers.ErrNodeExists)
					c.watch(node)
				}
				for turn := range turns {
					held, next := race[turn%candidates], race[(turn+1)%candidates]
					s.pass(time.Second)
					held.remove(node)
					read(drivers.Deleted)
					for _, c := range race {
						if c != held {
							c.told(drivers.Deleted, node)
						}
					}
					if first {
						again()
					}
					next.create(node, nil)
					if first {
						read(drivers.Created)
					}
					again()
					for _, c := range race {
						if c != next {
							c.create(node, drivers.ErrNodeExists)
							c.watch(node)
						}
					}
				}
				p := placeAt(t, s.a.Report(), node)
				changes := 1 + turns // of which the followers are told
				if first {
					changes += turns
				}
				useful, wasted := int64(followers*changes+turns), int64(turns*(candidates-2))
				herd := wasted > useful
				if p.Form == nil || p.Wasted == nil || *p.Wasted != wasted || *p.Useful != useful || p.Herd() != herd || p.Followers != followers || p.Undecided() {
					t.Errorf("%d candidates, %d followers that read first: %v: %+v with %v, herd %v, %d followers; want %d useful, %d wasted, herd %v",
						candidates, followers, first, p.Form, counts(p), p.Herd(), p.Followers, useful, wasted, herd)
					continue
				}
				if who := fmt.Sprintf("%d sessions watch the node and race", candidates); !strings.HasPrefix(p.Form.Evidence, who) {
					t.Errorf("%d candidates: evidence %q", candidates, p.Form.Evidence)
				}
			}
		}
	}
}

func counts(p observation.Place) string {
	if p.Wasted == nil {
		return "unknown counts"
	}
	return fmt.Sprintf("%d useful, %d wasted", *p.Useful, *p.Wasted)
}

// prefixLine has clients of etcd with a key each below a prefix, that list it and watch all of it from there until they are
// told, and then list it again. They leave in the order in which they came, or, as members of a group, in any, and come
// again. Their keys are named after leases, or after the clients.
func prefixLine(put, group, named, revokes bool) observation.Report {
	const clients, turns = 6, 24
	a := New(DefaultLimits)
	pos, number := int64(1), 0
	var all []script
	for i := range clients {
		s := script{a.Open(traffic.Connection{ID: uint64(i + 1), Client: fmt.Sprintf("192.0.2.%d:5", i), At: time.Unix(1, 0)})}
		s.granted(int64(100 + i))
		all = append(all, s)
	}
	below := []byte("/app/line/")
	key, lease := make([]string, clients), make([]int64, clients)
	for i := range lease {
		lease[i] = int64(100 + i)
	}
	watch := func(i int) {
		all[i].call(drivers.Message{Op: drivers.OpChildren, Path: below, Pos: pos})
		number++
		all[i].call(drivers.Message{Op: drivers.OpWatchTree, Path: below, Watch: true, Number: number, Pos: pos})
	}
	var line []int
	watches := map[int]bool{}
	tell := func(e drivers.EventType, path string) {
		for i := range clients {
			if watches[i] {
				all[i].event(e, path, pos)
				all[i].Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Reply, Op: drivers.OpUnwatch, Path: below, Watch: true, Removes: drivers.TreeWatch, Pos: pos})
			}
		}
		for i := range clients {
			switch {
			case !watches[i]:
			case !group && line[0] == i: // it has its turn
				all[i].call(drivers.Message{Op: drivers.OpChildren, Path: below, Pos: pos})
				watches[i] = false
			default:
				watch(i)
			}
		}
	}
	join := func(i int) {
		pos++
		mode := drivers.Ephemeral | drivers.Sequential
		if key[i] = fmt.Sprintf("/app/line/%016x", 1<<40+pos); named {
			key[i], mode = fmt.Sprintf("/app/line/worker-%c", 'a'+i), drivers.Ephemeral
		}
		if revokes {
			lease[i] = 1000 + pos
			all[i].granted(lease[i])
		}
		all[i].Lease(time.Unix(10, 0), lease[i])
		if put {
			all[i].call(drivers.Message{Op: drivers.OpSet, Mode: mode, Path: []byte(key[i]), Pos: pos})
		} else {
			all[i].create(key[i], mode, pos, nil)
		}
		line = append(line, i)
		tell(drivers.Created, key[i])
		if group || line[0] != i {
			watch(i)
			watches[i] = true
		} else {
			all[i].call(drivers.Message{Op: drivers.OpChildren, Path: below, Pos: pos})
		}
	}
	for i := range clients {
		join(i)
	}
	for turn := range turns {
		at := 0
		if group {
			at = turn*3%(clients-1) + 1
		}
		i := line[at]
		line = append(append([]int(nil), line[:at]...), line[at+1:]...)
		watches[i] = false
		pos++
		if revokes {
			all[i].Lease(time.Unix(10, 0), lease[i])
			all[i].call(drivers.Message{Op: drivers.OpClose, Pos: pos})
		} else {
			all[i].remove(key[i], pos)
		}
		tell(drivers.Deleted, key[i])
		join(i)
	}
	return a.Report()
}

// TestPrefixIsTheNodeAbove observes a lock whose waiters watch a whole prefix of etcd, with a key that they create or put,
// and a group whose members do: one is a herd, and all members want to know. Where names tell no order, members that come again in any
// order take no turns.
func TestPrefixIsTheNodeAbove(t *testing.T) {
	for _, revokes := range []bool{false, true} {
		for _, put := range []bool{false, true} {
			if p := placeAt(t, prefixLine(put, false, false, revokes), "/app/line/#"); p.Form == nil || p.Form.Name != "lock or election, children watch" || !p.Herd() || *p.Useful != 24 {
				t.Errorf("a lock, put %v, revokes %v: %+v with %s; want a herd, 24 turns", put, revokes, p.Form, counts(p))
			}
			if p := placeAt(t, prefixLine(put, true, false, revokes), "/app/line/#"); p.Form == nil || p.Form.WaitFor != observation.News || p.Herd() || *p.Wasted != 0 {
				t.Errorf("a group, put %v, revokes %v: %+v with %s; want that all want to know", put, revokes, p.Form, counts(p))
			}
			if p := placeAt(t, prefixLine(put, true, true, revokes), "/app/line"); p.Form == nil || p.Form.WaitFor != observation.News || p.Herd() || *p.Wasted != 0 {
				t.Errorf("a group by own names, put %v, revokes %v: %+v with %s; want that all want to know", put, revokes, p.Form, counts(p))
			}
		}
	}
}

// TestWhoComesAgainMayWaitForATurn has sessions with a node each, whose names tell no order, watch all nodes, delete their
// own and come again in turn: it may be a lock, and so it is not said that all want to know. If they come again in any order, they are
// members that register again.
func TestWhoComesAgainMayWaitForATurn(t *testing.T) {
	for _, revokes := range []bool{false, true} {
		for _, put := range []bool{false, true} {
			if p := placeAt(t, prefixLine(put, false, true, revokes), "/app/line"); p.Form == nil || p.Form.Name != "lock or group" || !p.Undecided() {
				t.Errorf("etcd, put %v, revokes %v: %+v with %s; want that it is not known", put, revokes, p.Form, counts(p))
			}
		}
	}
	orders := map[string]struct {
		next  func(line []int, turn int) int
		clear bool
	}{
		"the oldest":            {func(line []int, _ int) int { return line[0] }, false},
		"the youngest":          {func(line []int, _ int) int { return line[len(line)-1] }, false},
		"the lowest name":       {func(line []int, _ int) int { return slices.Min(line) }, false},
		"the highest name":      {func(line []int, _ int) int { return slices.Max(line) }, false},
		"one of two":            {func(line []int, turn int) int { return line[turn%2] }, false},
		"any":                   {func(line []int, turn int) int { return line[turn*3%4] }, true},
		"one of ten by chance":  {func(line []int, turn int) int { return line[turn%10/9*3] }, false},
		"one of nine by chance": {func(line []int, turn int) int { return line[turn%9/8*3] }, true},
	}
	for name, order := range orders {
		for _, recursive := range []bool{false, true} {
			s := newStage()
			all := s.sessions(5)
			var line []int
			away := -1 // the one that left before
			mine := func(i int) string { return fmt.Sprintf("/app/line/host-%c", 'a'+i) }
			for i, c := range all {
				if c.create(mine(i), nil); recursive {
					c.do(drivers.OpWatchTree, "/app/line", 0, true, nil)
				}
				line = append(line, i)
			}
			for turn := range 90 {
				for _, c := range all {
					c.do(drivers.OpChildren, "/app/line", 0, !recursive, nil)
				}
				i := order.next(line, turn)
				all[i].remove(mine(i))
				for _, c := range all {
					if recursive {
						c.told(drivers.Deleted, mine(i))
					} else {
						c.told(drivers.ChildrenChanged, "/app/line")
					}
				}
				if line = slices.DeleteFunc(line, func(o int) bool { return o == i }); away >= 0 {
					all[away].create(mine(away), nil)
					line = append(line, away)
				}
				away = i
			}
			if p := placeAt(t, s.a.Report(), "/app/line"); p.Form == nil || (p.Form.Name == "lock or group") == order.clear || p.Undecided() == order.clear || p.Herd() {
				t.Errorf("ZooKeeper, %s, recursive %v: %+v with %s; want that it is known: %v", name, recursive, p.Form, counts(p), order.clear)
			}
		}
	}
}

// TestWhoDeletesNeedNotTakeItems has sessions keep a recursive watch on nodes that they delete. If they fail to, since another one
// was faster, it is a queue; if none ever does, they may clean up, or drop what a cache holds.
func TestWhoDeletesNeedNotTakeItems(t *testing.T) {
	for _, race := range []bool{false, true} {
		s := newStage()
		all := s.sessions(5)
		writer, watchers := all[0], all[1:]
		for _, w := range watchers {
			w.do(drivers.OpWatchTree, "/app/q", 0, true, nil)
		}
		for turn := range 12 {
			item := fmt.Sprintf("/app/q/item-%d", turn)
			writer.do(drivers.OpCreate, item, 0, false, nil)
			for _, w := range watchers {
				w.told(drivers.Created, item)
			}
			taker := watchers[turn%len(watchers)]
			taker.remove(item)
			for _, w := range watchers {
				w.told(drivers.Deleted, item)
				if race && w.id != taker.id {
					w.do(drivers.OpDelete, item, 0, false, drivers.ErrNoNode)
				}
			}
		}
		name, undecided := "queue or names", true
		if race {
			name, undecided = "queue, all consumers watch", false
		}
		if p := placeAt(t, s.a.Report(), "/app/q"); p.Form == nil || p.Form.Name != name || p.Undecided() != undecided || !race && p.Herd() {
			t.Errorf("race %v: %+v with %s; want %s", race, p.Form, counts(p), name)
		}
	}
}

// TestALineWhoseMembersWatchThemselvesIsNoRing has sessions wait in line by a watch on the whole of it, which watch their
// own nodes for requests to release, too, and write the holders in the node above. Nobody asks for a release.
func TestALineWhoseMembersWatchThemselvesIsNoRing(t *testing.T) {
	const node = "/app/lock"
	s := newStage()
	all := s.sessions(5)
	mine := make([]string, len(all))
	join := func(i, n int) {
		mine[i] = fmt.Sprintf("%s/lock-%010d", node, n)
		all[i].do(drivers.OpCreate, mine[i], drivers.Ephemeral|drivers.Sequential, false, nil)
		all[i].watch(mine[i])
		all[i].get(node)
		all[i].list(node)
	}
	for i := range all {
		join(i, i)
	}
	for turn := range 15 {
		i := turn % len(all)
		all[i].set(node)
		all[i].remove(mine[i])
		for j, c := range all {
			if j != i {
				c.told(drivers.ChildrenChanged, node)
			}
		}
		for j, c := range all {
			if j != i {
				c.get(node)
				c.list(node)
			}
		}
		join(i, len(all)+turn)
	}
	if p := placeAt(t, s.a.Report(), node); p.Form == nil || p.Form.WaitFor != observation.Turn || !p.Herd() {
		t.Errorf("%+v with %s, want a lock that is a herd", p.Form, counts(p))
	}
}

// TestANotificationOfAnEarlierNodeRemovesNoLaterOne has a client delete its node of a line and create it again under the
// same name, before another one is told of the removal: the later node stands.
func TestANotificationOfAnEarlierNodeRemovesNoLaterOne(t *testing.T) {
	a := New(DefaultLimits)
	owner, other := newScript(a, 1), newScript(a, 2)
	other.list("/app/line", 1)
	for pos := int64(2); pos <= 4; pos += 2 {
		owner.create("/app/line/0000000001", drivers.Ephemeral|drivers.Sequential, pos, nil)
		if pos == 2 {
			owner.remove("/app/line/0000000001", 3)
		}
	}
	other.event(drivers.Deleted, "/app/line/0000000001", 3)
	if n := len(a.lines["/app/line"].present()); n != 1 {
		t.Errorf("%d nodes stand in the line, want 1", n)
	}
	other.event(drivers.Deleted, "/app/line/0000000001", 5)
	if n := len(a.lines["/app/line"].present()); n != 0 {
		t.Errorf("%d nodes stand in the line after its end, want 0", n)
	}
}

// TestWhatWasNotUnderstoodIsNotKnown has a change wake two of five sessions for something that is not recognised: that is
// no herd that is ruled out.
func TestWhatWasNotUnderstoodIsNotKnown(t *testing.T) {
	p := observation.Place{Path: "/x", Sessions: 5, FanoutMax: 2, Changes: 1, Notifications: 2}
	none := int64(0)
	if !p.Undecided() {
		t.Error("without a form and counts it is known")
	}
	p.Form = &observation.Form{Name: "lock or election, predecessor", WaitFor: observation.Turn}
	if !p.Undecided() {
		t.Error("with a form and without counts it is known")
	}
	if p.Useful, p.Wasted = &none, &none; p.Undecided() {
		t.Error("with counts it is not known")
	}
}
