package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/client"
)

// process returns a process, nil for one that is not known.
func process(id int) *traffic.Process { return &traffic.Process{ID: id, Started: 1, Name: "program"} }

// dialled returns a connection to etcd of a process, which is known some time after its first request.
func dialled(a *Analysis, of *traffic.Process, port int) script {
	s := script{a.Open(traffic.Connection{Client: fmt.Sprintf("127.0.0.1:%d", port), At: time.Unix(1, 0)})}
	s.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/other"), Pos: 1})
	if of != nil {
		s.Owner(*of)
	}
	return s
}

// keepAlive keeps the lease alive.
func (s script) keepAlive(lease int64) {
	s.Lease(time.Unix(10, 0), lease)
	s.call(drivers.Message{Op: drivers.OpPing})
}

// granted grants the connection a lease.
func (s script) granted(lease int64) {
	s.Message(time.Unix(2, 0), drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen})
	s.Session(time.Unix(2, 0), traffic.Session{ID: lease, Timeout: time.Minute, Lease: true})
	s.Message(time.Unix(2, 0), drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen, Pos: 1})
}

// createWith creates a key with a lease.
func (s script) createWith(lease int64, path string, pos int64, err error) {
	s.Lease(time.Unix(10, 0), lease)
	s.create(path, drivers.Ephemeral, pos, err)
}

func (s script) revoke(lease, pos int64) {
	s.Lease(time.Unix(20, 0), lease)
	s.Message(time.Unix(20, 0), drivers.Message{Kind: drivers.Request, Op: drivers.OpClose})
	s.Message(time.Unix(20, 0), drivers.Message{Kind: drivers.Reply, Op: drivers.OpClose, Pos: pos})
}

func (s script) watchKey(path string, pos int64) {
	s.call(drivers.Message{Op: drivers.OpWatchNode, Path: []byte(path), Watch: true, Pos: pos})
}

func (s script) event(e drivers.EventType, path string, pos int64) {
	s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte(path), Pos: pos})
}

// An etcdClient has a connection for its watch and one for its requests, which may be the same.
type etcdClient struct{ watch, asks script }

// TestClientsOfOneProcessAreKeptApart has many clients of one process race for a key that all of them
// watch, in the ways in which clients use connections. Whatever these are, each change wakes all clients,
// and it is a herd.
func TestClientsOfOneProcessAreKeptApart(t *testing.T) {
	const clients, rounds = 64, 3
	every, none, one := func(int) bool { return true }, func(int) bool { return false }, func(i int) bool { return i == 1 }
	for name, c := range map[string]struct {
		leased func(i int) bool
		apart  bool // the watch has a connection of its own
		want   client.Counts
	}{
		"each has a lease":                         {every, false, client.Counts{Leased: clients}},
		"none has a lease":                         {none, false, client.Counts{Processes: clients}},
		"one has a lease":                          {one, false, client.Counts{Leased: 1, Processes: clients - 1}},
		"each has a lease and a connection for it": {every, true, client.Counts{Leased: clients, Processes: clients}},
		"none has a lease, and two connections":    {none, true, client.Counts{Processes: 2 * clients}},
	} {
		for _, n := range []int{2, clients} {
			a := New(DefaultLimits)
			var all []etcdClient
			for i := range n {
				e := etcdClient{asks: dialled(a, process(7), 1000+i)}
				if e.watch = e.asks; c.apart {
					e.watch = dialled(a, process(7), 2000+i)
				}
				all = append(all, e)
			}
			raceForKey(all, rounds, func(i int) (lease int64) {
				if !c.leased(i) {
					return 0
				}
				return int64(100 + i)
			})
			r := a.Report()
			oneProcess := r.Traffic.Clients == 1 && r.Clients[0].Process.ID == 7
			if n == clients && (r.Traffic.ToldApart != c.want || !oneProcess) {
				t.Errorf("%s: %+v of %d clients, want %+v of 1", name, r.Traffic.ToldApart, r.Traffic.Clients, c.want)
			}
			p := r.Places[0]
			all64 := p.Sessions == n && p.FanoutMax == int64(n) && p.FanoutP50 == int64(n)
			if p.Path != "/leader" || !all64 || p.Changes != 2*rounds {
				t.Errorf("%s: %s is watched by %d, and %d changes wake %d at the median and at most %d; want %d, %d, %d, %d",
					name, p.Path, p.Sessions, p.Changes, p.FanoutP50, p.FanoutMax, n, 2*rounds, n, n)
			}
			if n == clients && !c.apart && !p.Herd() {
				t.Errorf("%s: no herd: %+v", name, p.Form)
			}
		}
	}
}

// raceForKey has all clients watch a key and race to create it again whenever it has gone, with the leases
// that they have, 0 for none.
func raceForKey(all []etcdClient, rounds int, lease func(i int) int64) {
	for i, c := range all {
		if id := lease(i); id != 0 {
			c.asks.granted(id)
		}
		c.watch.watchKey("/leader", 2)
	}
	pos := int64(3)
	for round := range rounds {
		holder := round % len(all)
		for k := range all {
			i := (holder + k) % len(all)
			if id := lease(i); id != 0 {
				all[i].asks.Lease(time.Unix(10, 0), id)
			}
			var err error
			if k > 0 {
				err = drivers.ErrNodeExists
			}
			all[i].asks.create("/leader", 0, pos, err)
		}
		for _, c := range all {
			c.watch.event(drivers.Created, "/leader", pos)
		}
		all[holder].asks.remove("/leader", pos+1)
		for _, c := range all {
			c.watch.event(drivers.Deleted, "/leader", pos+1)
		}
		pos += 2
	}
}

// TestOneClientWithSeveralConnections has two clients of etcd's gateway: each has a connection that only
// watches, and two for requests with its lease. A change wakes each client once.
func TestOneClientWithSeveralConnections(t *testing.T) {
	for name, c := range map[string]struct {
		process func(i int) *traffic.Process
		want    client.Counts
		asked   int // clients that sent requests to the other path
	}{
		"processes":   {process, client.Counts{Leased: 2}, 2},
		"packets":     {func(int) *traffic.Process { return nil }, client.Counts{Leased: 2, Connections: 2}, 4},
		"one process": {func(int) *traffic.Process { return process(7) }, client.Counts{Leased: 2, Processes: 2}, 4},
		"one is unknown": {func(i int) *traffic.Process {
			return map[int]*traffic.Process{1: process(1)}[i]
		}, client.Counts{Leased: 2, Connections: 1}, 3},
	} {
		a := New(DefaultLimits)
		for i := range 2 {
			of, lease := c.process(i+1), int64(i+1)
			watch, first, second := dialled(a, of, 100*i+1), dialled(a, of, 100*i+2), dialled(a, of, 100*i+3)
			watch.watchKey("/config", 2)
			first.granted(lease)
			second.createWith(lease, fmt.Sprintf("/members/m%d", i), int64(10+i), nil)
			second.set("/config", int64(20+i))
			if watch.event(drivers.DataChanged, "/config", int64(20+i)); i == 1 { // the first client's watch has ended then
				first.set("/config", 30)
			}
		}
		r := a.Report()
		if r.Traffic.ToldApart != c.want || r.Traffic.Sessions != c.want.Total() {
			t.Errorf("%s: %d sessions, %+v; want %+v", name, r.Traffic.Sessions, r.Traffic.ToldApart, c.want)
		}
		for _, p := range r.Places {
			if p.Path == "/other" && p.Askers != c.asked {
				t.Errorf("%s: %s is asked for by %d, want %d", name, p.Path, p.Askers, c.asked)
			}
			if p.Path == "/config" && (p.Sessions != 2 || p.FanoutMax != 1) {
				t.Errorf("%s: %s is watched by %d, and a change wakes %d; want 2 and 1", name, p.Path, p.Sessions, p.FanoutMax)
			}
		}
		for _, change := range r.Largest {
			known := c.process(2) != nil && c.process(1) != nil
			if known && (change.Process == nil || change.Process.Name != "program") {
				t.Errorf("%s: a change by %s of process %+v, want a program", name, change.Writer, change.Process)
			}
		}
	}
}

// TestReconnectedClient has a client that keeps its lease over two connections, and one that does not come
// back.
func TestReconnectedClient(t *testing.T) {
	a := New(DefaultLimits)
	first, gone := dialled(a, nil, 1), dialled(a, nil, 2)
	first.granted(1)
	gone.granted(2)
	first.keepAlive(1)
	gone.keepAlive(2)
	leaver := dialled(a, nil, 4) // its lease is to run out, as one that is used as a time-to-live
	leaver.granted(3)
	leaver.Close(time.Unix(30, 0))
	first.watchKey("/config", 2)
	first.Close(time.Unix(30, 0))
	gone.Close(time.Unix(30, 0))
	again := dialled(a, nil, 3)
	again.keepAlive(1)
	again.watchKey("/config", 2)
	again.set("/config", 40)
	again.event(drivers.DataChanged, "/config", 40)
	a.Open(traffic.Connection{Client: "127.0.0.1:9", At: time.Unix(200, 0)}).Close(time.Unix(200, 0))
	r := a.Report()
	if tr := r.Traffic; tr.Sessions != 3 || tr.ToldApart.Leased != 3 || tr.Lost != 1 || tr.Connections != 5 {
		t.Errorf("%d sessions, %+v, %d expired; want 3, all with a lease, one expired", tr.Sessions, tr.ToldApart, tr.Lost)
	}
	if p := r.Places[0]; p.Path != "/config" || p.Sessions != 1 || p.FanoutMax != 1 {
		t.Errorf("%s is watched by %d, and a change wakes %d; want /config, 1, 1", p.Path, p.Sessions, p.FanoutMax)
	}
}

// TestLeasesOfOneConnection has a client with two leases: its watch goes on when it revokes one, and only
// the keys of that lease are gone.
func TestLeasesOfOneConnection(t *testing.T) {
	a := New(DefaultLimits)
	c, writer := dialled(a, nil, 1), dialled(a, nil, 2)
	c.watchKey("/config", 2)
	c.granted(1)
	c.createWith(1, "/first", 10, nil)
	c.granted(2)
	c.createWith(2, "/second", 11, nil)
	c.revoke(1, 12)
	for pos := int64(20); pos < 23; pos++ {
		writer.set("/config", pos)
		c.event(drivers.DataChanged, "/config", pos)
	}
	of := a.sessionAt(t, c)
	if of.children["/first"] != nil || of.children["/second"] == nil || of.over || len(of.watches) != 1 {
		t.Errorf("children %v, %d watches, over: %v; want the key of the other lease and the watch", of.children, len(of.watches), of.over)
	}
	r := a.Report()
	tr := r.Traffic
	if got, want := [5]int64{tr.Sessions, tr.Changes, tr.FanoutMax, tr.UnseenWriters, tr.Ended}, [5]int64{2, 3, 1, 0, 1}; got != want {
		t.Errorf("sessions, changes, the most that one woke, those of others and sessions that ended: %v, want %v", got, want)
	}
	if want := (client.Churn{Opened: 2, Closed: 1, ShortLived: 1, MostAtOnce: 2}); r.Churn != want {
		t.Errorf("churn %+v, want %+v", r.Churn, want)
	}
}

// sessionAt returns the session of a connection.
func (a *Analysis) sessionAt(t *testing.T, s script) *session {
	t.Helper()
	return s.Tap.(*tap).s
}
