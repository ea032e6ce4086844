package ensemble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/balancer"
)

// An Ensemble represents the servers of one service. Its fields are read only.
type Ensemble struct {
	Servers   []string // host:port each
	Chroot    string   // "" or a path that begins with a slash
	User      Credentials
	SyncReads bool

	connect  func(ctx context.Context, address string) (net.Conn, error)
	version  func() (string, error) // asks a server, the first time it is called
	balancer *balancer.Balancer
	shown    atomic.Int64 // see Shown
	rooted   atomic.Bool  // the chroot is known to exist
}

// New returns the ensemble. It does not connect.
func New(cfg Config) (*Ensemble, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &Ensemble{
		Servers:   cfg.addresses(),
		Chroot:    cfg.Chroot,
		User:      Credentials{cfg.Username, cfg.Password},
		SyncReads: cfg.SyncReads,
		connect:   cfg.Dial,
	}
	if e.connect == nil {
		e.connect = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	if cfg.TLS != nil {
		e.connect = encrypted(e.connect, cfg.TLS)
	}
	e.balancer = balancer.New(cfg.Clients, e.Servers, e.leads)
	e.version = sync.OnceValues(e.askVersion)
	return e, nil
}

// Connect connects to one of the servers. It wraps the connection with through, which is a
// session's [drivers.Options.Through].
func (e *Ensemble) Connect(ctx context.Context, address string, through func(net.Conn) net.Conn) (net.Conn, error) {
	conn, err := e.connect(ctx, address)
	if err == nil && through != nil {
		conn = through(conn)
	}
	return conn, err
}

// Next returns the index of the server that the next session tries first.
func (e *Ensemble) Next(ctx context.Context) (int, error) {
	first, err := e.balancer.Next(ctx)
	if err != nil {
		return 0, e.Unreachable(err, nil)
	}
	return first, nil
}

const (
	firstBackoff = 10 * time.Millisecond
	maxBackoff   = time.Second
)

// Backoff returns the pause before an attempt after all servers have failed in the given
// number of rounds: none at first, then 10 ms, doubling up to 1 s.
func Backoff(rounds int) time.Duration {
	if rounds == 0 {
		return 0
	}
	return min(firstBackoff<<min(rounds-1, 10), maxBackoff)
}

// Path converts a session's path to the path on the servers.
func (e *Ensemble) Path(path string) string {
	switch {
	case e.Chroot == "":
		return path
	case path == "/":
		return e.Chroot
	}
	return e.Chroot + path
}

// Rooted checks with a session that the chroot exists, unless that is known.
func (e *Ensemble) Rooted(ctx context.Context, c drivers.Conn) error {
	if e.Chroot == "" || e.rooted.Load() {
		return nil
	}
	_, found, err := c.Exists(ctx, "/", nil)
	if err != nil {
		return e.Unreachable(err, nil)
	}
	if !found {
		return fmt.Errorf("%s: chroot %s: %w: create it first, or leave it out", e.Name(), e.Chroot, drivers.ErrNoNode)
	}
	e.rooted.Store(true)
	return nil
}

// Guarantees of reads, as [drivers.Info] names them.
const (
	ReadLocal = "local"
	ReadSync  = "sync"
)

// Info describes the service. The first call asks a server for its version. The client is the
// library that opens the sessions.
func (e *Ensemble) Info(client string) drivers.Info {
	server, err := e.version()
	if err != nil {
		server = "unknown"
	}
	reads := ReadLocal
	if e.SyncReads {
		reads = ReadSync
	}
	return drivers.Info{
		Name:       "zookeeper",
		URL:        "zookeeper://" + strings.Join(e.Servers, ",") + e.Chroot,
		Server:     server,
		Durability: "unknown",
		Client:     client,
		Reads:      reads,
		Servers:    len(e.Servers),
	}
}

// Name returns the service's name in errors.
func (e *Ensemble) Name() string { return "zookeeper " + strings.Join(e.Servers, ",") }

// Unreachable returns a one-line error that names the service and says why there is no
// session: the error of the last attempt to connect, if it failed, and what ended the
// attempts.
func (e *Ensemble) Unreachable(err, dialing error) error {
	if dialing == nil || errors.Is(err, dialing) {
		return fmt.Errorf("%s: no session: %w", e.Name(), err)
	}
	return fmt.Errorf("%s: no session: %w (%w)", e.Name(), dialing, err)
}
