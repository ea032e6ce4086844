package client

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

func at(second int) time.Time { return time.Unix(int64(second), 0) }

// opened returns a connection that begins at a second from a port of the address.
func opened(t *Table, second int, address string) *Connection {
	return t.Open(traffic.Connection{Client: address, At: at(second)})
}

// serving returns a connection whose session has no number.
func serving(t *Table, second int) *Connection {
	c := opened(t, second, fmt.Sprintf("127.0.0.1:%d", second+1000))
	c.Begin(false)
	return c
}

var (
	one     = traffic.Process{ID: 10, Started: 1, Name: "python3"}
	another = traffic.Process{ID: 11, Started: 2, Name: "java"}
)

// wantCounts compares how many sessions there were, and at how many clients.
func wantCounts(t *testing.T, about string, table *Table, want Counts, clients int) {
	t.Helper()
	table.Resolve(nil)
	if got, n := table.Counts(), table.Clients(); got != want || n != clients {
		t.Errorf("%s: %+v of %d clients, want %+v of %d", about, got, n, want, clients)
	}
	table.Forget()
	var sum int64
	for _, r := range table.Rows(0) {
		sum += r.Sessions
	}
	if sum < want.Total() {
		t.Errorf("%s: the rows have %d sessions, fewer than %d", about, sum, want.Total())
	}
}

// TestLeasesJoin checks that connections which use one lease are one session, in any order of what is known,
// and that others are not.
func TestLeasesJoin(t *testing.T) {
	table := New(100)
	granted, writing, beating := serving(table, 1), serving(table, 1), serving(table, 1)
	other, idle := serving(table, 1), serving(table, 1)
	wantCounts(t, "before any lease", table, Counts{Connections: 5}, 1)
	beating.Lease(7) // a part of the grant's reply was lost
	granted.Granted(7, at(2), time.Minute)
	writing.Lease(7)
	other.Granted(8, at(2), time.Minute)
	wantCounts(t, "two leases", table, Counts{Leased: 2, Connections: 1}, 1)
	a, b, c := granted.session.Unit(), writing.session.Unit(), other.session.Unit()
	if a != b || a == c || idle.session.Unit() == a {
		t.Error("the wrong connections are one session")
	}
	other.Granted(9, at(3), time.Minute) // a client has several leases
	granted.Close(at(4))
	again := serving(table, 5)
	again.Lease(7) // it connects again
	wantCounts(t, "after a reconnect", table, Counts{Leased: 2, Connections: 1}, 1)
	writing.Lease(9) // it turns out to be the same client
	wantCounts(t, "one client with three leases", table, Counts{Leased: 1, Connections: 1}, 1)
	if lasted, timeout, known := again.Revoked(7, at(9)); lasted != 7*time.Second || timeout != time.Minute || !known {
		t.Errorf("revoked after %v of %v, %v; want 7s of 1m0s", lasted, timeout, known)
	}
	later := serving(table, 10)
	later.Lease(7) // an identifier that is used again after its lease was revoked
	wantCounts(t, "another lease with the same identifier", table, Counts{Leased: 2, Connections: 1}, 1)
}

// TestLapse checks that a client whose leases may expire is known: it has no connection and has not revoked
// them.
func TestLapse(t *testing.T) {
	table := New(100)
	c, second := serving(table, 1), serving(table, 1)
	s := c.session
	c.Granted(7, at(1), time.Second)
	second.Lease(7)
	second.Kept(7)
	c.Close(at(2))
	if s.Lapse() || !s.Active() {
		t.Error("it lapses while a connection is open")
	}
	second.Close(at(3))
	if !s.Leased() || s.Active() || !s.Lapse() || s.Lapse() {
		t.Error("it lapses once, when no connection is open")
	}
	d := serving(table, 4)
	d.Granted(8, at(4), time.Second)
	d.Kept(8)
	d.Revoked(8, at(5))
	d.Close(at(6))
	if d.session.Leased() || d.session.Lapse() {
		t.Error("it lapses although it has revoked its lease")
	}
}

// TestALeaseLeftOnPurpose grants clients two leases each, of which they keep some alive and revoke some before they close
// their connection. A lease that was never kept alive was left to expire; one that was, and is not revoked, is lost.
func TestALeaseLeftOnPurpose(t *testing.T) {
	for name, c := range map[string]struct {
		kept, revoked []int64
		lost          bool
	}{
		"no lease is kept alive":            {},
		"one of them is":                    {kept: []int64{1}, lost: true},
		"it is revoked":                     {kept: []int64{1}, revoked: []int64{1}},
		"the other one is revoked":          {kept: []int64{1}, revoked: []int64{2}, lost: true},
		"both are kept, and one is revoked": {kept: []int64{1, 1, 2, 2}, revoked: []int64{1}, lost: true},
	} {
		table := New(100)
		d := serving(table, 1)
		d.Granted(1, at(1), time.Second)
		d.Granted(2, at(1), time.Second)
		for _, id := range c.kept {
			d.Kept(id)
		}
		for _, id := range c.revoked {
			d.Revoked(id, at(2))
		}
		d.Close(at(3))
		if lost := d.session.Lapse(); lost != c.lost || d.session.Leased() {
			t.Errorf("%s: lost %v, want %v, and no lease from then on", name, lost, c.lost)
		}
	}
}

// TestProcessIsNotAClient checks that the connections of a process without leases are as many sessions as
// were open at once, whenever their process became known.
func TestProcessIsNotAClient(t *testing.T) {
	table := New(100)
	var all []*Connection
	for range 64 { // clients of one process
		c := serving(table, 1)
		c.Owner(one)
		all = append(all, c)
	}
	wantCounts(t, "64 clients at once", table, Counts{Processes: 64}, 1)
	for _, c := range all {
		c.Close(at(2))
	}
	for range 64 { // they connect again
		c := serving(table, 3)
		c.Owner(one)
	}
	wantCounts(t, "64 clients connect again", table, Counts{Processes: 64}, 1)

	table = New(100)
	for i := range 100 { // the process is known while the connection lasts, or after it
		c := serving(table, 2*i)
		if i%2 == 0 {
			c.Owner(one)
		}
		c.Close(at(2*i + 1))
		c.Owner(one)
	}
	wantCounts(t, "one connection after the other", table, Counts{Processes: 1}, 1)

	table = New(100)
	long, short := serving(table, 1), serving(table, 2) // both are open at 3, which is known at 4 and 5
	short.Close(at(3))
	short.Owner(one)
	long.Owner(one)
	wantCounts(t, "two at once, known later", table, Counts{Processes: 2}, 1)

	table = New(100)
	for i := range 100 {
		serving(table, 2*i).Close(at(2*i + 1))
	}
	wantCounts(t, "connections of an address", table, Counts{Connections: 100}, 1)

	table = New(100)
	for i := range 64 { // each gets its lease after its process is known
		c := serving(table, 1)
		c.Owner(one)
		c.Granted(int64(i+1), at(2), time.Minute)
	}
	wantCounts(t, "64 clients with leases", table, Counts{Leased: 64}, 1)
}

// TestOneClientOfAProcess checks when all connections of a process are one session: a client with a lease
// has a watch and requests on connections of their own.
func TestOneClientOfAProcess(t *testing.T) {
	client := func() (table *Table, leased, watching, reading *Connection) {
		table = New(100)
		leased, watching, reading = serving(table, 1), serving(table, 1), serving(table, 1)
		leased.Granted(7, at(1), time.Minute)
		for _, c := range []*Connection{leased, watching, reading} {
			c.Owner(one)
		}
		return table, leased, watching, reading
	}
	for name, c := range map[string]struct {
		more func(table *Table, leased, watching, reading *Connection) (watchers []Set)
		want Counts
	}{
		"one client": {func(_ *Table, _, w, _ *Connection) []Set { return []Set{{w.session: true}} }, Counts{Leased: 1}},
		"two watch the same at once": {func(_ *Table, _, w, r *Connection) []Set {
			return []Set{{w.session: true, r.session: true}}
		}, Counts{Leased: 1, Processes: 2}},
		"the lease's watches the same": {func(_ *Table, l, w, _ *Connection) []Set {
			return []Set{{w.session: true, l.session: true}}
		}, Counts{Leased: 1, Processes: 2}},
		"two watch the same one after the other": {func(table *Table, _, w, _ *Connection) []Set {
			w.Close(at(5))
			w.session.End(at(5))
			again := serving(table, 6)
			again.Owner(one)
			return []Set{{w.session: true, again.session: true}}
		}, Counts{Leased: 1}},
		"two watch different paths": {func(_ *Table, _, w, r *Connection) []Set {
			return []Set{{w.session: true}, {r.session: true}}
		}, Counts{Leased: 1}},
		"a change wakes two": {func(_ *Table, _, w, r *Connection) []Set {
			Set{w.session: true, r.session: true}.WokenTogether()
			return nil
		}, Counts{Leased: 1, Processes: 2}},
		"another client has a lease": {func(table *Table, _, _, _ *Connection) []Set {
			c := serving(table, 2)
			c.Owner(one)
			c.Granted(8, at(2), time.Minute)
			return nil
		}, Counts{Leased: 2, Processes: 2}},
		"many connections": {func(table *Table, _, _, _ *Connection) []Set {
			for range mostOfOne - 1 {
				c := serving(table, 2)
				c.Owner(one)
			}
			return nil
		}, Counts{Leased: 1, Processes: mostOfOne + 1}},
		"another process": {func(table *Table, _, _, _ *Connection) []Set {
			c := serving(table, 2)
			c.Owner(another)
			return nil
		}, Counts{Leased: 1, Processes: 1}},
		"a process that is not known": {func(table *Table, _, _, _ *Connection) []Set {
			serving(table, 2)
			return nil
		}, Counts{Leased: 1, Connections: 1}},
	} {
		table, leased, watching, reading := client()
		watchers := c.more(table, leased, watching, reading)
		table.Resolve(watchers)
		if got := table.Counts(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if is := watching.session.Unit() == leased.session.Unit(); is != (c.want.Processes < 2) {
			t.Errorf("%s: the watch is of the client with the lease: %v", name, is)
		}
		table.Forget()
		if watching.session.Unit() == leased.session.Unit() {
			t.Errorf("%s: the report has changed what is known", name)
		}
	}
}

// TestPortsJoinNothing checks that a connection from the address and port of an earlier one is another
// session, and that the process of the one is not that of the other, whenever it becomes known.
func TestPortsJoinNothing(t *testing.T) {
	table := New(100)
	first := opened(table, 1, "127.0.0.1:4000")
	first.Begin(false)
	first.Requested()
	first.Close(at(2))
	second := opened(table, 3, "127.0.0.1:4000")
	second.Begin(false)
	second.Requested()
	second.Notified()
	first.Owner(one) // late
	second.Owner(another)
	want := []Row{
		{&Process{10, "python3"}, "127.0.0.1", 1, 1, 1, 0.5, 0},
		{&Process{11, "java"}, "127.0.0.1", 1, 1, 1, 0.5, 1},
	}
	rows := table.Rows(2 * time.Second)
	if len(rows) != 2 {
		t.Fatalf("rows %+v, want 2", rows)
	}
	for i, r := range rows {
		p := *r.Process
		r.Process, want[i].Process = nil, nil
		if r != want[i] || p != []Process{{10, "python3"}, {11, "java"}}[i] {
			t.Errorf("row %d: %+v of %+v, want %+v", i, r, p, want[i])
		}
	}
	again := opened(table, 4, "127.0.0.1:4000") // the number of a process that has ended
	again.Begin(false)
	again.Owner(traffic.Process{ID: 10, Started: 99, Name: "python3"})
	if n := len(table.Rows(0)); n != 3 {
		t.Errorf("%d rows, want 3: a later process has the same number", n)
	}
}

// TestNumbersAreSessions checks that a session with a number stays one, over connections of two processes.
func TestNumbersAreSessions(t *testing.T) {
	table := New(100)
	c := opened(table, 1, "192.0.2.1:1")
	s := c.Begin(true)
	c.Close(at(2))
	d := opened(table, 3, "127.0.0.1:1")
	d.Serve(s)
	d.Owner(one)
	d.Requested()
	wantCounts(t, "a session with two connections", table, Counts{Numbered: 1}, 1)
	if p := s.Origin().Process; p == nil || p.ID != one.ID {
		t.Errorf("its process is %+v, want %+v", p, one)
	}
}

// TestAtOnce checks that a client that was away in between does not count as being there, and that parts of
// one count once.
func TestAtOnce(t *testing.T) {
	table := New(100)
	var set Set
	during := func(from, to int, lease int64) {
		c := serving(table, from)
		set.Add(c.session)
		c.Lease(lease)
		c.Close(at(to))
		c.session.End(at(to))
	}
	during(1, 3, 7)
	during(2, 4, 7)
	during(8, 9, 7)
	during(5, 7, 8)
	if n, most := set.Count(), set.MostAtOnce(); n != 2 || most != 1 {
		t.Errorf("%d sessions, %d at once; want 2, 1", n, most)
	}
	during(6, 9, 9)
	if most := set.MostAtOnce(); most != 2 {
		t.Errorf("%d at once, want 2", most)
	}
}

// TestTableIsBounded opens connections from more addresses, with more leases, than are told apart.
func TestTableIsBounded(t *testing.T) {
	const leases, more = 100, 50
	table := New(leases)
	for i := range maxOrigins + more {
		c := opened(table, 1, fmt.Sprintf("10.%d.%d.1:5", i/256, i%256))
		c.Begin(false)
		c.Granted(int64(i+1), at(1), time.Minute)
		c.Requested()
		if i%2 == 0 {
			c.Revoked(int64(i+1), at(1))
		}
		if len(table.leases) > leases || len(table.order) > 2*leases {
			t.Fatalf("%d leases in a list of %d are kept, want at most %d", len(table.leases), len(table.order), leases)
		}
	}
	rows := table.Rows(0)
	others := slices.IndexFunc(rows, func(r Row) bool { return r.Address == "" })
	if len(rows) != maxOrigins+1 || others < 0 || rows[others].Connections != more || rows[others].Sessions != more {
		t.Errorf("%d rows, want %d and one for %d others", len(rows), maxOrigins, more)
	}
	if n := table.Counts().Total(); n != maxOrigins+more {
		t.Errorf("%d sessions, want %d", n, maxOrigins+more)
	}
}

// TestReactions checks when it is known by which connections a client acts that is notified by one which carries
// nothing else.
func TestReactions(t *testing.T) {
	for name, c := range map[string]struct {
		more func(table *Table, watching, asking *Connection)
		want bool
	}{
		"one client":               {func(_ *Table, w, a *Connection) { w.Owner(one); a.Owner(one) }, true},
		"no process":               {func(*Table, *Connection, *Connection) {}, false},
		"a process known too late": {func(_ *Table, w, a *Connection) { w.Owner(one); a.Requested(); a.Owner(one) }, false},
		"requests of an unknown process": {func(table *Table, w, a *Connection) {
			w.Owner(one)
			a.Owner(one)
			serving(table, 3).Requested()
		}, false},
		"another client watches the same": {func(table *Table, w, a *Connection) {
			w.Owner(one)
			a.Owner(one)
			other := serving(table, 3)
			other.Owner(one)
			other.session.WatchAlone(Set{w.session: true})
		}, false},
	} {
		table := New(100)
		watching, asking := serving(table, 1), serving(table, 1)
		watching.session.WatchAlone(nil)
		c.more(table, watching, asking)
		if together := watching.session.Key() == asking.session.Key(); c.want && !together {
			t.Errorf("%s: the two are not of one client", name)
		}
		watching.session.Told()
		table.Resolve(nil)
		unjoined := Set{watching.session: true}.Unjoined()
		if got := watching.session.Reacts(); got != c.want || (unjoined == 0) != c.want {
			t.Errorf("%s: its actions are known: %v, %d notifications not joined; want %v", name, got, unjoined, c.want)
		}
	}
}
