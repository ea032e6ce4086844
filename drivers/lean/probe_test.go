package lean_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// tape is a probe that records messages.
type tape struct {
	mu       sync.Mutex
	messages []drivers.Message
}

func (t *tape) Message(m drivers.Message) {
	m.Path = bytes.Clone(m.Path)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages = append(t.messages, m)
}

// The probe gets the same messages as a tap on the same connections.
func TestProbeIsToldAsByATap(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		told, tapped := new(tape), new(tape)
		cfg := backendtest.InMemory(t)
		cfg.Username, cfg.Password = "ann", "hunter2"
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := dial(ctx, address)
			return wire.NewTap(conn, tapped, nil), err
		}
		lost := false
		c, err := open(t, cfg).Dial(t.Context(), drivers.Options{Probe: told, LoseReply: func(m drivers.Message) bool {
			first := m.Op == drivers.OpSync && !lost
			lost = lost || first
			return first
		}})
		if err != nil {
			t.Fatal(err)
		}
		callAll(t, c.(*lean.Conn))
		c.Close()
		synctest.Wait()
		sameError := cmp.Comparer(func(a, b error) bool { return a == b })
		empty := cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) })
		// The tap cannot know that a reply is dropped above it.
		heard := withoutLost(tapped.messages)
		if diff := cmp.Diff(heard, told.messages, sameError, empty); diff != "" {
			t.Errorf("messages (-tap +probe):\n%s", diff)
		}
		if len(told.messages) < 30 {
			t.Errorf("only %d messages", len(told.messages))
		}
	})
}

// withoutLost removes the first reply to a sync.
func withoutLost(all []drivers.Message) (rest []drivers.Message) {
	lost := false
	for _, m := range all {
		if !lost && m.Kind == drivers.Reply && m.Op == drivers.OpSync {
			lost = true
			continue
		}
		rest = append(rest, m)
	}
	return rest
}

// callAll makes calls of every kind. It does not matter whether the server supports the
// credentials and persistent watches.
func callAll(t *testing.T, c *lean.Conn) {
	t.Helper()
	ctx, watch := t.Context(), func(drivers.Event) {}
	c.Create(ctx, "/a", []byte("data"), drivers.Ephemeral|drivers.Sequential)
	_, _, err1 := c.Get(ctx, "/", watch)
	_, _, err2 := c.Get(ctx, "/", nil)
	_, found, err3 := c.Exists(ctx, "/a", watch)
	_, err4 := c.Children(ctx, "/", watch)
	_, err5 := c.Set(ctx, "/", []byte("data"), 7)
	err6 := c.Sync(ctx, "/") // its reply is lost
	_, err7 := c.Set(ctx, "/", []byte("data"), drivers.AnyVersion)
	err8 := c.Delete(ctx, "/b", 0)
	c.WatchNode(ctx, "/a", watch)
	c.WatchTree(ctx, "/a", watch)
	if joined := errors.Join(err1, err2, err3, err4, err7, c.Flush(ctx)); joined != nil || found {
		t.Error(joined)
	}
	for want, got := range map[error]error{
		drivers.ErrBadVersion: err5, drivers.ErrConnectionLoss: err6, drivers.ErrNoNode: err8,
	} {
		if !errors.Is(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
