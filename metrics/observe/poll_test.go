package observe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/observation"
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

// TestPollingByWriting has sessions create nodes in a line, list it and delete them again. It is a poll if the list often
// shows that another one is first, and they do nothing else.
func TestPollingByWriting(t *testing.T) {
	const line = "/line"
	n := 0
	join := func(p actor) string {
		n++
		node := fmt.Sprintf("%s/n-%010d", line, n)
		p.do(drivers.OpCreate, node, drivers.Ephemeral|drivers.Sequential, false, nil)
		return node
	}
	list := func(p actor) { p.do(drivers.OpChildren, line, 0, false, nil) }
	ask := func(p actor) {
		node := join(p)
		list(p)
		p.remove(node)
	}
	repeat := func(round func(p, other actor)) func(p, other actor) {
		return func(p, other actor) {
			for range 12 {
				round(p, other)
			}
		}
	}
	for name, c := range map[string]struct {
		program func(p, other actor)
		rounds  observation.Rounds
		polled  bool
	}{
		"another one leads": {func(p, other actor) {
			join(other)
			repeat(func(p, _ actor) { ask(p) })(p, other)
		}, observation.Rounds{Times: 11, Requests: 33, Behind: 11}, true},
		"they read who leads": {func(p, other actor) {
			first := join(other)
			for range 12 {
				node := join(p)
				list(p)
				p.get(first)
				p.remove(node)
			}
		}, observation.Rounds{Times: 11, Requests: 44, Behind: 11}, true},
		"all ask, and nobody leads": {repeat(func(p, other actor) {
			first, second := join(p), join(other)
			list(p)
			list(other)
			p.remove(first)
			other.remove(second)
		}), observation.Rounds{Times: 22, Requests: 66, Behind: 11}, true},
		"they seldom meet": {func(p, other actor) {
			for i := range 65 {
				first := ""
				if i%5 == 0 {
					first = join(other)
				}
				ask(p)
				if first != "" {
					other.remove(first)
				}
			}
		}, observation.Rounds{Times: 64, Requests: 192, Behind: 12}, false},
		"a lock that is free": {repeat(func(p, _ actor) { ask(p) }), observation.Rounds{Times: 11, Requests: 33}, false},
		"a lock under load": {repeat(func(p, other actor) {
			first, second := join(p), join(other)
			list(p)
			list(other)
			other.do(drivers.OpExists, first, 0, true, nil)
			p.remove(first)
			other.told(drivers.Deleted, first)
			list(other)
			other.remove(second)
		}), observation.Rounds{Times: 11, Requests: 33}, false},
		"who waits in vain gives up": {func(p, other actor) {
			first := join(other)
			for range 12 {
				node := join(p)
				list(p)
				p.do(drivers.OpExists, first, 0, true, nil)
				p.remove(node)
			}
		}, observation.Rounds{}, false},
		"work between": {func(p, other actor) {
			join(other)
			for range 12 {
				ask(p)
				p.set("/heartbeat")
			}
		}, observation.Rounds{Times: 11, Requests: 33, Behind: 11}, true},
		"work in the turn": {func(p, other actor) {
			join(other)
			for range 12 {
				node := join(p)
				list(p)
				p.set("/result")
				p.remove(node)
			}
		}, observation.Rounds{}, false},
		"a turn beside others": {func(p, other actor) {
			join(other)
			for range 12 {
				node := join(p)
				list(p)
				p.pass(10 * time.Millisecond)
				p.remove(node)
			}
		}, observation.Rounds{Times: 11, Requests: 33, Behind: 11}, false},
		"told of the line between": {func(p, other actor) {
			join(other)
			for range 12 {
				p.list(line)
				second := join(other)
				p.told(drivers.ChildrenChanged, line)
				other.remove(second)
				ask(p)
			}
		}, observation.Rounds{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			c.program(s.session(1), s.session(2))
			r := s.a.Report()
			i := slices.IndexFunc(r.Places, func(p observation.Place) bool { return strings.HasPrefix(p.Path, line) && p.Rounds.Times > 0 })
			got, polled := observation.Rounds{}, false
			if i >= 0 {
				got, polled = r.Places[i].Rounds, r.Places[i].Polled()
				got.Asked, got.Held = 0, 0
			}
			if got != c.rounds || polled != c.polled {
				t.Errorf("%+v, polled %v; want %+v, %v", got, polled, c.rounds, c.polled)
			}
		})
	}
}
