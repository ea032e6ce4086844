package zookeeper

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// states records the calls of OnState.
type states struct {
	mu   sync.Mutex
	told []drivers.State
	more chan struct{}
}

func newStates() *states { return &states{more: make(chan struct{}, 1000)} }

func (s *states) on(state drivers.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, state)
	s.more <- struct{}{}
}

func (s *states) are(t *testing.T, want ...drivers.State) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.told, want) {
		t.Errorf("states %v, want %v", s.told, want)
	}
}

func TestExpiry(t *testing.T) {
	f := onLocal(t)
	st := newStates()
	var opened atomic.Int32
	c, v := f.through(t, drivers.Options{OnState: st.on, Probe: probeFunc(func(m drivers.Message) {
		if m.Kind == drivers.Reply && m.Op == drivers.OpOpen && m.Err == nil {
			opened.Add(1)
		}
	})})
	p := f.create(t, c, "e", drivers.Ephemeral)
	r := newRecorder()
	if _, _, err := c.Get(f.ctx, p, func(e drivers.Event) {
		select {
		case <-c.Done():
		default:
			t.Error("Lost before Done")
		}
		r.watch(e)
	}); err != nil {
		t.Fatal(err)
	}
	f.expire(t, v)
	<-c.Done()
	c.Close() // waits until the events are delivered
	if e := r.only(t); e.Path != p || (e.Type != drivers.Lost && e.Type != drivers.Deleted) {
		t.Errorf("event %+v, want Lost, or Deleted where the server was quick", e)
	}
	st.are(t, drivers.Disconnected, drivers.SessionLost)
	if _, err := c.Create(f.ctx, p, nil, 0); !errors.Is(err, drivers.ErrSessionLost) {
		t.Errorf("create after the loss: %v, want %v", err, drivers.ErrSessionLost)
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d sessions were opened, want 1", n)
	}
	if _, found, err := f.dial(t, drivers.Options{}).Exists(f.ctx, p, nil); found || err != nil {
		t.Errorf("the ephemeral node is there: %v, %v", found, err)
	}
}

func TestCloseFiresLost(t *testing.T) {
	f := onLocal(t)
	st := newStates()
	c := f.dial(t, drivers.Options{OnState: st.on})
	p := f.create(t, c, "e", drivers.Ephemeral)
	data, missing, child := newRecorder(), newRecorder(), newRecorder()
	_, _, err1 := c.Get(f.ctx, p, data.watch)
	_, _, err2 := c.Exists(f.ctx, p+"-no", missing.watch)
	_, err3 := c.Children(f.ctx, f.root, child.watch)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*recorder{data, missing, child} {
		if e := r.only(t); e.Type != drivers.Lost {
			t.Errorf("event %+v, want Lost", e)
		}
	}
	st.are(t, drivers.SessionClosed)
	if _, found, err := f.dial(t, drivers.Options{}).Exists(f.ctx, p, nil); found || err != nil {
		t.Errorf("the ephemeral node is there: %v, %v", found, err)
	}
}

// A session that is closed while it is disconnected ends once the library has connected again.
func TestCloseWhileDisconnected(t *testing.T) {
	f := onLocal(t)
	observer := f.dial(t, drivers.Options{})
	st := newStates()
	c, v := f.through(t, drivers.Options{OnState: st.on})
	p := f.create(t, c, "e", drivers.Ephemeral)
	v.set(false, true)
	v.cut()
	<-st.more
	v.set(false, false)
	c.Close()
	if _, found, err := observer.Exists(f.ctx, p, nil); found || err != nil {
		t.Errorf("the ephemeral node is there: %v, %v", found, err)
	}
}

// The reply to a create is lost repeatedly: the node exists, and the session and its watches
// survive.
func TestLostReplies(t *testing.T) {
	f := onLocal(t)
	other := f.dial(t, drivers.Options{})
	st := newStates()
	lose := func(m drivers.Message) bool { return m.Op == drivers.OpCreate }
	c, v := f.through(t, drivers.Options{LoseReply: lose, OnState: st.on})
	const times = 30
	for range times {
		r := newRecorder()
		if _, _, err := c.Get(f.ctx, f.root, r.watch); err != nil {
			t.Fatal(err)
		}
		_, err := c.Create(f.ctx, f.root+"/e-", nil, drivers.Ephemeral|drivers.Sequential)
		if !errors.Is(err, drivers.ErrConnectionLoss) || !errors.Is(err, zk.ErrConnectionClosed) {
			t.Fatalf("create: %v, want %v", err, drivers.ErrConnectionLoss)
		}
		if _, err := other.Set(f.ctx, f.root, nil, drivers.AnyVersion); err != nil {
			t.Fatal(err)
		}
		if err := c.Flush(f.ctx); err != nil {
			t.Fatal(err)
		}
		if e := r.only(t); e.Type != drivers.DataChanged {
			t.Fatalf("event %+v, want data changed", e)
		}
	}
	children, err := c.Children(f.ctx, f.root, nil)
	if err != nil || len(children) != times {
		t.Errorf("%d children, %v; want %d: each create was done once", len(children), err, times)
	}
	if n := v.dialed(); n != times+1 {
		t.Errorf("dialled %d times, want %d", n, times+1)
	}
	st.are(t, slices.Repeat([]drivers.State{drivers.Disconnected, drivers.Connected}, times)...)
}

func TestDialUnreachable(t *testing.T) {
	testenv.SkipIfShort(t)
	address := testenv.Address(t)
	s := serviceOf(t, Config{Servers: []string{address}})
	text := ""
	for limit := 50 * time.Millisecond; limit < patience && !strings.Contains(text, "connection refused"); limit *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), limit) // a busy machine needs more for the first refusal
		_, err := s.Dial(ctx, drivers.Options{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want the deadline", err)
		}
		text = err.Error()
	}
	for _, want := range []string{"zookeeper " + address + ": ", "connection refused"} {
		if !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("%q: want one line with %q", text, want)
		}
	}
}

// A server that closes every connection is tried again until the context ends.
func TestDialHungUpOn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for range 3 {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			io.ReadFull(conn, make([]byte, 48))
			conn.Close()
		}
		cancel()
	}()
	s := serviceOf(t, Config{Servers: []string{l.Addr().String()}})
	if _, err := s.Dial(ctx, drivers.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
