package control

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
)

// A lossy service loses the first attempt of each write: the request if executed is false, else the reply.
type lossy struct {
	drivers.Service
	executed bool
}

func (s lossy) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c, err := s.Service.Dial(ctx, o)
	return &lossyConn{Conn: c, executed: s.executed, tried: map[string]bool{}}, err
}

type lossyConn struct {
	drivers.Conn
	executed bool
	mu       sync.Mutex
	tried    map[string]bool
}

// lose calls write, or loses it.
func (c *lossyConn) lose(write func() error, what ...string) error {
	c.mu.Lock()
	key := strings.Join(what, " ")
	again := c.tried[key]
	c.tried[key] = true
	c.mu.Unlock()
	if again {
		return write()
	}
	if c.executed {
		_ = write()
	}
	return drivers.ErrConnectionLoss
}

func (c *lossyConn) Create(ctx context.Context, node string, data []byte, mode drivers.Mode) (made drivers.Child, err error) {
	name := node
	if mode&drivers.Sequential != 0 { // each attempt has a name of its own
		name = path.Dir(node)
	}
	err = c.lose(func() error { made, err = c.Conn.Create(ctx, node, data, mode); return err }, "create", name, string(data))
	return made, err
}

func (c *lossyConn) Set(ctx context.Context, path string, data []byte, version int32) (stat drivers.Stat, err error) {
	err = c.lose(func() error { stat, err = c.Conn.Set(ctx, path, data, version); return err }, "set", path, string(data))
	return stat, err
}

func (c *lossyConn) Delete(ctx context.Context, path string, version int32) error {
	return c.lose(func() error { return c.Conn.Delete(ctx, path, version) }, "delete", path)
}

// TestLostWritesAreRepeated checks that each thing that a process writes to the control plane is written, and that the
// process knows it for its own, though a connection breaks during every write: before the request arrives, or before
// the reply.
func TestLostWritesAreRepeated(t *testing.T) {
	for name, executed := range map[string]bool{"the request is lost": false, "the reply is lost": true} {
		t.Run(name, func(t *testing.T) {
			address := backendtest.Native(t, server.Options{})
			connect := func() *Plane {
				s, err := Given("native://" + address)
				if err != nil {
					t.Fatal(err)
				}
				return connectTo(t, lossy{s, executed})
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			first, second := connect(), connect()
			done := func(what string, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			done("lead", first.Lead(ctx, Coordinator{Version: "1"}))
			if err := second.Lead(ctx, Coordinator{Version: "1"}); !errors.Is(err, ErrCoordinated) {
				t.Errorf("a second coordinator gets %v", err)
			}
			done("join", first.Join(ctx, Agent{Name: "a", Host: "here"}))
			if err := second.Join(ctx, Agent{Name: "a", Host: "here"}); err == nil {
				t.Error("a second agent of the same name and host joins")
			}
			done("join", second.Join(ctx, Agent{Name: "b", Host: "here"}))
			for want := range 3 {
				var got int
				done("set a state", first.SetState(ctx, "a", want))
				if _, err := second.State(ctx, "a", &got); err != nil || got != want {
					t.Errorf("state %d, %v; want %d", got, err, want)
				}
			}
			done("put", first.PutJSON(ctx, "run-1.document", "text"))
			var text string
			if done("get", second.GetJSON(ctx, "run-1.document", &text)); text != "text" {
				t.Errorf("read %q", text)
			}
			for range 2 {
				if got, err := first.Claim(ctx, "fault"); err != nil || !got {
					t.Errorf("claim: %v, %v; want true", got, err)
				}
				if got, err := second.Claim(ctx, "fault"); err != nil || got {
					t.Errorf("claim what another process has: %v, %v; want false", got, err)
				}
			}
			met := make(chan error)
			go func() { met <- second.Meet(ctx, "run-1.warm", 2) }()
			done("meet", first.Meet(ctx, "run-1.warm", 2))
			done("meet", <-met)
			lossyBoards(ctx, t, first, second)
			done("remove", first.removeBelow(ctx, root))
			if left, err := second.nodes.Children(ctx, root, nil); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// lossyBoards posts messages of one process, which another one takes once each, in order.
func lossyBoards(ctx context.Context, t *testing.T, from, to *Plane) {
	t.Helper()
	all := []string{"a", "b"}
	poster, err1 := from.Board(ctx, "run-1.board", "a", all)
	reader, err2 := to.Board(ctx, "run-1.board", "b", all)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const messages = 5
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	got := make(chan int, messages)
	go reader.Receive(ctx, func(text []byte) error {
		var n int
		err := json.Unmarshal(text, &n)
		got <- n
		return err
	})
	for n := range messages {
		text, _ := json.Marshal(n)
		if err := poster.Post(ctx, text); err != nil {
			t.Fatalf("post: %v", err)
		}
		if next := <-got; next != n {
			t.Fatalf("message %d is taken, want %d", next, n)
		}
	}
}
