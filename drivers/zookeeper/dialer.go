package zookeeper

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/greeting"
	"github.com/stampede-bench/stampede/drivers/wire"
)

var errStopped = errors.New("session is over")

// dialer chooses and dials the servers of one session. It is both the library's host provider
// and its dialer. The library sleeps a second whenever the provider reports that it has tried
// all servers, so the dialer waits by itself, and reports that only once it was stopped: it is
// also when the library notices that it was closed. The first attempt after a connection broke
// is made immediately. When every server has failed, the dialer pauses before each attempt,
// first 10 ms and then doubling to 1 s. Host names are resolved at each attempt.
type dialer struct {
	servers []string
	connect func(ctx context.Context, address string) (net.Conn, error)
	refused chan struct{} // closed when a connection failed permanently; see [greeting.Final]

	mu      sync.Mutex
	turn    int // the server tried last
	tries   int // since the last session was established
	stopped bool
	cancel  context.CancelFunc // of the attempt in progress
	conn    net.Conn           // the last connection that was made
	last    error              // of the last connection that failed or was closed by the server
}

// Init ignores its argument: the dialer has its servers already.
func (d *dialer) Init([]string) error { return nil }

// Len returns the number of servers.
func (d *dialer) Len() int { return len(d.servers) }

// Next returns the server to try next, and whether the dialer was stopped.
func (d *dialer) Next() (server string, retryStart bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn = (d.turn + 1) % len(d.servers)
	return d.servers[d.turn], d.stopped
}

// Connected is called when a session was established.
func (d *dialer) Connected() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries = 0
}

// dial implements the library's [zk.Dialer].
func (d *dialer) dial(_, address string, timeout time.Duration) (net.Conn, error) {
	ctx, pause := d.begin()
	if ctx == nil {
		return nil, errStopped
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return d.end(nil, ctx.Err())
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := d.connect(ctx, address)
	return d.end(conn, err)
}

// begin returns the context of an attempt and the pause before it. The context is nil if the
// dialer was stopped.
func (d *dialer) begin() (context.Context, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return nil, 0
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	rounds := d.tries / len(d.servers)
	d.tries++
	return ctx, ensemble.Backoff(rounds)
}

// end keeps the connection, so that stop can close it, and closes the previous one, which the
// library does not do when the server has expired the session.
func (d *dialer) end(conn net.Conn, err error) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel()
	d.cancel = nil
	if err != nil {
		d.note(err)
		return nil, err
	}
	if d.conn != nil {
		d.conn.Close()
	}
	d.conn = conn
	if d.stopped {
		conn.Close()
		return nil, errStopped
	}
	return conn, nil
}

// stop ends the connection and every attempt at another.
func (d *dialer) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.cancel != nil {
		d.cancel()
	}
	if d.conn != nil {
		d.conn.Close()
	}
}

// failed records the error with which a connection ended.
func (d *dialer) failed(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.note(err)
}

// note records an error. The caller holds the lock.
func (d *dialer) note(err error) {
	d.last = err
	if !greeting.Final(err) {
		return
	}
	select {
	case <-d.refused:
	default:
		close(d.refused)
	}
}

// why returns why there is no session where err has ended the attempts: the last error, or that a server is silent, which
// the library does not report.
func (d *dialer) why(err error) error {
	last := d.lastError()
	if last == nil && errors.Is(err, context.DeadlineExceeded) {
		return drivers.ErrSilent
	}
	return last
}

func (d *dialer) lastError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// Config says where a ZooKeeper service is.
type Config = ensemble.Config

// A Service is a ZooKeeper service at given addresses.
type Service struct{ *ensemble.Ensemble }

// New returns the service. It does not connect.
func New(cfg Config) (*Service, error) {
	e, err := ensemble.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Service{e}, nil
}

// Client is the name of the client library in [drivers.Info].
const Client = "go-zookeeper"

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
	c := s.open(o, first)
	if err := s.establish(ctx, c); err != nil {
		c.Close()
		return nil, s.Explain(err)
	}
	return c, nil
}

func (s *Service) establish(ctx context.Context, c *Conn) error {
	for _, step := range []func(context.Context) error{c.established, c.introduce} {
		if err := step(ctx); err != nil {
			return s.Unreachable(err, c.dialer.why(err))
		}
	}
	return s.Rooted(ctx, c)
}

// Granted returns what the service granted when it opened the session.
func (c *Conn) Granted() wire.ConnectResponse {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.session.granted
}
