package cluster_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// Without a majority go-zookeeper is refused by the server that is left, and keeps its session until the
// majority is back, even if that takes longer than the session's time-out.
func TestGoZooKeeperWithoutAMajority(t *testing.T) {
	testenv.SkipIfShort(t)
	s, _ := open(t, "native:?servers=3")
	var addresses []string
	for _, m := range s.Members() {
		addresses = append(addresses, m.Address())
	}
	c := connect(t, addresses...)
	session := c.SessionID()
	var killed []drivers.Member
	for range 2 {
		m := c.member(t, s)
		if err := m.Kill(); err != nil {
			t.Fatal(err)
		}
		killed = append(killed, m)
		if len(killed) == 1 {
			c.await(t, zk.StateHasSession)
		}
	}
	left := without(without(s, killed[0]), killed[1]).Members()[0]
	// Each refusal makes the client try again. The time-out of its session is 4 s.
	refused := 0
	for began := time.Now(); refused < 3 || time.Since(began) < 6*time.Second; refused++ {
		if e := c.await(t, zk.StateDisconnected); refused > 1 && e.Server != left.Address() {
			t.Fatalf("disconnected from %s, want from %s, which is left", e.Server, left.Address())
		}
	}
	if err := killed[0].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.await(t, zk.StateHasSession)
	if c.SessionID() != session {
		t.Errorf("session %x, want %x", c.SessionID(), session)
	}
	c.create(t, "/again", nil)
}

// The members never change. Each member refuses a change with the error of a ZooKeeper whose reconfigEnabled is false, its default.
func TestReconfigIsDisabled(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, url := range []string{"zookeeper:?servers=3", "native:?servers=3"} {
		t.Run(url, func(t *testing.T) {
			s, _ := open(t, url)
			for _, m := range s.Members() {
				c := connect(t, m.Address())
				if _, err := c.IncrementalReconfig(nil, []string{"3"}, -1); !errors.Is(err, zk.ErrReconfigDisabled) {
					t.Errorf("member %s answers an incremental change with %v, want %v", m.Name(), err, zk.ErrReconfigDisabled)
				}
				if _, err := c.Reconfig([]string{"server.1=127.0.0.1:1:2:participant;3"}, -1); !errors.Is(err, zk.ErrReconfigDisabled) {
					t.Errorf("member %s answers a list of all members with %v, want %v", m.Name(), err, zk.ErrReconfigDisabled)
				}
			}
		})
	}
}

// A goClient is a session of go-zookeeper.
type goClient struct {
	*zk.Conn
	events *events
}

// events keeps all events of a session: the library drops those that are not received at once.
type events struct {
	mu   sync.Mutex
	all  []zk.Event
	more chan struct{} // receives a value when there are more
}

func (e *events) add(x zk.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, x)
	select {
	case e.more <- struct{}{}:
	default:
	}
}

// next returns the next event and removes it.
func (e *events) next() (x zk.Event, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.all) == 0 {
		return x, false
	}
	x, e.all = e.all[0], e.all[1:]
	return x, true
}

// connect opens a session with a time-out of 4 s and waits for it.
func connect(t *testing.T, addresses ...string) goClient {
	t.Helper()
	all := &events{more: make(chan struct{}, 1)}
	c, _, err := zk.Connect(addresses, 4*time.Second, zk.WithLogger(silent{}), zk.WithEventCallback(all.add))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	g := goClient{c, all}
	g.await(t, zk.StateHasSession)
	return g
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// await waits for the next event of the session with the state.
func (c goClient) await(t *testing.T, state zk.State) zk.Event {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		e, ok := c.events.next()
		switch {
		case ok && e.State == zk.StateExpired:
			t.Fatalf("the session expired, and %v was expected", state)
		case ok && e.Type == zk.EventSession && e.State == state:
			return e
		case ok:
			continue
		}
		select {
		case <-c.events.more:
		case <-limit.C:
			t.Fatalf("no %v", state)
		}
	}
}

// create creates a node, though a busy machine may cost the ensemble its leader meanwhile: the call is then repeated.
func (c goClient) create(t *testing.T, path string, data []byte) {
	t.Helper()
	for {
		switch _, err := c.Create(path, data, 0, zk.WorldACL(zk.PermAll)); err {
		case nil, zk.ErrNodeExists: // it exists if only the first answer was lost
			return
		case zk.ErrConnectionClosed, zk.ErrNoServer:
			c.await(t, zk.StateHasSession)
		default:
			t.Fatal(err)
		}
	}
}

// member returns the member that serves the session.
func (c goClient) member(t *testing.T, s drivers.Ensemble) drivers.Member {
	t.Helper()
	_, port, _ := strings.Cut(c.Server(), ":")
	for _, m := range s.Members() {
		if strings.HasSuffix(m.Address(), ":"+port) {
			return m
		}
	}
	t.Fatalf("%s is no member", c.Server())
	return nil
}
