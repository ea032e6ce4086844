package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/causality"
)

// A stage has sessions send messages at a time that the test sets, and writes get positions.
type stage struct {
	a   *Analysis
	now time.Time
	pos int64
}

type actor struct {
	*stage
	traffic.Tap
	id int64
}

func newStage() *stage { return &stage{a: New(DefaultLimits), now: time.Unix(100, 0), pos: 1} }

func (s *stage) session(id int64) actor {
	t := s.a.Open(traffic.Connection{ID: uint64(id), Client: fmt.Sprintf("192.0.2.%d:5", id), At: s.now})
	t.Session(s.now, traffic.Session{ID: id, Timeout: 10 * time.Second, Ordered: true})
	return actor{s, t, id}
}

func (s *stage) sessions(n int) (all []actor) {
	for i := range n {
		all = append(all, s.session(int64(i+1)))
	}
	return all
}

func (s *stage) pass(d time.Duration) { s.now = s.now.Add(d) }

// do sends a request and its reply, a millisecond later.
func (p actor) do(op drivers.Op, path string, mode drivers.Mode, watch bool, err error) {
	m := drivers.Message{Kind: drivers.Request, Op: op, Path: []byte(path), Mode: mode, Watch: watch}
	p.Message(p.now, m)
	p.pass(time.Millisecond)
	if (op.IsWrite() || op == drivers.OpClose) && err == nil {
		p.pos++
	}
	m.Kind, m.Pos, m.Err = drivers.Reply, p.pos, err
	p.Message(p.now, m)
}

func (p actor) watch(path string)  { p.do(drivers.OpGet, path, 0, true, nil) }
func (p actor) list(path string)   { p.do(drivers.OpChildren, path, 0, true, nil) }
func (p actor) get(path string)    { p.do(drivers.OpGet, path, 0, false, nil) }
func (p actor) set(path string)    { p.do(drivers.OpSet, path, 0, false, nil) }
func (p actor) remove(path string) { p.do(drivers.OpDelete, path, 0, false, nil) }

func (p actor) create(path string, err error) {
	p.do(drivers.OpCreate, path, drivers.Ephemeral, false, err)
}

// told notifies the session.
func (p actor) told(event drivers.EventType, path string) {
	p.Message(p.now, drivers.Message{Kind: drivers.Notification, Event: event, Path: []byte(path)})
}

// checkEvents compares the events with the wanted ones, and the sums over all with the traffic: each
// request and each notification belongs to one event or to none.
func (s *stage) checkEvents(t *testing.T, count, atRest int64, largest ...causality.Event) {
	t.Helper()
	r := s.a.Report()
	e := r.Events
	if e.Count != count || e.AtRest != atRest {
		t.Errorf("%d events and %d requests at rest, want %d and %d", e.Count, e.AtRest, count, atRest)
	}
	for i := range e.Largest {
		e.Largest[i].At, e.Largest[i].Lasted = time.Time{}, e.Largest[i].Lasted.Round(time.Millisecond)
	}
	if got, want := fmt.Sprintf("%+v", e.Largest), fmt.Sprintf("%+v", largest); got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	requests := e.Requests + e.AtRest
	if requests != r.Traffic.Requests || e.Notifications != r.Traffic.Notifications {
		t.Errorf("%d requests and %d notifications in all, want %d and %d", requests, e.Notifications,
			r.Traffic.Requests, r.Traffic.Notifications)
	}
}

// failover has the first session lead, five others watch for its end, and then ends it. Each candidate
// reads the list and the value, and races for the lead a second later; the winner and then all others are
// told.
func failover(s *stage, end func(leader actor)) {
	all := s.sessions(6)
	leader, candidates := all[0], all[1:]
	leader.create("/s/leader", nil)
	leader.create("/s/members/n1", nil)
	for _, c := range candidates {
		c.list("/s")
		c.list("/s/members")
	}
	end(leader)
	for _, c := range candidates {
		c.told(drivers.ChildrenChanged, "/s")
		c.told(drivers.ChildrenChanged, "/s/members")
	}
	for _, c := range candidates {
		c.list("/s")
		c.list("/s/members")
	}
	s.pass(time.Second)
	for i, c := range candidates {
		if i == 0 {
			c.create("/s/leader", nil)
			for _, o := range candidates {
				o.told(drivers.ChildrenChanged, "/s")
			}
		} else {
			c.create("/s/leader", drivers.ErrNodeExists)
		}
	}
	for _, c := range candidates {
		c.list("/s")
	}
	s.pass(10 * time.Second)
	candidates[0].set("/s/elsewhere") // by the clock
	candidates[1].get("/s/elsewhere")
}

// TestEventIsASessionsEndWithAllThatFollows checks the counts of a failover. Before it, there were 2
// creates and 10 lists, and after it 2 more requests.
func TestEventIsASessionsEndWithAllThatFollows(t *testing.T) {
	want := causality.Event{Op: "expire", Paths: []string{"/s/leader", "/s/members/n#"}, Times: 1,
		Changes: 3, Notifications: 15, Woke: 5, Requests: 20, Reads: 15, Writes: 5, FailedWrites: 4,
		Lasted: 1020 * time.Millisecond, Several: true}
	t.Run("expired", func(t *testing.T) {
		s := newStage()
		failover(s, func(leader actor) {
			leader.Close(s.now)
			s.pass(10 * time.Second)
			s.pos++
		})
		s.checkEvents(t, 1, 14, want)
	})
	t.Run("closed", func(t *testing.T) {
		s := newStage()
		failover(s, func(leader actor) { leader.do(drivers.OpClose, "", 0, false, nil) })
		want := want
		want.Op, want.Changes, want.Requests = "close", 2, 21 // one write is known to have deleted both
		s.checkEvents(t, 1, 14, want)
	})
}

// TestEventsAtOnceAreKeptApart has two values be set at once, each watched by a session of its own and by
// one that watches both. What this one does belongs to the event that has woken it last.
func TestEventsAtOnceAreKeptApart(t *testing.T) {
	s := newStage()
	all := s.sessions(4)
	a, b, both, writer := all[0], all[1], all[2], all[3]
	a.watch("/a")
	b.watch("/b")
	both.watch("/a")
	both.watch("/b")
	writer.set("/a")
	writer.set("/b")
	a.told(drivers.DataChanged, "/a")
	b.told(drivers.DataChanged, "/b")
	both.told(drivers.DataChanged, "/a")
	both.told(drivers.DataChanged, "/b")
	for _, p := range []actor{a, b} {
		p.get("/x")
	}
	both.get("/x")
	both.set("/done")
	s.checkEvents(t, 2, 4,
		causality.Event{Op: "set", Paths: []string{"/b"}, Times: 1, Changes: 1, Notifications: 2, Woke: 2,
			Requests: 4, Reads: 2, Writes: 2, Lasted: 4 * time.Millisecond},
		causality.Event{Op: "set", Paths: []string{"/a"}, Times: 1, Changes: 1, Notifications: 2, Woke: 2,
			Requests: 2, Reads: 1, Writes: 1, Lasted: time.Millisecond})
}

// TestBusyLockIsManyEvents has two sessions take turns at a lock without a pause, in a line and with one
// node. Each release is an event, with the requests of the session that takes the lock.
func TestBusyLockIsManyEvents(t *testing.T) {
	const turns = 50
	t.Run("line", func(t *testing.T) {
		s := newStage()
		members := s.sessions(2)
		node := func(i int) string { return fmt.Sprintf("/lock/m-%010d", i) }
		join := func(m actor, i int) {
			m.do(drivers.OpCreate, node(i), drivers.Ephemeral|drivers.Sequential, false, nil)
		}
		join(members[0], 0)
		members[0].get("/lock")
		for i := range turns {
			holder, next := members[i%2], members[1-i%2]
			join(next, i+1)
			next.watch(node(i))
			holder.remove(node(i))
			next.told(drivers.Deleted, node(i))
			next.do(drivers.OpChildren, "/lock", 0, false, nil)
		}
		s.checkEvents(t, turns, 2+2*turns,
			causality.Event{Op: "delete", Paths: []string{"/lock/m-#"}, Times: turns, Changes: 1, Notifications: 1, Woke: 1,
				Requests: 2, Reads: 1, Writes: 1, Lasted: time.Millisecond})
	})
	t.Run("one node", func(t *testing.T) {
		s := newStage()
		members := s.sessions(2)
		members[0].create("/lock", nil)
		for i := range turns {
			holder, next := members[i%2], members[1-i%2]
			next.do(drivers.OpExists, "/lock", 0, true, nil)
			holder.remove("/lock")
			next.told(drivers.Deleted, "/lock")
			next.create("/lock", nil)
		}
		s.checkEvents(t, turns, 1+turns,
			causality.Event{Op: "delete", Paths: []string{"/lock"}, Times: turns, Changes: 1, Notifications: 1, Woke: 1,
				Requests: 2, Writes: 2, Lasted: time.Millisecond})
	})
}

// TestWritersOfOneValueAreManyEvents has sessions set a value that all of them watch, without a pause.
func TestWritersOfOneValueAreManyEvents(t *testing.T) {
	s := newStage()
	all := s.sessions(3)
	for _, p := range all {
		p.watch("/count")
	}
	const sets = 30
	for i := range sets {
		all[i%3].set("/count")
		for _, p := range all {
			p.told(drivers.DataChanged, "/count")
			p.watch("/count")
		}
	}
	s.checkEvents(t, sets, 3,
		causality.Event{Op: "set", Paths: []string{"/count"}, Times: sets, Changes: 1, Notifications: 3, Woke: 3,
			Requests: 4, Reads: 3, Writes: 1, Lasted: 3 * time.Millisecond})
}

// TestPollingIsAtRest has a session poll, also after it was woken.
func TestPollingIsAtRest(t *testing.T) {
	s := newStage()
	all := s.sessions(2)
	all[0].watch("/config")
	const polls = 20
	for i := range polls {
		if i == polls/2 {
			all[1].set("/config")
			all[0].told(drivers.DataChanged, "/config")
			all[0].watch("/config")
		}
		s.pass(100 * time.Millisecond)
		all[0].get("/jobs")
	}
	s.checkEvents(t, 1, 1+polls,
		causality.Event{Op: "set", Paths: []string{"/config"}, Times: 1, Changes: 1, Notifications: 1, Woke: 1,
			Requests: 2, Reads: 1, Writes: 1, Lasted: time.Millisecond})
	if r := s.a.Report(); r.Events.AtRestPerS != float64(r.Events.AtRest)/r.Duration.Seconds() {
		t.Errorf("%v requests at rest in a second; want %d over %v",
			r.Events.AtRestPerS, r.Events.AtRest, r.Duration)
	}
}

// TestTransactionIsOneEvent has a transaction change two watched nodes.
func TestTransactionIsOneEvent(t *testing.T) {
	s := newStage()
	all := s.sessions(2)
	all[0].watch("/a")
	all[0].watch("/b")
	m := drivers.Message{Kind: drivers.Request, Op: drivers.OpMulti}
	m.Parts = []drivers.TxnOp{part(drivers.OpSet, "/a"), part(drivers.OpSet, "/b")}
	all[1].Message(s.now, m)
	s.pos++
	m.Kind, m.Pos = drivers.Reply, s.pos
	all[1].Message(s.now, m)
	all[0].told(drivers.DataChanged, "/a")
	all[0].told(drivers.DataChanged, "/b")
	s.checkEvents(t, 1, 2,
		causality.Event{Op: "multi", Paths: []string{"/a", "/b"}, Times: 1, Changes: 1, Notifications: 2, Woke: 1,
			Requests: 1,
			Writes:   1, Several: true})
}

// TestManyEventsEndByThemselves has a session be woken more often than events are followed at once: an
// event ends when nothing can follow it any more.
func TestManyEventsEndByThemselves(t *testing.T) {
	l := DefaultLimits
	l.Changes = 4
	s := &stage{a: New(l), now: time.Unix(100, 0), pos: 1}
	all := s.sessions(2)
	for range 20 {
		all[0].watch("/v")
		all[1].set("/v")
		all[0].told(drivers.DataChanged, "/v")
		s.a.meter.Prune()
	}
	if early := s.a.tracer.Early(); early > 0 {
		t.Errorf("%d events were ended early, want none", early)
	}
}

// TestEventsAreBounded checks that events beyond the limit are counted early, and that the report says
// so.
func TestEventsAreBounded(t *testing.T) {
	l := DefaultLimits
	l.Changes = 4
	s := &stage{a: New(l), now: time.Unix(100, 0), pos: 1}
	const changes = 20
	all := s.sessions(changes + 1)
	for i, watcher := range all[1:] {
		path := fmt.Sprintf("/v/%c", 'a'+i)
		watcher.watch(path)
		all[0].set(path)
		watcher.told(drivers.DataChanged, path)
	}
	ended, early := s.a.SoFar().Events.Count, s.a.tracer.Early()
	if ended < changes-int64(l.Changes) || early == 0 {
		t.Errorf("%d events have ended, %d early; want at most %d kept", ended, early, l.Changes)
	}
	r := s.a.Report()
	if r.Events.Count != changes || r.Traffic.Beyond.Early < early {
		t.Errorf("%d events, %d decided early; want %d and at least %d", r.Events.Count, r.Traffic.Beyond.Early,
			changes, early)
	}
}
