package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// verdict returns the verdict so far.
func (s *stage) verdict() string {
	r := s.a.Report()
	switch {
	case len(r.Herds()) > 0:
		return "herd"
	case len(r.Undecided()) > 0:
		return "not known"
	}
	return "no herd"
}

// TestTheRuleAtItsBounds has sessions do what is just enough for a verdict, and what just is not: each constant of the rule by itself.
// Requests take a millisecond each.
func TestTheRuleAtItsBounds(t *testing.T) {
	const turns = 12
	const item, lock = "/app/q/job-%c", "/app/claims/job-%c"
	// signals has five sessions race after a signal, each time a pause after it. Two nodes change, a gap apart, if that is not 0.
	signals := func(pause, gap time.Duration, alone int) func(s *stage) {
		return func(s *stage) {
			all := s.sessions(6)
			for _, c := range all[1:] {
				if c.watch("/svc/signal"); gap > 0 {
					c.watch("/svc/config")
				}
			}
			for range alone { // tries that nothing has prompted
				all[0].create("/svc/lock", drivers.ErrNodeExists)
			}
			for turn := range turns {
				all[0].set("/svc/signal")
				if gap > 0 {
					all[0].set("/svc/config")
				}
				for _, c := range all[1:] {
					if c.told(drivers.DataChanged, "/svc/signal"); gap > 0 {
						s.pass(gap)
						c.told(drivers.DataChanged, "/svc/config")
					}
				}
				s.pass(pause)
				for i := range 5 {
					all[1+(turn+i)%5].create("/svc/lock", lost(i > 0))
				}
				for _, c := range all[1:] {
					if c.watch("/svc/signal"); gap > 0 {
						c.watch("/svc/config")
					}
				}
				s.pass(5 * time.Second)
				all[1+turn%5].remove("/svc/lock")
			}
		}
	}
	// beside has clients of two sessions watch a list by one, of which two claim each item by the other, a pause after they were told.
	beside := func(clients int, pause time.Duration) func(s *stage) {
		return func(s *stage) {
			producer, all := s.session(50), contenders(s, clients, true)
			for _, c := range all {
				c.watches.list("/app/q")
			}
			for turn := range turns {
				producer.do(drivers.OpCreate, fmt.Sprintf(item, 'a'+turn), 0, false, nil)
				for _, c := range all {
					c.watches.told(drivers.ChildrenChanged, "/app/q")
				}
				s.pass(pause)
				for i, c := range all[:2] {
					c.acts.do(drivers.OpCreate, fmt.Sprintf(lock, 'a'+turn), 0, false, lost(i > 0))
				}
				for _, c := range all {
					c.watches.list("/app/q")
				}
				s.pass(5 * time.Second)
			}
		}
	}
	// sets has two sessions set a value whenever it is free. The one that is late waits, or in some turns goes on until it succeeds.
	sets := func(goesOn int) func(s *stage) {
		return func(s *stage) {
			all := s.sessions(3)
			told := func() {
				for _, c := range all[1:] {
					c.told(drivers.DataChanged, "/app/turn")
					c.watch("/app/turn")
				}
			}
			for _, c := range all[1:] {
				c.watch("/app/turn")
			}
			for turn := range turns {
				all[0].set("/app/turn")
				told()
				all[1].set("/app/turn")
				all[2].do(drivers.OpSet, "/app/turn", 0, false, drivers.ErrBadVersion)
				told()
				if turn < goesOn {
					all[2].set("/app/turn")
					told()
				}
				s.pass(5 * time.Second)
			}
		}
	}
	for name, c := range map[string]struct {
		play    func(*stage)
		verdict string
	}{
		"most race within two seconds":              {signals(2*time.Second-3*time.Millisecond, 0, 0), "herd"},
		"most race later":                           {signals(2*time.Second-2*time.Millisecond, 0, 0), "no herd"},
		"two nodes change within 50 ms":             {signals(0, 50*time.Millisecond, 0), "not known"},
		"two nodes change, more than 50 ms apart":   {signals(0, 51*time.Millisecond, 0), "herd"},
		"two tries after a signal for each without": {signals(0, 0, 5*turns/2), "herd"},
		"fewer":                                  {signals(0, 0, 5*turns/2+1), "no herd"},
		"a race is lost for eight notifications": {beside(8, 0), "not known"},
		"a race is lost for more":                {beside(9, 0), "no herd"},
		"a race beside within two seconds":       {beside(2, 2*time.Second-2*time.Millisecond), "not known"},
		"a race beside later":                    {beside(2, 2*time.Second-time.Millisecond), "no herd"},
		"each that is first leaves one behind":   {sets(0), "herd"},
		"one that was behind goes on":            {sets(1), "no herd"},
	} {
		s := newStage()
		if c.play(s); s.verdict() != c.verdict {
			t.Errorf("%s: %s, want %s: %+v", name, s.verdict(), c.verdict, s.a.Report().Places)
		}
	}
}

// TestAWatchIsSpentByTheChangesOfTwoSeconds has clients of etcd end a watch that has told them of two changes, and arm another one. If
// the second came within two seconds, they waited for one change.
func TestAWatchIsSpentByTheChangesOfTwoSeconds(t *testing.T) {
	for apart, want := range map[time.Duration]string{2 * time.Second: "value, watched", 2*time.Second + time.Millisecond: "value, persistent watch"} {
		a, now := New(DefaultLimits), time.Unix(10, 0)
		var all []traffic.Tap
		for i := range 3 {
			all = append(all, a.Open(traffic.Connection{ID: uint64(i + 1), Client: fmt.Sprintf("192.0.2.%d:5", i), At: now}))
		}
		send := func(m drivers.Message) {
			m.Path = []byte("/k/x")
			for _, s := range all {
				s.Message(now, m)
			}
		}
		for turn := range 4 {
			pos := int64(10 * (turn + 1))
			for _, op := range []drivers.Op{drivers.OpGet, drivers.OpWatchNode} {
				m := drivers.Message{Kind: drivers.Request, Op: op, Watch: op == drivers.OpWatchNode}
				send(m)
				m.Kind, m.Pos, m.Number = drivers.Reply, pos, turn+1
				send(m)
			}
			send(drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Pos: pos + 1, Number: turn + 1})
			now = now.Add(apart)
			send(drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Pos: pos + 2, Number: turn + 1})
			send(drivers.Message{Kind: drivers.Reply, Op: drivers.OpUnwatch, Watch: true, Number: turn + 1, Pos: pos + 2})
		}
		if p := placeAt(t, a.Report(), "/k/x"); p.Form == nil || p.Form.Name != want {
			t.Errorf("%v apart: %+v, want %s", apart, p.Form, want)
		}
	}
}
