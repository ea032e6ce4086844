package server

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers/server/stats"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A client is a go-zookeeper session whose connection can be cut and whose
// reconnects can be forbidden.
type client struct {
	*zk.Conn
	t *testing.T

	mu      sync.Mutex
	net     net.Conn
	offline bool
	states  []zk.State
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func newClient(t *testing.T, s *Server) *client {
	t.Helper()
	c := &client{t: t}
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.offline {
			return nil, errors.New("offline")
		}
		var err error
		c.net, err = s.Dial(network, address, timeout)
		return c.net, err
	}
	conn, _, err := zk.Connect([]string{"127.0.0.1:1"}, 10*time.Second,
		zk.WithDialer(dial), zk.WithLogger(silent{}), zk.WithEventCallback(c.onEvent))
	if err != nil {
		t.Fatal(err)
	}
	c.Conn = conn
	t.Cleanup(conn.Close)
	return c
}

func (c *client) onEvent(e zk.Event) {
	if e.Type == zk.EventSession {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.states = append(c.states, e.State)
	}
}

// cut breaks the connection; offline forbids the client to dial again.
func (c *client) cut(offline bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offline = offline
	c.net.Close()
}

func (c *client) saw(s zk.State) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.states, s)
}

func (c *client) create(path string, flags int32) string {
	c.t.Helper()
	created, err := c.Create(path, []byte("data"), flags, zk.WorldACL(zk.PermAll))
	if err != nil {
		c.t.Fatalf("create %s: %v", path, err)
	}
	return created
}

func (c *client) existsW(path string, want bool) <-chan zk.Event {
	c.t.Helper()
	ok, _, events, err := c.ExistsW(path)
	if err != nil || ok != want {
		c.t.Fatalf("exists %s: %v, %v; want %v", path, ok, err, want)
	}
	return events
}

// fired returns the type of the event that waits in ch, or 0.
func fired(ch <-chan zk.Event) zk.EventType {
	synctest.Wait()
	select {
	case e := <-ch:
		return e.Type
	default:
		return 0
	}
}

func wantFired(t *testing.T, ch <-chan zk.Event, want zk.EventType) {
	t.Helper()
	if got := fired(ch); got != want {
		t.Errorf("fired %v, want %v", got, want)
	}
}

func TestClientWritesAndReads(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := newClient(t, newServer(t))
		c.create("/a", 0)
		if got := c.create("/a/n-", zk.FlagSequence|zk.FlagEphemeral); got != "/a/n-0000000000" {
			t.Errorf("created %s", got)
		}
		stat, err := c.Set("/a", []byte("longer data"), 0)
		if err != nil || stat.Version != 1 || stat.DataLength != 11 || stat.NumChildren != 1 {
			t.Errorf("set: %+v, %v", stat, err)
		}
		if data, got, err := c.Get("/a"); string(data) != "longer data" || err != nil || *got != *stat {
			t.Errorf("get: %q, %+v, %v", data, got, err)
		}
		if names, _, err := c.Children("/a"); !slices.Equal(names, []string{"n-0000000000"}) || err != nil {
			t.Errorf("children: %q, %v", names, err)
		}
		if acl, _, err := c.GetACL("/a"); !slices.Equal(acl, zk.WorldACL(zk.PermAll)) || err != nil {
			t.Errorf("acl: %v, %v", acl, err)
		}
		if path, err := c.Sync("/a"); path != "/a" || err != nil {
			t.Errorf("sync: %q, %v", path, err)
		}
		if names, _, err := c.Children("/"); !slices.Contains(names, "zookeeper") || err != nil {
			t.Errorf("children of the root: %q, %v", names, err)
		}
		if err := c.AddAuth("digest", []byte("user:password")); err != nil {
			t.Errorf("auth: %v", err)
		}
	})
}

func TestClientErrors(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := newClient(t, newServer(t))
		c.create("/a", 0)
		c.create("/a/e", zk.FlagEphemeral)
		create := func(path string) error {
			_, err := c.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
			return err
		}
		_, err := c.Set("/a", nil, 9)
		for _, got := range []struct{ err, want error }{
			{create("/a"), zk.ErrNodeExists},
			{create("/none/x"), zk.ErrNoNode},
			{create("/a/e/x"), zk.ErrNoChildrenForEphemerals},
			{c.Delete("/a", -1), zk.ErrNotEmpty},
			{c.Delete("/a/e", 9), zk.ErrBadVersion},
			{c.Delete("/none", -1), zk.ErrNoNode},
			{err, zk.ErrBadVersion},
		} {
			if !errors.Is(got.err, got.want) {
				t.Errorf("got %v, want %v", got.err, got.want)
			}
		}
	})
}

func TestClientMulti(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := newClient(t, newServer(t))
		world := zk.WorldACL(zk.PermAll)
		got, err := c.Multi(&zk.CreateRequest{Path: "/m", Acl: world},
			&zk.CreateRequest{Path: "/m/n-", Acl: world, Flags: zk.FlagSequence},
			&zk.SetDataRequest{Path: "/m", Data: []byte("x"), Version: 0},
			&zk.CheckVersionRequest{Path: "/m", Version: 1},
			&zk.DeleteRequest{Path: "/m/n-0000000000", Version: -1})
		if err != nil || len(got) != 5 || got[1].String != "/m/n-0000000000" || got[2].Stat.Version != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		got, err = c.Multi(&zk.SetDataRequest{Path: "/m", Version: 1},
			&zk.CheckVersionRequest{Path: "/m", Version: 1}, &zk.DeleteRequest{Path: "/m", Version: -1})
		if !errors.Is(err, zk.ErrBadVersion) || len(got) != 3 || got[0].Error != nil {
			t.Errorf("%+v, %v; want a version conflict at the second", got, err)
		}
		if _, stat, _ := c.Get("/m"); stat.Version != 1 {
			t.Errorf("version %d after a failed multi, want 1", stat.Version)
		}
	})
}

func TestClientWatchesFireOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		c, other := newClient(t, s), newClient(t, s)
		exists := c.existsW("/a", false)
		_, _, children, err := c.ChildrenW("/")
		if err != nil {
			t.Fatal(err)
		}
		other.create("/a", 0)
		wantFired(t, exists, zk.EventNodeCreated)
		wantFired(t, children, zk.EventNodeChildrenChanged)

		_, _, data, err := c.GetW("/a")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := other.Set("/a", nil, -1); err != nil {
				t.Fatal(err)
			}
		}
		wantFired(t, data, zk.EventNodeDataChanged)
		if n := s.watches.Len(); n != 0 {
			t.Errorf("%d watches left", n)
		}
	})
}

func TestClientReconnects(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		c, other := newClient(t, s), newClient(t, s)
		c.create("/e", zk.FlagEphemeral)
		c.create("/changed", 0)
		c.create("/same", 0)
		id := c.SessionID()
		_, _, changed, _ := c.GetW("/changed")
		_, _, same, _ := c.GetW("/same")
		_, _, children, _ := c.ChildrenW("/changed")
		made, missing := c.existsW("/made", false), c.existsW("/missing", false)

		c.cut(true)
		synctest.Wait()
		if n := s.watches.Len(); n != 0 {
			t.Errorf("%d watches of a broken connection", n)
		}
		other.Set("/changed", nil, -1)
		other.create("/changed/child", 0)
		other.create("/made", 0)
		c.mu.Lock()
		c.offline = false
		c.mu.Unlock()
		time.Sleep(5 * time.Second)

		wantFired(t, changed, zk.EventNodeDataChanged)
		wantFired(t, children, zk.EventNodeChildrenChanged)
		wantFired(t, made, zk.EventNodeCreated)
		wantFired(t, same, 0)
		wantFired(t, missing, 0)
		if n := s.watches.Len(); n != 2 {
			t.Errorf("%d watches armed again, want 2", n)
		}
		other.Set("/same", nil, -1)
		other.create("/missing", 0)
		wantFired(t, same, zk.EventNodeDataChanged)
		wantFired(t, missing, zk.EventNodeCreated)
		if ok, _, err := c.Exists("/e"); !ok || err != nil || c.SessionID() != id {
			t.Errorf("session %d was %d; its ephemeral: %v, %v", c.SessionID(), id, ok, err)
		}
	})
}

func TestClientThatIsGoneExpires(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		c, other := newClient(t, s), newClient(t, s)
		c.create("/e", zk.FlagEphemeral)
		gone := other.existsW("/e", true)
		id := c.SessionID()
		c.cut(true)
		time.Sleep(9 * time.Second)
		wantFired(t, gone, 0)
		time.Sleep(3 * time.Second) // the 10 s timeout plus at most one tick
		wantFired(t, gone, zk.EventNodeDeleted)

		c.mu.Lock()
		c.offline = false
		c.mu.Unlock()
		time.Sleep(5 * time.Second)
		if !c.saw(zk.StateExpired) || c.SessionID() == id || c.State() != zk.StateHasSession {
			t.Errorf("states %v; want expired and a new session", c.states)
		}
	})
}

func TestClientsRaceForOneNode(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		const clients, rounds = 8, 20
		var won [rounds]int
		var mu sync.Mutex
		var all sync.WaitGroup
		for range clients {
			c := newClient(t, s)
			all.Go(func() {
				for round := range rounds {
					_, err := c.Create(fmt.Sprintf("/r%d", round), nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
					if err == nil {
						mu.Lock()
						won[round]++
						mu.Unlock()
					} else if !errors.Is(err, zk.ErrNodeExists) {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		for round, n := range won {
			if n != 1 {
				t.Errorf("%d clients made the node of round %d", n, round)
			}
		}
	})
}

// Many sessions watch one node over sockets. All of them are notified, and the server counts one
// event with that many watches.
func TestHerdOverSockets(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	dial := func() *raw {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		r := &raw{t, nc}
		r.connect(wire.ConnectRequest{Timeout: 10_000})
		return r
	}
	const herd = 100
	var watchers [herd]*raw
	for i := range watchers {
		watchers[i] = dial()
		watchers[i].ask(1, wire.OpExists, wire.PathWatch{Path: "/a", Watch: true})
	}
	reply := dial().ask(1, wire.OpCreate, open("/a", 0))
	for _, r := range watchers {
		if p := r.read(); p.Xid != wire.XidNotification || p.Zxid != reply.Zxid {
			t.Errorf("got xid %d of zxid %d, want the event of %d", p.Xid, p.Zxid, reply.Zxid)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got, want := s.stats.Created, (stats.Tally{Count: 1, Sum: herd, Min: herd, Max: herd}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}
