package recovery

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// grant grants the client a lease.
func (m *member) grant(lease int64) {
	m.ask(drivers.Message{Op: drivers.OpOpen})
	m.tap.Session(m.now, traffic.Session{ID: lease, Timeout: 4 * time.Second, Lease: true})
	m.tap.Message(m.now, drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen})
}

// put writes a key that is bound to a lease.
func (m *member) put(lease int64, key string) {
	m.tap.Lease(m.now, lease)
	m.do(drivers.Message{Op: drivers.OpSet, Path: []byte(key)})
}

func (m *member) keepAlive(lease int64) {
	m.tap.Lease(m.now, lease)
	m.do(drivers.Message{Op: drivers.OpPing})
}

func (m *member) watchKey(key string) {
	m.armed++
	m.do(drivers.Message{Op: drivers.OpWatchNode, Path: []byte(key), Watch: true, Number: m.armed})
}

func (m *member) watchKeys(prefix string) {
	m.watchFrom(prefix, 0)
}

// watchFrom watches from a revision, 0 for the current one.
func (m *member) watchFrom(prefix string, revision int64) {
	q := drivers.Message{Op: drivers.OpWatchTree, Path: []byte(prefix), Watch: true, Pos: revision}
	m.ask(q)
	m.armed++
	q.Kind, q.Pos, q.Number = drivers.Reply, m.pos, m.armed
	m.tap.Message(m.now, q)
}

// ends has a fault end watches of a client, whose latest connection it hits.
func (s *script) ends(kind Kind, m *member, watches ...string) {
	s.a.Fault(Fault{At: s.now, What: "test", Kind: kind, Clients: []string{fmt.Sprintf("192.0.2.%d:%d", m.pid, m.conn)}, Watches: watches})
}

// reconnect breaks the connection of a client, which has another one a second later and keeps its lease alive.
func (s *script) reconnect(m *member) {
	s.fault(Disconnected, 0)
	m.cut()
	s.pass(time.Second)
	m.connect()
	m.keepAlive(101)
}

// client connects a client with a key and a watch. Its process is not known if pid is 0.
func (s *script) client(pid int) *member {
	m := &member{script: s, pid: pid}
	m.connect()
	m.grant(int64(100 + pid))
	m.put(int64(100+pid), "/svc/a")
	m.watchKeys("/app/")
	s.pass(time.Second)
	return m
}

var etcdStories = []story{
	{"a lease expires, and the key is put with another one", func(s *script) {
		m := s.client(1)
		s.fault(Expired, 0)
		s.pass(time.Second)
		m.grant(7)
		m.put(7, "/svc/a")
	}},
	{"a lease expires, and the client goes on without its key", func(s *script) {
		s.client(1)
		s.fault(Expired, 0)
		s.pass(time.Minute)
	}},
	{"a connection breaks, and the client watches again", func(s *script) {
		m := s.client(1)
		s.reconnect(m)
		m.watchKeys("/app/")
	}},
	{"a connection breaks, and the client does not watch again", func(s *script) {
		m := s.client(1)
		s.reconnect(m)
	}},
	{"the process is not known, and the lease tells whose the connection is", func(s *script) {
		m := s.client(0)
		s.fault(Disconnected, 0)
		m.cut()
		s.pass(time.Second)
		m.connect()
		m.keepAlive(100)
		m.watchKeys("/app/")
	}},
	{"the process is not known, and another connection replaces the first", func(s *script) {
		m := s.client(0)
		s.fault(Expired, 0)
		m.cut()
		s.pass(time.Second)
		m.connect()
		m.grant(8)
		m.put(8, "/svc/a")
	}},
	{"its server fails: attempts that reach none are no connections, nor is one that breaks without an answer", func(s *script) {
		m := s.client(1)
		s.fault(ServerFailed, 3*time.Second)
		s.pass(20 * ms)
		m.cut()
		m.fails()
		s.pass(10 * ms)
		m.connect()
		m.ask(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/app/"), Watch: true})
		s.pass(10 * ms)
		m.cut()
		s.pass(470 * ms)
		m.fails()
		s.pass(4 * time.Second)
		m.connect()
		s.pass(5 * ms)
		m.keepAlive(101)
		s.pass(5 * ms)
		m.watchKeys("/app/")
		s.pass(10 * time.Second)
	}},
	{"its server fails for a while, and it is back by another one before that is over", func(s *script) {
		m := s.client(1)
		s.fault(ServerFailed, 3*time.Second)
		s.pass(20 * ms)
		m.cut()
		s.pass(40 * ms)
		m.connect()
		m.keepAlive(101)
		m.watchKeys("/app/")
		s.pass(10 * time.Second)
	}},
	{"one of its servers fails, with its watch, and it watches by the connection that it has to another", func(s *script) {
		m := s.client(1)
		other := &member{script: s, pid: 1}
		other.connect()
		other.keepAlive(101)
		s.fault(ServerFailed, 3*time.Second)
		s.pass(20 * ms)
		m.cut()
		m.fails()
		s.pass(30 * ms)
		other.watchKeys("/app/")
		s.pass(4 * time.Second)
		m.connect()
		m.keepAlive(101)
		s.pass(10 * time.Second)
	}},
	{"the same, the server does not answer again, and the program ends with the observation", func(s *script) {
		m := s.client(1)
		other := &member{script: s, pid: 1}
		other.connect()
		other.keepAlive(101)
		s.fault(ServerFailed, 3*time.Second)
		s.pass(20 * ms)
		m.cut()
		m.fails()
		s.pass(30 * ms)
		other.watchKeys("/app/")
		s.pass(10 * time.Second)
		other.cut()
	}},
	{"it connects again, and asks for nothing", func(s *script) {
		m := s.client(1)
		s.fault(Disconnected, 0)
		m.cut()
		s.pass(30 * ms)
		m.connect()
		s.pass(2 * time.Second)
	}},
	{"it has a connection for each request, as of the gateway, and one for its watch, and no connection breaks", func(s *script) {
		m := &member{script: s, pid: 1}
		m.connect()
		m.watchKeys("/app/")
		request := func(do func(*member)) {
			each := &member{script: s, pid: 1}
			each.connect()
			do(each)
			s.pass(ms)
			each.cut()
		}
		request(func(each *member) { each.grant(101); each.put(101, "/svc/a") })
		s.pass(time.Second)
		s.fault(Delayed, time.Second)
		for range 6 {
			request(func(each *member) { each.keepAlive(101) })
			s.pass(500 * ms)
		}
		m.cut()
		s.pass(100 * ms)
	}},
	{"its server fails, and no connection is answered any more", func(s *script) {
		m := s.client(1)
		s.fault(ServerFailed, 0)
		m.cut()
		s.pass(30 * ms)
		m.connect()
		m.ask(drivers.Message{Op: drivers.OpWatchTree, Path: []byte("/app/"), Watch: true})
		s.pass(10 * time.Second)
	}},
	{"one connection of two is hit by its address", func(s *script) {
		m := s.client(1)
		other := &member{script: s, pid: 1}
		other.connect()
		other.watchKeys("/other/")
		s.pass(time.Second)
		s.a.Fault(Fault{At: s.now, Kind: Disconnected, Clients: []string{"192.0.2.1:2"}})
		other.cut()
		s.pass(time.Second)
		m.keepAlive(101)
	}},
	{"the process is found with the second connection only, and the lease tells whose the first was", func(s *script) {
		m := &member{script: s, pid: 1, hidden: true}
		m.connect()
		m.grant(101)
		m.put(101, "/svc/a")
		m.watchKeys("/app/")
		s.pass(time.Second)
		s.fault(Disconnected, 0)
		m.cut()
		s.pass(time.Second)
		m.hidden = false
		m.connect()
		m.watchKeys("/app/")
		m.keepAlive(101)
		s.pass(time.Minute)
	}},
	{"a lease outlives its connection, but not for longer than its time-out", func(s *script) {
		m := s.client(0)
		s.fault(Disconnected, 0)
		m.cut()
		s.pass(5 * time.Second)
	}},
	{"a client has ended its watch before", func(s *script) {
		m := s.client(1)
		m.do(drivers.Message{Op: drivers.OpUnwatch, Path: []byte("/app/"), Watch: true, Removes: drivers.TreeWatch, Number: 1})
		s.pass(time.Second)
		s.reconnect(m)
	}},
	{"a client ends its watch after the fault and goes on", func(s *script) {
		m := s.client(1)
		s.fault(Delayed, 0)
		s.pass(time.Second)
		m.do(drivers.Message{Op: drivers.OpUnwatch, Path: []byte("/app/"), Watch: true, Removes: drivers.TreeWatch, Number: 1})
		s.pass(1100 * time.Millisecond)
		m.cut()
		m.connect()
		m.keepAlive(101)
		s.pass(time.Minute)
	}},
	{"a client stops after the fault: it ends its watch just before its connection", func(s *script) {
		m := s.client(1)
		s.fault(Delayed, 0)
		s.pass(time.Second)
		m.do(drivers.Message{Op: drivers.OpUnwatch, Path: []byte("/app/"), Watch: true, Removes: drivers.TreeWatch, Number: 1})
		s.pass(900 * time.Millisecond)
		m.cut()
		m.connect()
		m.keepAlive(101)
		s.pass(time.Minute)
	}},
	{"a lease is revoked, and the key with it", func(s *script) {
		m := s.client(1)
		m.tap.Lease(s.now, 101)
		m.do(drivers.Message{Op: drivers.OpClose})
		s.pass(time.Second)
		s.fault(Expired, 0)
		s.pass(time.Second)
	}},
	{"its watch fell behind a compaction, and it watches again from there", func(s *script) {
		m := s.client(1)
		other := &member{script: s, pid: 2}
		other.connect()
		s.ends(WatchCompacted, m, "/app/")
		s.pass(time.Second)
		other.set("/app/config")
		s.pass(time.Second)
		m.watchFrom("/app/", 9)
		m.told(drivers.DataChanged, "/app/config")
		s.pass(time.Minute)
	}},
	{"its watch was cancelled, and it watches again from the current revision, after a change that it does not read", func(s *script) {
		m := s.client(1)
		other := &member{script: s, pid: 2}
		other.connect()
		s.ends(WatchCanceled, m, "/app/")
		s.pass(time.Second)
		other.set("/app/config")
		s.pass(time.Second)
		m.watchFrom("/app/", 0)
		s.pass(time.Minute)
	}},
	{"its watch was cancelled, and it does not watch again: its end is seen later, and another watch stands", func(s *script) {
		m := s.client(1)
		m.watchKeys("/other/")
		s.pass(time.Second)
		s.ends(WatchCanceled, m, "/app/")
		m.do(drivers.Message{Op: drivers.OpUnwatch, Path: []byte("/app/"), Watch: true, Removes: drivers.TreeWatch, Number: 1})
		s.pass(time.Minute)
	}},
	{"the stream of its watches broke, and one is back", func(s *script) {
		m := s.client(1)
		m.watchKeys("/other/")
		s.pass(time.Second)
		s.ends(StreamBroken, m, "/app/", "/other/")
		s.pass(time.Second)
		m.watchFrom("/other/", 5)
		s.pass(time.Minute)
	}},
	{"it had two watches on a key, and one is back", func(s *script) {
		m := s.client(1)
		m.watchKeys("/app/")
		s.pass(time.Second)
		s.reconnect(m)
		m.watchKeys("/app/")
		s.pass(time.Minute)
	}},
	{"it had two watches on a key, and both are back", func(s *script) {
		m := s.client(1)
		m.watchKeys("/app/")
		s.pass(time.Second)
		s.reconnect(m)
		m.watchKeys("/app/")
		m.watchKeys("/app/")
	}},
	{"it had two watches on a key, by two connections, and watches again before the end of one of these is seen", func(s *script) {
		m := s.client(1)
		other := &member{script: s, pid: 1}
		other.connect()
		other.watchKeys("/app/")
		s.pass(time.Second)
		s.fault(Disconnected, 0)
		earlier := m.tap
		m.connect()
		m.keepAlive(101)
		m.watchKeys("/app/")
		earlier.Close(s.now)
		s.pass(time.Second)
		other.cut()
		other.connect()
		other.watchKeys("/app/")
	}},
	{"it had two watches on a key, and had ended one", func(s *script) {
		m := s.client(1)
		m.watchKeys("/app/")
		m.do(drivers.Message{Op: drivers.OpUnwatch, Path: []byte("/app/"), Watch: true, Removes: drivers.TreeWatch, Number: 1})
		s.pass(time.Second)
		s.reconnect(m)
		m.watchKeys("/app/")
	}},
	{"two watches on a key were cancelled, whose ends are seen later, and one is back", func(s *script) {
		m := s.client(1)
		m.watchKeys("/app/")
		s.pass(time.Second)
		s.ends(WatchCanceled, m, "/app/", "/app/")
		for n := range 2 {
			m.do(drivers.Message{Op: drivers.OpUnwatch, Path: []byte("/app/"), Watch: true, Removes: drivers.TreeWatch, Number: n + 1})
		}
		s.pass(time.Second)
		m.watchFrom("/app/", 5)
		s.pass(time.Minute)
	}},
	{"the stream of one of two watches on a key broke, and is not back", func(s *script) {
		m := s.client(1)
		m.watchKeys("/app/")
		s.pass(time.Second)
		s.ends(StreamBroken, m, "/app/")
		s.pass(time.Minute)
	}},
	{"it watches a key twice and a prefix once, and a change of the key is one", func(s *script) {
		m, other := &member{script: s, pid: 1}, &member{script: s, pid: 2}
		m.connect()
		other.connect()
		m.watchKey("/app/config")
		m.watchKey("/app/config")
		m.watchKeys("/app/")
		s.pass(time.Second)
		s.ends(Disconnected, m)
		m.cut()
		other.set("/app/config")
		s.pass(time.Second)
		m.connect()
		m.watchKey("/app/config")
		m.watchKey("/app/config")
		m.watchKeys("/app/")
		s.pass(time.Minute)
	}},
	{"a key below the one that it watches is created, which concerns it not", func(s *script) {
		m, other := &member{script: s, pid: 1}, &member{script: s, pid: 2}
		m.connect()
		other.connect()
		m.watchKey("/app")
		s.pass(time.Second)
		s.ends(Disconnected, m)
		m.cut()
		other.do(drivers.Message{Op: drivers.OpCreate, Path: []byte("/app/config")})
		s.pass(time.Second)
		m.connect()
		m.watchKey("/app")
		s.pass(time.Minute)
	}},
	{"a write is repeated after its reply was lost, and before that the client has read the range that it is in", func(s *script) {
		m := s.client(1)
		job := drivers.Message{Op: drivers.OpCreate, Path: []byte("/jobs/one")}
		s.fault(LostReply, 0)
		m.do(job)
		m.drops(job.Op)
		m.cut()
		m.connect()
		m.keepAlive(101)
		m.watchKeys("/app/")
		m.do(drivers.Message{Op: drivers.OpChildren, Path: []byte("/jobs/")})
		m.do(job)
	}},
	{"no watch was hit", func(s *script) {
		m := s.client(1)
		s.ends(WatchCompacted, m)
		s.pass(time.Minute)
	}},
	{"a key is created twice with names of the client", func(s *script) {
		m := &member{script: s, pid: 1}
		m.connect()
		m.grant(9)
		m.put(9, "/svc/6f9619ff8b86")
		s.pass(time.Second)
		s.fault(Expired, 0)
		s.pass(time.Second)
		m.grant(10)
		m.put(10, "/svc/00c04fc964ff")
		m.put(10, "/svc/41d40acb13d7")
		s.pass(time.Minute)
	}},
}

// TestStoriesOfEtcd is TestStories with leases.
func TestStoriesOfEtcd(t *testing.T) { tellStories(t, "etcd", etcdStories, "testdata/etcd.txt") }

// TestAWatchIsAwaitedFromTheFault has a fault end the only watch of a client, which goes on by its connection until the
// program ends: it has waited since the fault, not since the end of the connection.
func TestAWatchIsAwaitedFromTheFault(t *testing.T) {
	s := newScript("etcd")
	m := s.client(1)
	s.ends(WatchCompacted, m, "/app/")
	s.pass(1500 * ms)
	m.cut()
	s.pass(20 * ms)
	if o := s.outcome(t); o.Verdict != RecoversPartly && o.Verdict != NotRecovered || o.Watching.NotBack != 1 || o.Watching.P99 < 1500*ms {
		t.Errorf("%s, watches %+v; want one that was not back for 1.5 s", o.Verdict, o.Watching)
	}
}

// TestWhatAnswersOfEtcdShow has a client read after a change of /config in each way, and after the creation or removal of
// /config/a by another client. An answer without values shows the second, and one without the keys shows neither.
func TestWhatAnswersOfEtcdShow(t *testing.T) {
	at := func(path string, below, values bool) []drivers.Sight {
		return []drivers.Sight{{Path: []byte(path), Below: below, Values: values}}
	}
	for _, c := range []struct {
		name          string
		shown         []drivers.Sight
		value, member bool // what it shows
	}{
		{"nothing", []drivers.Sight{}, false, false},
		{"the value", at("/config", false, true), true, false},
		{"that the key is there", at("/config", false, false), false, false},
		{"that the other key is there", at("/config/a", false, false), false, true},
		{"all values", at("/", true, true), true, true},
		{"all keys", at("/", true, false), false, true},
		{"the values of the prefix", at("/config", true, true), true, true},
		{"the values below", at("/config/", true, true), false, true},
		{"the keys below", at("/config/", true, false), false, true},
		{"another range", at("/other/", true, true), false, false},
	} {
		for change, want := range map[drivers.Op]bool{drivers.OpSet: c.value, drivers.OpCreate: c.member, drivers.OpDelete: c.member} {
			s := newScript("etcd")
			m, other := &member{script: s, pid: 1}, &member{script: s, pid: 2}
			m.connect()
			other.connect()
			m.watchKey("/config")
			m.watchKeys("/config/")
			s.pass(time.Second)
			s.ends(WatchCanceled, m, "/config", "/config/")
			if change == drivers.OpSet {
				s.pos++
				s.a.Probe(Probe{At: s.now, Path: "/config", Pos: s.pos})
				other.set("/config")
			} else {
				other.do(drivers.Message{Op: change, Path: []byte("/config/a")})
			}
			m.watchKey("/config")
			m.watchKeys("/config/")
			m.do(drivers.Message{Op: drivers.OpGet, Path: []byte("/config"), Shown: c.shown})
			s.pass(time.Minute)
			o := s.outcome(t)
			missed := o.Changes
			if want {
				missed = 0
			}
			if o.Changes == 0 || o.Missed != missed || change == drivers.OpSet && o.Rows[0].Probe.Noticed != want {
				t.Errorf("an answer that shows %s: %d of %d changes by %s were missed, want %d; %+v", c.name, o.Missed, o.Changes, change, missed, o.Rows[0].Probe)
			}
		}
	}
}
