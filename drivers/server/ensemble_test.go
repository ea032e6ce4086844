package server

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers/server/fourletter"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A trio is an ensemble of three members in this process.
type trio struct {
	t         *testing.T
	dir       string
	addresses map[uint64]string
	clients   [3]string
	servers   [3]*Server
	stop      [3]func()

	mu      sync.Mutex
	reports [3]string // what each member has reported, a line for each
}

func newTrio(t *testing.T) *trio {
	t.Helper()
	e := &trio{t: t, dir: t.TempDir(), addresses: map[uint64]string{}}
	var listeners [3]net.Listener
	for i := range listeners {
		listeners[i] = listen(t, "127.0.0.1:0")
		e.addresses[uint64(i+1)] = listeners[i].Addr().String()
	}
	for i := range listeners {
		e.clients[i] = "127.0.0.1:0"
		e.start(i, listeners[i])
	}
	t.Cleanup(func() {
		for _, stop := range e.stop {
			if stop != nil {
				stop()
			}
		}
	})
	return e
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// start starts a member that listens for others at l.
func (e *trio) start(i int, l net.Listener) {
	e.t.Helper()
	log, err := raftlog.Open(e.directory(i), raftlog.Member{ID: uint64(i + 1), Voters: slices.Sorted(maps.Keys(e.addresses))})
	if err != nil {
		e.t.Fatal(err)
	}
	s, err := NewMember(Options{}, Ensemble{ID: uint64(i + 1), Addresses: e.addresses, Listener: l, Secret: []byte("sixteen bytes or more"), Log: log,
		Report: func(err error) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.reports[i] += err.Error() + "\n"
		}})
	if err != nil {
		e.t.Fatal(err)
	}
	at := listen(e.t, e.clients[i])
	e.clients[i] = at.Addr().String()
	served := make(chan error, 1)
	go func() { served <- s.Serve(at) }()
	e.servers[i] = s
	e.stop[i] = func() {
		s.Close()
		if err := errors.Join(<-served, log.Close()); err != nil {
			e.t.Error(err)
		}
		e.servers[i], e.stop[i] = nil, nil
	}
}

// restart starts a member that was stopped.
func (e *trio) restart(i int) {
	e.t.Helper()
	e.start(i, listen(e.t, e.addresses[uint64(i+1)]))
}

// directory returns the data directory of a member.
func (e *trio) directory(i int) string { return filepath.Join(e.dir, fmt.Sprint(i+1)) }

// awaitReport waits until a member has reported a text.
func (e *trio) awaitReport(i int, text string) {
	e.t.Helper()
	until(e.t, fmt.Sprintf("member %d reports %q", i+1, text), func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return strings.Contains(e.reports[i], text)
	})
}

// until waits until the condition holds.
func until(t *testing.T, condition string, holds func() bool) {
	t.Helper()
	for since := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(since) > patience {
			t.Fatalf("it does not come to this: %s", condition)
		}
	}
}

// await waits until a member serves clients, and returns it.
func (e *trio) await(i int) *Server {
	e.t.Helper()
	until(e.t, fmt.Sprintf("member %d serves", i+1), func() bool { return e.servers[i].roleOf().Serving })
	return e.servers[i]
}

func (s *Server) roleOf() *fourletter.Ensemble {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ensemble.state()
}

// leader waits for a leader that serves.
func (e *trio) leader() (leader int) {
	e.t.Helper()
	until(e.t, "a leader serves", func() bool {
		leader = slices.IndexFunc(e.servers[:], func(s *Server) bool {
			if s == nil {
				return false
			}
			x := s.roleOf()
			return x.Serving && x.Role == "leader"
		})
		return leader >= 0
	})
	return leader
}

func (e *trio) dial(members ...string) *zk.Conn {
	e.t.Helper()
	c, _, err := zk.Connect(members, 20*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(c.Close)
	return c
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// again repeats a call that a broken connection left without an answer.
func again(t *testing.T, do func() error) {
	t.Helper()
	for since := time.Now(); ; time.Sleep(time.Millisecond) {
		err := do()
		if err == nil {
			return
		}
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) || time.Since(since) > patience {
			t.Fatal(err)
		}
	}
}

// create creates a node, though a busy machine may cost the ensemble its leader meanwhile: the call is then repeated.
func create(t *testing.T, c *zk.Conn, path string) {
	t.Helper()
	again(t, func() error {
		_, err := c.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
		if err == zk.ErrNodeExists { // the attempt whose answer was lost
			return nil
		}
		return err
	})
}

// Clients of all members write at the same time, while the leader is stopped and started again. Each sees its
// own writes, and all members end with the same nodes.
func TestEnsembleServesAllItsClients(t *testing.T) {
	testenv.SkipIfShort(t)
	e := newTrio(t)
	e.leader()
	const writers, writes = 6, 60
	versions := make(chan int32, writers)
	for w := range writers {
		c := e.dial(e.clients[w%3], e.clients[(w+1)%3], e.clients[(w+2)%3])
		path := fmt.Sprintf("/w%d", w)
		create(t, c, path)
		go func() {
			var version int32
			defer func() { versions <- version }()
			for range writes {
				again(t, func() error { _, err := c.Set(path, nil, -1); return err })
				again(t, func() error { _, _, err := c.Exists(path); return err })
			}
			again(t, func() error {
				_, stat, err := c.Get(path)
				if err == nil {
					version = stat.Version
				}
				return err
			})
		}()
	}
	leader := e.leader()
	e.stop[leader]()
	e.leader()
	e.start(leader, listen(t, e.addresses[uint64(leader+1)]))
	for range writers {
		if got := <-versions; got < writes {
			t.Errorf("a client sees version %d after %d acknowledged writes", got, writes)
		}
	}
	for i := range e.clients {
		c := e.dial(e.clients[i])
		again(t, func() error { _, err := c.Sync("/"); return err })
		again(t, func() error {
			children, _, err := c.Children("/")
			if err == nil && len(children) != writers+1 {
				t.Errorf("member %d has %q", i+1, children)
			}
			return err
		})
	}
}

// A session that moves to another member keeps its ephemeral node, and its former connection ends.
func TestSessionMovesBetweenMembers(t *testing.T) {
	testenv.SkipIfShort(t)
	e := newTrio(t)
	e.leader()
	first := dialRaw(t, e.await(0))
	session := first.connect(wire.ConnectRequest{Timeout: 10_000})
	first.wantReply(first.ask(1, wire.OpCreate, open("/e", wire.FlagEphemeral)), 1, wire.OK)
	again := wire.ConnectRequest{SessionID: session.SessionID, Password: session.Password, Timeout: 10_000}
	second := dialRaw(t, e.await(1))
	if got := second.connect(again); got.SessionID != session.SessionID {
		t.Fatalf("got session %#x, want %#x", got.SessionID, session.SessionID)
	}
	first.wantEnd()
	second.wantReply(second.ask(1, wire.OpSync, wire.Path{Path: "/"}), 1, wire.OK)
	second.wantReply(second.ask(2, wire.OpExists, wire.PathWatch{Path: "/e"}), 2, wire.OK)
	second.wantReply(second.ask(3, wire.OpReconfig, wire.ReconfigRequest{}), 3, wire.ErrReconfigDisabled)
	second.wantReply(second.ask(4, wire.OpCloseSession, nil), 4, wire.OK)
	second.wantEnd()
	if got := dialRaw(t, e.await(2)).connect(again); got.SessionID != 0 {
		t.Errorf("a closed session goes on: %#x", got.SessionID)
	}
}

// Four-letter words show the roles.
func TestWordsShowRoles(t *testing.T) {
	testenv.SkipIfShort(t)
	e := newTrio(t)
	leader := e.leader()
	for i := range e.servers {
		e.await(i)
		for word, wants := range map[string][]string{
			"srvr": {"Mode: " + role(i == leader) + "\n"},
			"mntr": {"zk_server_state\t" + role(i == leader) + "\n", "zk_quorum_size\t3\n", fmt.Sprintf("zk_raft_leader\t%d\n", leader+1), "zk_raft_log_version\t2\n"},
			"conf": {fmt.Sprintf("serverId=%d\n", i+1), "server.3=" + e.addresses[3] + ":participant\n"},
		} {
			answer := askWord(t, e.clients[i], word)
			for _, want := range wants {
				if !strings.Contains(answer, want) {
					t.Errorf("member %d: %s says %q, want %q", i+1, word, answer, want)
				}
			}
		}
	}
	if answer := askWord(t, e.clients[leader], "mntr"); !strings.Contains(answer, "zk_synced_followers\t2\n") {
		t.Errorf("the leader says %q", answer)
	}
}

func role(leads bool) string {
	if leads {
		return "leader"
	}
	return "follower"
}

func askWord(t *testing.T, address, word string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(word)); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// TestStatsOfMembers checks that one member leads two others, which are synced in time and do not lead.
func TestStatsOfMembers(t *testing.T) {
	testenv.SkipIfShort(t)
	e := newTrio(t)
	leader := e.leader()
	until(t, "the leader has two synced followers", func() bool {
		m := e.servers[leader].Stats().Member
		return m.Leads && m.Followers == 2 && m.Synced == 2 && m.Elections > 0
	})
	for i := range e.servers {
		if m := e.await(i).Stats().Member; m.Leads != (i == leader) || i != leader && m.Followers+m.Synced > 0 {
			t.Errorf("member %d, and the leader is %d: %+v", i+1, leader+1, *m)
		}
	}
	alone := New(Options{})
	defer alone.Close()
	if m := alone.Stats().Member; m != nil {
		t.Errorf("a server that is alone has the statistics %+v of a member", *m)
	}
}
