package lean

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// peer is a server in this process, over pipes, whose every message the test sends.
type peer struct {
	t       *testing.T
	refuses atomic.Bool
	ends    chan *end // of the connections that were made

	mu    sync.Mutex
	dials []string
}

func newPeer(t *testing.T) *peer { return &peer{t: t, ends: make(chan *end, 16)} }

var errRefused = errors.New("refused by the test")

func (p *peer) dial(_ context.Context, address string) (net.Conn, error) {
	p.mu.Lock()
	p.dials = append(p.dials, address)
	p.mu.Unlock()
	if p.refuses.Load() {
		return nil, errRefused
	}
	client, server := net.Pipe()
	p.ends <- &end{Conn: server, t: p.t, in: wire.NewFrames(server, maxReply, keptBuffer)}
	return client, nil
}

// dialled returns the addresses that the client has dialed so far.
func (p *peer) dialled() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.dials)
}

func (p *peer) service(cfg Config) *Service {
	p.t.Helper()
	cfg.Dial = p.dial
	if cfg.Servers == nil {
		cfg.Servers = []string{"a:1"}
	}
	s, err := New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// open opens a session with a timeout of six seconds.
func (p *peer) open(cfg Config, o drivers.Options) (*Conn, *end) {
	p.t.Helper()
	opened := make(chan *Conn)
	s := p.service(cfg)
	go func() {
		c, err := s.Dial(p.t.Context(), o)
		if err != nil {
			p.t.Error(err)
			close(opened)
			return
		}
		opened <- c.(*Conn)
	}()
	e := p.accept()
	c := <-opened
	if c == nil {
		p.t.FailNow()
	}
	return c, e
}

// connected runs a test in a bubble, with a session on its first connection, where it is closed in the end.
func connected(t *testing.T, test func(t *testing.T, p *peer, c *Conn, e *end)) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		test(t, p, c, e)
		c.closeOn(e)
	})
}

// accept takes the next connection and opens the session on it.
func (p *peer) accept() *end {
	p.t.Helper()
	e := <-p.ends
	e.opened = e.shakeHands(6000)
	return e
}

// end is the server's end of a connection.
type end struct {
	net.Conn
	t      *testing.T
	in     wire.Frames
	opened wire.ConnectRequest
}

// shakeHands grants the session with a timeout in milliseconds; 0 means that the session does
// not exist.
func (e *end) shakeHands(timeout int32) (r wire.ConnectRequest) {
	e.t.Helper()
	d := wire.NewDecoder(e.payload())
	r.Decode(&d)
	granted := wire.ConnectResponse{Timeout: timeout, SessionID: 7, Password: make([]byte, wire.PasswordSize)}
	if timeout == 0 {
		granted.SessionID = 0
	}
	e.send(granted.Append(wire.Begin(nil)))
	return r
}

func (e *end) payload() []byte {
	e.t.Helper()
	p, err := e.in.Next()
	if err != nil {
		e.t.Fatalf("waited for a request: %v", err)
	}
	return slices.Clone(p)
}

func (e *end) send(packet []byte) {
	e.t.Helper()
	if err := ensemble.Send(e, packet); err != nil {
		e.t.Fatalf("sending to the client: %v", err)
	}
}

// next returns the next request, which must have the given opcode. It answers heartbeats and
// skips them.
func (e *end) next(want int32) (xid int32, record wire.Decoder) {
	e.t.Helper()
	for {
		d := wire.NewDecoder(e.payload())
		var h wire.RequestHeader
		h.Decode(&d)
		if h.Op == wire.OpPing {
			e.reply(h.Xid, 0, wire.OK, nil)
			continue
		}
		if h.Op != want {
			e.t.Fatalf("the client asked for %d, want %d", h.Op, want)
		}
		return h.Xid, d
	}
}

// appender is a record.
type appender interface{ Append([]byte) []byte }

// reply answers a request, with only a header if there is no body.
func (e *end) reply(xid int32, zxid int64, err wire.Err, body appender) {
	e.t.Helper()
	packet := wire.ReplyHeader{Xid: xid, Zxid: zxid, Err: err}.Append(wire.Begin(nil))
	if body != nil {
		packet = body.Append(packet)
	}
	e.send(packet)
}

// answer answers the next request, of the given opcode.
func (e *end) answer(want int32, zxid int64, err wire.Err, body appender) {
	e.t.Helper()
	xid, _ := e.next(want)
	e.reply(xid, zxid, err, body)
}

func (e *end) notify(event int32, path string) {
	e.t.Helper()
	e.reply(wire.XidNotification, -1, wire.OK, wire.WatcherEvent{Type: event, State: wire.StateConnected, Path: path})
}

// closed answers the request that ends the session, and closes the connection.
func (e *end) closed() {
	e.t.Helper()
	e.answer(wire.OpCloseSession, 0, wire.OK, nil)
	e.Close()
}

// closeOn closes a session that is on the connection.
func (c *Conn) closeOn(e *end) {
	ended := later(c.Close)
	e.closed()
	<-ended
}

// later runs a call on a goroutine and returns a channel with its error.
func later(call func() error) <-chan error {
	failed := make(chan error, 1)
	go func() { failed <- call() }()
	return failed
}

// recorder is a Watch that records events.
type recorder struct{ events chan drivers.Event }

func newRecorder() *recorder { return &recorder{make(chan drivers.Event, 64)} }

func (r *recorder) watch(e drivers.Event) { r.events <- e }

// told checks the events recorded so far.
func (r *recorder) told(t *testing.T, want ...drivers.Event) {
	t.Helper()
	var got []drivers.Event
	for range len(r.events) {
		got = append(got, <-r.events)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the watch was told %v, want %v", got, want)
	}
}

// states records the calls of OnState.
type states struct{ told []drivers.State }

func (s *states) on(state drivers.State) { s.told = append(s.told, state) }

func (s *states) are(t *testing.T, want ...drivers.State) {
	t.Helper()
	if !slices.Equal(s.told, want) {
		t.Errorf("states %v, want %v", s.told, want)
	}
}

func fails(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}
