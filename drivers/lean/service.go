package lean

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Config says where a ZooKeeper service is.
type Config = ensemble.Config

// A Service is a ZooKeeper service at given addresses.
type Service struct {
	*ensemble.Ensemble
	heartbeats heartbeats
	calls      sync.Pool
	decoding   chan struct{}
}

// New returns the service. It does not connect.
func New(cfg Config) (*Service, error) {
	e, err := ensemble.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Service{Ensemble: e, decoding: make(chan struct{}, runtime.GOMAXPROCS(0))}, nil
}

// Client is the name of this client in URLs and in [drivers.Info].
const Client = "lean"

// Info describes the service. The first call asks a server for its version.
func (s *Service) Info() drivers.Info { return s.Ensemble.Info(Client) }

// Dial opens a session.
func (s *Service) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	first, err := s.Next(ctx)
	if err != nil {
		return nil, err
	}
	c := newConn(s, o, first)
	if err := c.open(ctx); err != nil {
		return nil, s.Explain(err)
	}
	if err := s.Rooted(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Granted returns what the service granted when it opened the session.
func (c *Conn) Granted() wire.ConnectResponse {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// The reasons why this client ends a connection.
var (
	errOrder   = errors.New("the server answered what was not asked, or not in order")
	errMoved   = errors.New("the session is served by another server")
	errLost    = errors.New("reply lost on demand")
	errExpired = errors.New("the service knows of no such session any more")
	errUnarmed = errors.New("the server does not arm the watches again")
	errClosed  = errors.New("the session is closed")
)

var errPath = errors.New("a path begins with a slash and does not end with one")

// valid reports whether a path can follow a chroot.
func valid(path string) bool {
	return path == "/" || strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/")
}

// failed wraps an error with the caller's path.
func (c *Conn) failed(r *request, err error) error {
	return &drivers.CallError{Call: r.op.String(), Path: r.path, Sentinel: c.sentinel(err), Cause: err}
}

func (c *Conn) sentinel(err error) error {
	var code wire.Err
	switch {
	case errors.As(err, &code):
		if s := code.Sentinel(); s != drivers.ErrUnsupported || code == wire.ErrUnimplemented {
			return s
		}
		return nil
	case errors.Is(err, errBroken) && c.lost():
		return drivers.ErrSessionLost
	case errors.Is(err, errBroken):
		return drivers.ErrConnectionLoss
	}
	return nil
}

// errBroken is the error of a call that was in flight when the connection ended.
var errBroken = errors.New("connection closed")

// report reports a message to the probe. The caller holds the lock, so that the probe gets one
// message at a time, and none after the cut.
func (l *link) report(m drivers.Message) {
	if probe := l.conn.options.Probe; probe != nil && !l.dead {
		probe.Message(m)
	}
}

// reportRequest reports a request, and keeps the path for the report of its reply.
func (l *link) reportRequest(k *call) {
	if !l.conn.watched() {
		return
	}
	k.asked = append(k.asked[:0], k.server...)
	l.report(drivers.Message{Kind: drivers.Request, Op: k.word(), Path: k.asked, Watch: k.arms, Mode: k.mode,
		Parts: k.parts, Size: k.size})
}

// word returns the operation sent to the server, which may be a watch of a tree where the
// caller wanted a watch of a node.
func (k *call) word() drivers.Op {
	if k.code == wire.OpAddWatch && k.version == wire.AddWatchRecursive {
		return drivers.OpWatchTree
	}
	return k.op
}

// watched reports whether the options ask for messages.
func (c *Conn) watched() bool { return c.options.Probe != nil || c.options.LoseReply != nil }

// reply returns the message of a reply, without its operation and path.
func reply(h wire.ReplyHeader, payload []byte) drivers.Message {
	return drivers.Message{Kind: drivers.Reply, Err: h.Err.Sentinel(), Pos: max(h.Zxid, 0),
		Size: wire.LengthSize + len(payload)}
}

// replyTo returns the message of the reply to a call.
func replyTo(k *call, h wire.ReplyHeader, payload []byte) drivers.Message {
	m := reply(h, payload)
	m.Op, m.Watch, m.Mode = k.word(), k.arms, k.mode
	switch {
	case m.Op == drivers.OpMulti:
		m.Parts, m.Err = k.parts, k.answer.Sentinel() // the header has no error where a part failed
	case m.Op == drivers.OpCreate && m.Err == nil:
		d := wire.NewDecoder(payload[wire.ReplyHeaderSize:])
		m.Path = d.Bytes()
	case m.Watch || !m.Op.IsRead():
		m.Path = k.asked
	}
	return m
}

// reportReply reports a reply. It returns an error if LoseReply drops the reply.
func (l *link) reportReply(m drivers.Message) error {
	if lose := l.conn.options.LoseReply; lose != nil {
		l.held.Store(true)
		lost := lose(m)
		l.held.Store(false)
		l.heard.Store(true)
		if lost {
			return errLost
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report(m)
	return nil
}
