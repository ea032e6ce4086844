package zookeeper

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers/ensemble"
)

var errStopped = errors.New("session is over")

// dialer is how one session finds its servers. It is both the library's host
// provider and its dialer: the library sleeps a second whenever the provider
// says that it has come round, so it never says so, and the dialer waits. The
// first attempt after a connection broke is made at once; when every server has
// failed, a pause goes before each, 10 ms at first and doubling to 1 s. Host
// names are resolved at each attempt.
type dialer struct {
	servers []string
	connect func(ctx context.Context, address string) (net.Conn, error)
	arrived chan struct{} // has room for one; see nowhere
	refused chan struct{} // closed when a connection failed for good

	mu      sync.Mutex
	turn    int // the server tried last
	tries   int // since the last session was established
	stopped bool
	cancel  context.CancelFunc // of the attempt under way
	conn    net.Conn           // of the last that succeeded
	last    error              // of the last that failed, or was hung up on
}

// Init keeps what the dialer was made with.
func (d *dialer) Init([]string) error { return nil }

// Len is the number of servers.
func (d *dialer) Len() int { return len(d.servers) }

// Next is the server to try next.
func (d *dialer) Next() (server string, retryStart bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn = (d.turn + 1) % len(d.servers)
	return d.servers[d.turn], false
}

// Connected is told when a session was established.
func (d *dialer) Connected() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries = 0
}

// dial is the library's [zk.Dialer].
func (d *dialer) dial(_, address string, timeout time.Duration) (net.Conn, error) {
	ctx, pause := d.begin()
	if ctx == nil {
		return nowhere(d.arrived), nil
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

// begin returns no context when the dialer was stopped.
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

// end keeps the connection, so that stop can close it, and closes the one
// before: the library forgets to when the server has expired the session.
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

// stop ends the connection and every attempt at another: the next one leads
// nowhere.
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

// failed is told of a connection that ended before it led to a session.
func (d *dialer) failed(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.note(err)
}

// note must be called with the lock held.
func (d *dialer) note(err error) {
	d.last = err
	if !ensemble.Refusal(err) {
		return
	}
	select {
	case <-d.refused:
	default:
		close(d.refused)
	}
}

func (d *dialer) lastError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}
