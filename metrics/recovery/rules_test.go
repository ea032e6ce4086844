package recovery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results/units"
)

var format = Format{Duration: units.Duration, Count: units.Count}

// A story is what a program does, and how it is judged by the golden file.
type story struct {
	name string
	tell func(s *script)
}

// pass lets time pass.
func (s *script) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.a.Advance(s.now)
}

// begin opens sessions of a program, each with a node and a watch, and lets ten seconds pass.
func (s *script) begin(pid, n int) []*member {
	all := s.members(pid, n)
	for i, m := range all {
		m.own(fmt.Sprintf("/svc/%d/m%d", pid, i))
		m.watch("/app/config")
	}
	s.pass(10 * time.Second)
	return all
}

// expire ends sessions, and has each refused a second later.
func (s *script) expire(all ...*member) {
	s.pass(1)
	s.fault(Expired, 0, all...)
	for _, m := range all {
		m.cut()
	}
	s.pass(time.Second)
	for _, m := range all {
		m.refused()
	}
}

// comesBack has a new session register and watch what that of the first member had.
func (m *member) comesBack() {
	m.open(0)
	m.own("/svc/1/m0")
	m.watch("/app/config")
}

// disconnect breaks connections, and has each session resumed after 50 ms.
func (s *script) disconnect(all ...*member) {
	s.fault(Disconnected, 0, all...)
	for _, m := range all {
		m.cut()
	}
	s.pass(50 * ms)
	for _, m := range all {
		m.resume()
	}
}

var stories = []story{
	{"no fault", func(s *script) { s.begin(1, 2) }},
	{"nothing is hit", func(s *script) {
		m := s.begin(1, 1)[0]
		m.close()
		s.pass(1)
		s.fault(Expired, 0)
	}},
	{"nothing was registered or watched", func(s *script) {
		m := s.members(1, 1)[0]
		m.get("/app/config")
		s.expire(m)
		m.open(0)
	}},
	{"delayed messages end nothing", func(s *script) {
		s.begin(1, 3)
		s.fault(Delayed, time.Second)
		s.pass(10 * time.Second)
	}},
	{"resumed sessions have their nodes, and set their watches again", func(s *script) {
		all := s.begin(1, 3)
		s.disconnect(all...)
		s.pass(20 * ms)
		for _, m := range all {
			m.rearm()
		}
	}},
	{"a resumed session does not set its watch again", func(s *script) {
		all := s.begin(1, 3)
		s.disconnect(all...)
		all[0].rearm()
		all[1].watch("/app/config")
		all[2].get("/app/config")
	}},
	{"a watch fires before the packet that sets it is answered", func(s *script) {
		m := s.begin(1, 1)[0]
		s.disconnect(m)
		m.rearmAround(func() { m.told(drivers.DataChanged, "/app/config") })
	}},
	{"a packet sets again what it had in another list", func(s *script) {
		m := s.begin(1, 1)[0]
		m.list("/app/log")
		s.pass(time.Second)
		s.disconnect(m)
		m.watches[0].Op = drivers.OpChildren
		m.rearm()
	}},
	{"a packet sets again what the session before it had", func(s *script) {
		m := s.members(1, 1)[0]
		m.watch("/app")
		m.do(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/app/log"), Watch: true})
		had := m.watches
		s.expire(m)
		m.open(0)
		m.watches = had
		m.rearm()
	}},
	{"a packet sets nothing again, as it is refused", func(s *script) {
		m := s.begin(1, 1)[0]
		s.disconnect(m)
		m.ask(drivers.Message{Op: drivers.OpRearm, Parts: m.watches})
		m.tap.Message(m.now, drivers.Message{Kind: drivers.Reply, Op: drivers.OpRearm, Err: drivers.ErrUnsupported})
	}},
	{"a list is not watched by a watch on data", func(s *script) {
		m := s.members(1, 1)[0]
		m.list("/app")
		s.expire(m)
		m.open(0)
		m.watch("/app")
	}},
	{"persistent watches come back as such", func(s *script) {
		all := s.members(1, 2)
		for _, m := range all {
			m.do(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/app"), Watch: true})
		}
		s.expire(all...)
		all[0].open(0)
		all[0].do(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/app"), Watch: true})
		all[1].open(0)
		all[1].do(drivers.Message{Op: drivers.OpWatchNode, Path: []byte("/app"), Watch: true})
	}},
	{"one new session replaces one", func(s *script) {
		all := s.begin(1, 3)
		s.expire(all...)
		all[1].open(0)
		all[1].own("/svc/1/m1")
		all[1].watch("/app/config")
		s.pass(time.Minute)
	}},
	{"sessions are replaced by those with the same nodes", func(s *script) {
		all := s.begin(1, 3)
		s.expire(all...)
		for _, i := range []int{2, 0, 1} {
			all[i].open(0)
			all[i].own(fmt.Sprintf("/svc/1/m%d", i))
			if i != 2 {
				all[i].watch("/app/config")
			}
		}
	}},
	{"another session of the program has the node", func(s *script) {
		all := s.begin(1, 2)
		s.expire(all...)
		all[0].open(0)
		all[0].own("/svc/1/m0")
		all[0].watch("/app/config")
		all[0].own("/svc/1/m1")
		all[1].open(0)
		all[1].watch("/app/config")
	}},
	{"another program has become the leader", func(s *script) {
		m, other := s.members(1, 1)[0], s.members(2, 1)[0]
		m.own("/leader")
		m.watch("/app/config")
		s.expire(m)
		other.own("/leader")
		m.open(0)
		m.watch("/app/config")
	}},
	{"another program has become the leader, and this one is gone", func(s *script) {
		m, other := s.members(1, 1)[0], s.members(2, 1)[0]
		m.own("/leader")
		s.expire(m)
		other.own("/leader")
		s.pass(time.Minute)
	}},
	{"a new session waits in line anew", func(s *script) {
		all := s.members(1, 2)
		for _, m := range all {
			m.register("/lock/m-")
		}
		all[1].watch("/lock/m-0000000002")
		s.expire(all...)
		for _, i := range []int{1, 0} {
			all[i].open(0)
			all[i].register("/lock/m-")
		}
	}},
	{"a session has more nodes than before", func(s *script) {
		m := s.members(1, 1)[0]
		m.register("/svc/m-")
		s.expire(m)
		m.open(0)
		m.register("/svc/m-")
		s.pass(10 * ms)
		m.register("/svc/m-")
		s.pass(2 * time.Second)
	}},
	{"a resumed session registers the node that it has", func(s *script) {
		m := s.members(1, 1)[0]
		m.register("/svc/m-")
		s.pass(1)
		s.disconnect(m)
		m.register("/svc/m-")
		s.pass(time.Minute)
	}},
	{"a resumed session registers another node later", func(s *script) {
		m := s.members(1, 1)[0]
		m.register("/svc/m-")
		s.pass(1)
		s.disconnect(m)
		s.pass(5 * time.Second)
		m.register("/svc/m-")
		s.pass(time.Minute)
	}},
	{"a session removes the node that is one too many", func(s *script) {
		m := s.members(1, 1)[0]
		m.register("/svc/m-")
		s.expire(m)
		m.open(0)
		m.register("/svc/m-")
		m.register("/svc/m-")
		s.pass(10 * ms)
		m.remove(fmt.Sprintf("/svc/m-%010d", m.pos))
		s.pass(10 * time.Second)
	}},
	{"the program starts again", func(s *script) {
		s.a.Ended = func(p traffic.Process) bool { return p.ID == 1 }
		m := s.begin(1, 1)[0]
		s.expire(m)
		s.pass(time.Second)
		s.another(m)
	}},
	{"another process of the program, which runs beside it, does the same", func(s *script) {
		ended := false
		s.a.Ended = func(p traffic.Process) bool { return ended && p.ID == 1 }
		m := s.begin(1, 1)[0]
		s.expire(m)
		s.pass(time.Second)
		s.another(m)
		s.pass(10 * time.Second)
		ended = true
		third := &member{script: s, pid: 3}
		third.connect()
	}},
	{"the process of the new session is not found", func(s *script) {
		all := s.begin(1, 2)
		for _, m := range all {
			m.hidden = true
		}
		s.expire(all...)
		for i, m := range all {
			m.open(0)
			m.own(fmt.Sprintf("/svc/1/m%d", i))
			m.watch("/app/config")
		}
	}},
	{"another program of the host is not its client", func(s *script) {
		m := s.begin(1, 1)[0]
		other := &member{script: s, pid: 2, host: 1}
		s.expire(m)
		other.open(0)
		other.register("/svc/1/m")
		other.watch("/app/config")
		s.pass(time.Minute)
	}},
	{"the program has everything back and ends", func(s *script) {
		m := s.begin(1, 1)[0]
		s.expire(m)
		m.comesBack()
		s.pass(time.Second)
		m.close()
		s.pass(time.Minute)
	}},
	{"the program ends before it has everything back", func(s *script) {
		all := s.begin(1, 2)
		s.expire(all...)
		for _, m := range all {
			m.open(0)
			s.pass(500 * ms)
			m.close()
		}
		s.pass(time.Minute)
	}},
	{"a session closes without its node, and the program goes on", func(s *script) {
		all := s.begin(1, 2)
		s.expire(all[0])
		all[0].open(0)
		all[0].close()
		s.pass(time.Minute)
	}},
	{"a change in the gap is read", func(s *script) {
		m, other := s.begin(1, 1)[0], s.members(2, 1)[0]
		s.fault(Expired, 0, m)
		m.cut()
		other.set("/app/config")
		s.pass(time.Second)
		m.comesBack()
	}},
	{"a change in the gap is missed", func(s *script) {
		m, other := s.members(1, 1)[0], s.members(2, 1)[0]
		m.do(drivers.Message{Op: drivers.OpWatchNode, Path: []byte("/app/config"), Watch: true})
		s.pass(1)
		s.fault(Disconnected, 0, m)
		m.cut()
		other.set("/app/config")
		s.pass(time.Second)
		m.resume()
		m.rearm()
	}},
	{"a change in the gap comes by a notification", func(s *script) {
		m, other := s.members(1, 1)[0], s.members(2, 1)[0]
		m.list("/members")
		s.pass(1)
		s.fault(Disconnected, 0, m)
		m.cut()
		other.own("/members/x")
		s.pass(time.Second)
		m.resume()
		m.rearm()
		m.told(drivers.ChildrenChanged, "/members")
	}},
	{"a write is repeated after its reply was lost", func(s *script) {
		m := s.begin(1, 1)[0]
		job := drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/j-"), Mode: drivers.Sequential}
		s.loses(m, job)
		m.do(job)
	}},
	{"a write is not repeated, since the client reads first", func(s *script) {
		m := s.begin(1, 1)[0]
		job := drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/j-"), Mode: drivers.Sequential}
		s.loses(m, job)
		m.list("/jobs")
		m.do(job)
	}},
	{"a write is repeated, and refused since it was executed", func(s *script) {
		m := s.begin(1, 1)[0]
		s.loses(m, drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/one")})
		m.do(drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/one"), Err: drivers.ErrNodeExists})
	}},
	{"a node is created again after the reply to its removal was lost, and removed again", func(s *script) {
		m := s.begin(1, 1)[0]
		one := drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/one")}
		m.do(one)
		remove := drivers.Message{Op: drivers.OpDelete, Path: []byte("/jobs/one")}
		s.loses(m, remove)
		m.do(one)
		m.do(remove)
	}},
	{"a write is repeated by a new connection, before the end of the earlier one is seen", func(s *script) {
		m := s.begin(1, 1)[0]
		job := drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/j-"), Mode: drivers.Sequential}
		s.fault(LostReply, 0, m)
		m.do(job)
		m.drops(job.Op)
		earlier := m.tap
		s.pass(50 * ms)
		m.resume()
		m.rearm()
		m.do(job)
		earlier.Close(s.now)
	}},
	{"no request came whose reply could be lost", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(LostReply, 0, m)
		m.list("/app")
	}},
	{"no request came whose reply could be lost, and the connection broke for another reason while one was not answered", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(LostReply, 0, m)
		m.ask(drivers.Message{Op: drivers.OpSet, Path: []byte("/jobs/one")})
		m.cut()
		s.pass(50 * ms)
		m.resume()
		s.pass(time.Minute)
	}},
	{"no reply was lost before another fault hit the client", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(LostReply, 0, m)
		s.pass(time.Second)
		s.disconnectBy(Disconnected, m)
		s.pass(time.Minute)
	}},
	{"another fault hits the client before its reply is lost, and it comes back from the first alone", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(LostReply, 0, m)
		s.pass(time.Second)
		s.disconnectBy(Disconnected, m)
		s.pass(10 * time.Second)
		m.set("/jobs/one")
		m.drops(drivers.OpSet)
		m.cut()
		s.pass(time.Minute)
	}},
	{"of two faults that wait for a reply, the later one loses it", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(LostReply, 0, m)
		s.pass(time.Second)
		s.loses(m, drivers.Message{Op: drivers.OpSet, Path: []byte("/jobs/one")})
	}},
	{"a reply is lost later than a time-out after the fault was set, and its watch is not back", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(LostReply, 0, m)
		s.pass(5 * time.Second)
		m.watch("/app/other")
		s.pass(5 * time.Second)
		m.set("/jobs/one")
		m.drops(drivers.OpSet)
		m.cut()
		s.pass(50 * ms)
		m.resume()
		s.pass(time.Minute)
	}},
	{"what the request has made whose reply was lost need not be back", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(LostReply, 0, m)
		s.pass(time.Second)
		m.own("/jobs/mine")
		m.drops(drivers.OpCreate)
		m.cut()
		s.pass(10 * time.Second)
		m.comesBack()
		s.pass(time.Minute)
	}},
	{"of three sessions one loses a reply, one sends no such request and one closes", func(s *script) {
		all := s.begin(1, 3)
		s.fault(LostReply, 0, all...)
		s.pass(time.Second)
		all[0].set("/jobs/one")
		all[0].drops(drivers.OpSet)
		all[0].cut()
		all[2].close()
		s.pass(50 * ms)
		all[0].resume()
		all[0].rearm()
		s.pass(time.Minute)
	}},
	{"traffic was not decoded", func(s *script) {
		m := s.begin(1, 1)[0]
		s.expire(m)
		m.open(0)
		m.tap.Gap(s.now, 100, traffic.Late)
		m.watch("/app/config")
	}},
	{"a server fails for a while, and sessions are back by others before that is over, each counted from its own break", func(s *script) {
		all := s.begin(1, 3)
		s.fault(ServerFailed, 3*time.Second, all...)
		for i, m := range all[:2] {
			s.pass(time.Duration(100+900*i) * ms)
			m.cut()
			s.pass(40 * ms)
			m.resume()
			s.pass(10 * ms)
			m.rearm()
		}
		s.pass(10 * time.Second)
	}},
	{"a reply is lost long after the fault was set: its time begins with the loss", func(s *script) {
		m := s.begin(1, 1)[0]
		job := drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/j-"), Mode: drivers.Sequential}
		s.fault(LostReply, 0, m)
		s.pass(3 * time.Second)
		m.do(job)
		m.drops(job.Op)
		m.cut()
		s.pass(50 * ms)
		m.resume()
		s.pass(10 * ms)
		m.rearm()
		s.pass(10 * time.Second)
	}},
	{"the client gives up", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(ServerFailed, time.Second, m)
		m.cut()
		for range 3 {
			s.pass(time.Second)
			m.fails()
		}
		s.pass(5 * time.Second)
	}},
	{"the client pauses as long as before", func(s *script) {
		m := s.begin(1, 1)[0]
		s.fault(ServerFailed, time.Second, m)
		m.cut()
		for range 3 {
			s.pass(2 * time.Second)
			m.fails()
		}
		s.pass(5 * time.Second)
	}},
	{"two faults", func(s *script) {
		m := s.begin(1, 1)[0]
		for range 2 {
			s.expire(m)
			m.comesBack()
			s.pass(10 * time.Second)
		}
	}},
	{"it recovers from one fault of two", func(s *script) {
		m := s.begin(1, 1)[0]
		s.expire(m)
		m.comesBack()
		s.pass(10 * time.Second)
		s.expire(m)
		m.open(0)
		s.pass(10 * time.Second)
	}},
	{"sessions are hit one after the other", func(s *script) {
		all := s.begin(1, 3)
		for _, m := range all {
			s.fault(Expired, 0, m)
			m.cut()
			s.pass(100 * ms)
		}
		for i, m := range all {
			m.refused()
			m.open(0)
			m.own(fmt.Sprintf("/svc/1/m%d", i))
			m.watch("/app/config")
		}
	}},
}

// disconnectBy breaks a connection by a fault of a kind. The session is resumed, and its watches are set, after 50 ms.
func (s *script) disconnectBy(kind Kind, m *member) {
	s.pass(1)
	s.fault(kind, 0, m)
	m.cut()
	s.pass(50 * ms)
	m.resume()
	m.rearm()
}

// another has another process of a member's program register and watch the same.
func (s *script) another(m *member) {
	next := &member{script: s, hidden: true, host: m.pid}
	next.connect()
	next.tap.Owner(traffic.Process{ID: 7, Name: fmt.Sprintf("program%d", m.pid)})
	s.ids++
	next.id = s.ids
	next.tap.Session(s.now, traffic.Session{ID: next.id, Timeout: 4 * time.Second})
	next.own("/svc/1/m0")
	next.watch("/app/config")
}

// loses has a session make a request whose reply is lost, and be resumed.
func (s *script) loses(m *member, q drivers.Message) {
	s.fault(LostReply, 0, m)
	s.pass(1)
	m.do(q)
	m.drops(q.Op)
	m.cut()
	s.pass(50 * ms)
	m.resume()
	m.rearm()
}

// TestStories compares the judgement of each story with the reviewed one.
func TestStories(t *testing.T) { tellStories(t, "zookeeper", stories, "testdata/stories.txt") }

// tellStories judges each story twice: as it is seen at the service alone, and with clients that receive everything.
func tellStories(t *testing.T, service string, all []story, file string) {
	for _, faulty := range []bool{false, true} {
		var b strings.Builder
		for _, story := range all {
			s := newScript(service)
			s.faulty = faulty
			story.tell(s)
			tellReport(&b, story.name, s.a.Report())
		}
		golden.Compare(t, file, []byte(b.String()))
	}
}

// tellReport writes a report as a person reads it.
func tellReport(b *strings.Builder, name string, r Report) {
	fmt.Fprintf(b, "# %s\n%s\n", name, r.Sentence(format))
	for _, o := range r.Outcomes {
		for _, s := range o.Rows {
			fmt.Fprintf(b, "  session %d %s", s.ID, s.Fate)
			if s.By != 0 {
				fmt.Fprintf(b, " by %d", s.By)
			}
			fmt.Fprintf(b, ": %s", s.Verdict)
			if s.Reason != "" {
				fmt.Fprintf(b, ", %s", s.Reason)
			}
			fmt.Fprintf(b, "; nodes %s, watches %s", s.Nodes.tell(), s.Watches.tell())
			if s.Resume+s.Register+s.Watch > 0 {
				fmt.Fprintf(b, "; resumed %s, registered %s, watching %s", s.Resume, s.Register, s.Watch)
			}
			if s.Changes > 0 {
				fmt.Fprintf(b, "; %d of %d changes missed", s.Missed, s.Changes)
			}
			for _, w := range s.DoneTwice {
				fmt.Fprintf(b, "; %s %s done twice, %s later", w.Op, w.Path, w.After)
			}
			if s.GaveUp {
				b.WriteString("; gave up")
			}
			if s.Refused > 0 {
				fmt.Fprintf(b, "; refused %d", s.Refused)
			}
			if s.Lived > 0 {
				fmt.Fprintf(b, "; lived %s", s.Lived)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
}

func (t Things) tell() string {
	s := fmt.Sprintf("%d/%d", t.Back, t.Had)
	if t.Elsewhere > 0 {
		s += fmt.Sprintf(" (%d elsewhere)", t.Elsewhere)
	}
	if t.Duplicated > 0 {
		s += fmt.Sprintf(" (%d too many)", t.Duplicated)
	}
	for _, m := range t.Missing {
		s += strings.TrimSuffix(fmt.Sprintf(" −%s %s", m.Path, m.Watch), " ")
		if m.Partly {
			s += " partly"
		}
	}
	return s
}

// TestProbe has clients notice a change in each way, or miss it.
func TestProbe(t *testing.T) {
	const path = "/config"
	probe := func(s *script) {
		s.pos++
		s.a.Probe(Probe{At: s.now, Path: path, Pos: s.pos})
	}
	exists := func(m *member) {
		m.do(drivers.Message{Op: drivers.OpExists, Path: []byte(path), Watch: true})
	}
	for name, c := range map[string]struct {
		arm    func(*member)
		do     func(s *script, m *member)
		want   *Noticed
		missed int64
	}{
		"it watches and reads again": {func(m *member) { m.watch(path) }, func(s *script, m *member) {
			m.cut()
			probe(s)
			s.pass(time.Second)
			m.resume()
			m.watch(path)
		}, &Noticed{true, time.Second}, 0},
		"it is told": {func(m *member) { m.watch(path) }, func(s *script, m *member) {
			m.cut()
			probe(s)
			s.pass(time.Second)
			m.resume()
			m.rearm()
			s.pass(time.Second)
			m.told(drivers.DataChanged, path)
		}, &Noticed{true, 2 * time.Second}, 0},
		"it watches again without a read": {func(m *member) { m.watch(path) }, func(s *script, m *member) {
			m.cut()
			probe(s)
			s.pass(time.Second)
			m.resume()
			exists(m)
		}, &Noticed{}, 1},
		"it only ever asked whether the node is there": {exists, func(s *script, m *member) {
			m.cut()
			probe(s)
			m.resume()
			exists(m)
		}, &Noticed{Noticed: true}, 0},
		"a reader's member is behind": {func(m *member) { m.watch(path) }, func(s *script, m *member) {
			m.cut()
			probe(s)
			m.resume()
			s.pos--
			m.watch(path)
		}, &Noticed{}, 1},
		"it does not come back": {func(m *member) { m.watch(path) }, func(s *script, m *member) {
			m.cut()
			probe(s)
		}, &Noticed{}, 1},
		"it had not watched": {func(m *member) { m.own("/a") }, func(s *script, m *member) {
			m.cut()
			probe(s)
			m.resume()
		}, nil, 0},
		"it watches the list of children": {func(m *member) { m.list(path) }, func(s *script, m *member) {
			m.cut()
			probe(s)
			m.resume()
			m.list(path)
		}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript("zookeeper")
			m := s.members(1, 1)[0]
			c.arm(m)
			s.pass(time.Second)
			s.fault(Disconnected, 0, m)
			c.do(s, m)
			s.pass(time.Minute)
			o := s.outcome(t)
			if got := o.Rows[0].Probe; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if o.Missed != c.missed || c.want == nil && o.Changes != 0 || o.Probe == nil || o.Probe.Missed != c.missed {
				t.Errorf("%d of %d changes missed, want %d; %+v", o.Missed, o.Changes, c.missed, o.Probe)
			}
		})
	}
}

// TestReceived has a fault keep what the service sends from the client: only what the client receives tells it anything.
func TestReceived(t *testing.T) {
	const path = "/config"
	for name, c := range map[string]struct {
		then    func(s *script, m *member, received traffic.Tap)
		want    Noticed
		watches int64 // that are back, of one
	}{
		"it never receives the notification": {func(s *script, m *member, received traffic.Tap) {}, Noticed{}, 0},
		"it receives it late": {func(s *script, m *member, received traffic.Tap) {
			received.Message(s.now, drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte(path), Pos: s.pos})
		}, Noticed{true, 3 * time.Second}, 1},
		"its connection ends before, and it does not watch again": {func(s *script, m *member, received traffic.Tap) {
			m.cut()
			m.resume()
		}, Noticed{}, 0},
		"its connection ends before, and it watches again": {func(s *script, m *member, received traffic.Tap) {
			m.cut()
			m.resume()
			m.watch(path)
		}, Noticed{true, 3 * time.Second}, 1},
		"its connection ends before, and its library watches again": {func(s *script, m *member, received traffic.Tap) {
			m.cut()
			m.resume()
			m.watches = []drivers.TxnOp{{Op: drivers.OpGet, Path: []byte(path)}} // it was not told
			m.rearm()
			m.told(drivers.DataChanged, path)
		}, Noticed{true, 3 * time.Second}, 1},
		"it asks, and does not receive the answer": {func(s *script, m *member, received traffic.Tap) { m.get(path) }, Noticed{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript("zookeeper")
			s.faulty = true
			m := s.members(1, 1)[0]
			m.watch(path)
			s.faulty = false
			received := m.held()
			s.pass(time.Second)
			s.fault(Disconnected, 2*time.Second, m)
			s.pos++
			s.a.Probe(Probe{At: s.now, Path: path, Pos: s.pos})
			m.told(drivers.DataChanged, path)
			s.pass(3 * time.Second)
			c.then(s, m, received)
			s.pass(time.Minute)
			o := s.outcome(t)
			if got := o.Rows[0].Probe; got == nil || *got != c.want || o.Watches.Back != c.watches || o.Watches.Had != 1 {
				t.Errorf("got %+v and %d of %d watches, want %+v and %d of 1", got, o.Watches.Back, o.Watches.Had, c.want, c.watches)
			}
		})
	}
}

// held holds back what the service sends from now on by the member's connection. The returned tap gets what it receives.
func (m *member) held() (received traffic.Tap) {
	both := m.tap.(passing)
	m.tap = both.Tap
	return both.received
}

// TestAWatchCountsWhenTheClientHasTheAnswer has answers that arm watches be held back or lost: before a fault the client then has no
// watch to lose, and afterwards it has none back. It receives the answers and the notification that it is given.
func TestAWatchCountsWhenTheClientHasTheAnswer(t *testing.T) {
	const path = "/config"
	get := drivers.Message{Kind: drivers.Reply, Op: drivers.OpGet, Path: []byte(path), Watch: true}
	rearm := drivers.Message{Kind: drivers.Reply, Op: drivers.OpRearm}
	told := drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte(path)}
	twice := func(m *member) { m.watch(path); m.told(drivers.DataChanged, path); m.watch(path) }
	for name, c := range map[string]struct {
		before    func(*member) // what the service answers before the fault
		received  []drivers.Message
		after     func(*member) // likewise after it, with the session resumed
		then      []drivers.Message
		had, back int64
	}{
		"it never has the answer":                            {func(m *member) { m.watch(path) }, nil, nil, nil, 0, 0},
		"it has the answer":                                  {func(m *member) { m.watch(path) }, []drivers.Message{get}, nil, nil, 1, 0},
		"it has the answer of one of two reads":              {func(m *member) { m.watch(path); m.watch(path) }, []drivers.Message{get}, nil, nil, 1, 0},
		"it has the answer, and then the notification":       {func(m *member) { m.watch(path); m.told(drivers.DataChanged, path) }, []drivers.Message{get, told}, nil, nil, 0, 0},
		"it watches again, and has all":                      {twice, []drivers.Message{get, told, get}, nil, nil, 1, 0},
		"it watches again, and never has the second answer":  {twice, []drivers.Message{get, told}, nil, nil, 0, 0},
		"it reads twice at once, and then is told":           {func(m *member) { m.watch(path); m.watch(path); m.told(drivers.DataChanged, path) }, []drivers.Message{get, get, told}, nil, nil, 0, 0},
		"afterwards it never has the answer":                 {func(m *member) { m.watch(path) }, []drivers.Message{get}, func(m *member) { m.watch(path) }, nil, 1, 0},
		"afterwards it has the answer":                       {func(m *member) { m.watch(path) }, []drivers.Message{get}, func(m *member) { m.watch(path) }, []drivers.Message{get}, 1, 1},
		"a packet sets it again whose answer it never has":   {func(m *member) { m.watch(path) }, []drivers.Message{get}, (*member).rearm, nil, 1, 0},
		"a packet sets it again":                             {func(m *member) { m.watch(path) }, []drivers.Message{get}, (*member).rearm, []drivers.Message{rearm}, 1, 1},
		"a packet sets it again, and it fires before that":   {func(m *member) { m.watch(path) }, []drivers.Message{get}, firesFirst, []drivers.Message{told, rearm}, 1, 1},
		"it fires before that, and the client is never told": {func(m *member) { m.watch(path) }, []drivers.Message{get}, firesFirst, nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript("zookeeper")
			s.faulty = true
			m := s.members(1, 1)[0]
			m.own("/svc/m")
			receives := func(all []drivers.Message, by traffic.Tap) {
				for _, r := range all {
					s.pass(ms)
					by.Message(s.now, r)
				}
			}
			first := m.held()
			c.before(m)
			receives(c.received, first)
			s.pass(time.Second)
			s.fault(Disconnected, 0, m)
			m.cut()
			m.resume()
			if c.after != nil {
				received := m.held()
				c.after(m)
				receives(c.then, received)
			}
			s.pass(time.Minute)
			if w := s.outcome(t).Watches; w.Had != c.had || w.Back != c.back {
				t.Errorf("%d of %d watches are back, want %d of %d", w.Back, w.Had, c.back, c.had)
			}
		})
	}
}

// firesFirst has a watch fire that a packet sets again, before the packet is answered.
func firesFirst(m *member) {
	m.rearmAround(func() { m.told(drivers.DataChanged, "/config") })
}

// TestTimesOfThoseThatDidNotComeBack has percentiles that fall on sessions that did not come back: they are lower bounds.
func TestTimesOfThoseThatDidNotComeBack(t *testing.T) {
	for _, c := range []struct {
		took, waited []time.Duration
		want         Times
		bounds       [3]bool // of the median, p99 and the maximum
	}{
		{nil, nil, Times{}, [3]bool{}},
		{[]time.Duration{3, 1, 2}, nil, Times{Sessions: 3, Longest: 3, P50: 2, P99: 3, Max: 3}, [3]bool{}},
		{[]time.Duration{3, 1, 2}, []time.Duration{10}, Times{Sessions: 3, NotBack: 1, Longest: 3, P50: 2, P99: 10, Max: 10}, [3]bool{false, true, true}},
		{[]time.Duration{3}, []time.Duration{10, 2}, Times{Sessions: 1, NotBack: 2, Longest: 3, P50: 3, P99: 3, Max: 3}, [3]bool{true, true, true}},
		{nil, []time.Duration{10}, Times{NotBack: 1, P50: 10, P99: 10, Max: 10}, [3]bool{true, true, true}},
	} {
		got := (&sample{c.took, c.waited}).times()
		if got != c.want || [3]bool{got.AtLeast(50), got.AtLeast(99), got.AtLeast(100)} != c.bounds {
			t.Errorf("%v and %v: %+v, want %+v with bounds %v", c.took, c.waited, got, c.want, c.bounds)
		}
	}
}

// TestSilenceThatAllOutlive says what happened: no connection broke.
func TestSilenceThatAllOutlive(t *testing.T) {
	s := newScript("zookeeper")
	all := s.begin(1, 2)
	s.fault(Disconnected, time.Second, all...)
	s.pass(time.Minute)
	if got, want := s.outcome(t).Sentence(format), "RECOVERS: while no byte came, 2 of 2 sessions stayed connected."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAWatchIsNamedAsItWasArmed tells a watch of exists from one of a read.
func TestAWatchIsNamedAsItWasArmed(t *testing.T) {
	for _, op := range []drivers.Op{drivers.OpExists, drivers.OpGet} {
		s := newScript("zookeeper")
		m := s.members(1, 1)[0]
		m.do(drivers.Message{Op: op, Path: []byte("/app"), Watch: true})
		s.pass(time.Second)
		s.fault(Expired, 0, m)
		m.cut()
		s.pass(time.Minute)
		want := "data"
		if op == drivers.OpExists {
			want = "exists"
		}
		if got := s.outcome(t).Watches.Missing; len(got) != 1 || got[0].Watch != want {
			t.Errorf("%+v, want a watch of kind %s", got, want)
		}
	}
}

// TestFaultsOfOneInstant breaks a connection, whose end is not seen yet when the session expires. The first fault has no
// verdict, and the second one expects all.
func TestFaultsOfOneInstant(t *testing.T) {
	s := newScript("zookeeper")
	m := s.begin(1, 1)[0]
	s.fault(Disconnected, 0, m)
	s.now = s.now.Add(time.Millisecond)
	s.fault(Expired, 0, m)
	m.cut()
	s.pass(time.Second)
	m.refused()
	s.pass(time.Minute)
	r := s.a.Report()
	cut, expired := r.Outcomes[0], r.Outcomes[1]
	if cut.Verdict != NotApplicable || cut.Reason != TooSoon || cut.Kept != 0 {
		t.Errorf("the cut: %s, %s, %d kept; want no verdict, as the next fault came too soon", cut.Verdict, cut.Reason, cut.Kept)
	}
	if expired.Verdict != NotRecovered || expired.Nodes.Back != 0 || expired.Nodes.Had == 0 {
		t.Errorf("the expiry: %s with %d of %d nodes, want none back", expired.Verdict, expired.Nodes.Back, expired.Nodes.Had)
	}
}

// TestAFaultThatComesTooSoon hits a session again before its client had the time to watch again. Then the first fault has no verdict,
// and the second one expects the watch too; after the session's time-out the client has had its time.
func TestAFaultThatComesTooSoon(t *testing.T) {
	hit := func(s *script, m *member) { s.fault(Disconnected, 0, m); m.cut() }
	for name, c := range map[string]struct {
		between, after func(s *script, m *member)
		want           [2]Verdict
	}{
		"resumed, and watches later":     {func(s *script, m *member) { m.resume() }, func(s *script, m *member) { m.resume(); m.rearm() }, [2]Verdict{NotApplicable, Recovers}},
		"resumed, and never watches":     {func(s *script, m *member) { m.resume() }, func(s *script, m *member) { m.resume() }, [2]Verdict{NotApplicable, RecoversPartly}},
		"not resumed, and watches later": {func(s *script, m *member) { m.connect() }, func(s *script, m *member) { m.resume(); m.rearm() }, [2]Verdict{NotApplicable, Recovers}},
		"not resumed, and never watches": {func(s *script, m *member) { m.connect() }, func(s *script, m *member) { m.resume() }, [2]Verdict{NotApplicable, RecoversPartly}},
		"late": {func(s *script, m *member) { m.resume(); s.pass(5 * time.Second) }, func(s *script, m *member) { m.resume() },
			[2]Verdict{RecoversPartly, Recovers}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript("zookeeper")
			m := s.begin(1, 1)[0]
			hit(s, m)
			s.pass(time.Second)
			c.between(s, m)
			hit(s, m)
			s.pass(time.Second)
			c.after(s, m)
			s.pass(time.Minute)
			r := s.a.Report()
			if len(r.Outcomes) != 2 {
				t.Fatalf("%d outcomes, want 2", len(r.Outcomes))
			}
			for i, o := range r.Outcomes {
				missing := int64(0)
				if c.want[i] == RecoversPartly {
					missing = 1
				}
				if o.Verdict != c.want[i] || o.Watches.Had-o.Watches.Back != missing || o.Nodes.Had != o.Nodes.Back {
					t.Errorf("fault %d: %s %s, want %s and %d missing: %+v", i+1, o.Verdict, o.Reason, c.want[i], missing, o.Rows)
				}
			}
		})
	}
}
