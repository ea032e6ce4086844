package zookeeper

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// Config says where a ZooKeeper service is.
type Config struct {
	// Servers are addresses, host:port or just the host for port 2181.
	Servers []string
	// Chroot is the node below which sessions live, "" for the root. It must
	// exist.
	Chroot string
	// TLS, if set, is how connections are encrypted. Without a ServerName in
	// it a server must have a certificate for the host of its address.
	TLS *tls.Config
	// Username and Password are the digest credentials of every session. What
	// it creates is then its own: nobody without them may touch it.
	Username string
	Password drivers.Secret
	// SyncReads makes a sync before every read of a [Conn], so that it shows
	// what anybody was acknowledged before it, on an ensemble too.
	SyncReads bool
	// Dial connects to a server; nil means TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

const defaultPort = "2181"

// Validate names the field that is wrong.
func (c Config) Validate() error {
	if len(c.Servers) == 0 {
		return errors.New("servers: name at least one address, host:port")
	}
	for _, s := range c.Servers {
		if s == "" {
			return errors.New("servers: an address is empty, want host:port")
		}
	}
	if c.Chroot != "" && (c.Chroot[0] != '/' || strings.HasSuffix(c.Chroot, "/")) {
		return fmt.Errorf("chroot %q: must begin with a slash and not end with one", c.Chroot)
	}
	if (c.Username == "") != (c.Password == "") {
		return errors.New("username and password: one does not go without the other")
	}
	if strings.Contains(c.Username, ":") {
		return errors.New("username: must have no colon in it")
	}
	return nil
}

// A Service is a ZooKeeper service at given addresses.
type Service struct {
	servers []string
	chroot  string
	user    credentials
	syncs   bool
	dial    func(ctx context.Context, address string) (net.Conn, error)
	dialed  atomic.Uint32          // sessions so far, to spread them over the servers
	rooted  atomic.Bool            // the chroot was seen to exist
	version func() (string, error) // asks a server once
}

// New returns the service; nothing is connected yet.
func New(cfg Config) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Service{chroot: cfg.Chroot, user: credentials{cfg.Username, cfg.Password}, syncs: cfg.SyncReads, dial: cfg.Dial}
	if s.dial == nil {
		s.dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	if cfg.TLS != nil {
		s.dial = encrypted(s.dial, cfg.TLS)
	}
	for _, a := range cfg.Servers {
		if _, _, err := net.SplitHostPort(a); err != nil {
			a = net.JoinHostPort(strings.Trim(a, "[]"), defaultPort)
		}
		s.servers = append(s.servers, a)
	}
	s.version = sync.OnceValues(s.askVersion)
	return s, nil
}

// Info asks a server for its version, the first time it is called.
func (s *Service) Info() drivers.Info {
	server, err := s.version()
	if err != nil {
		server = "unknown"
	}
	reads := ReadLocal
	if s.syncs {
		reads = ReadSync
	}
	return drivers.Info{
		Name:       "zookeeper",
		URL:        "zookeeper://" + strings.Join(s.servers, ",") + s.chroot,
		Server:     server,
		Durability: "unknown",
		Client:     "go-zookeeper",
		Reads:      reads,
	}
}

// What a read may show, in the words of [drivers.Info].
const (
	ReadLocal = "local"
	ReadSync  = "sync"
)

// Dial opens a session.
func (s *Service) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := s.open(o)
	if err := s.establish(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (s *Service) establish(ctx context.Context, c *Conn) error {
	for _, step := range []func(context.Context) error{c.established, c.introduce, c.anchor} {
		if err := step(ctx); err != nil {
			return s.unreachable(err, c.dialer.lastError())
		}
	}
	if s.chroot == "" || s.rooted.Load() {
		return nil
	}
	_, found, err := c.Exists(ctx, "/", nil)
	if err != nil {
		return s.unreachable(err, c.dialer.lastError())
	}
	if !found {
		return fmt.Errorf("%s: chroot %s: %w: create it first, or leave it out", s.name(), s.chroot, drivers.ErrNoNode)
	}
	s.rooted.Store(true)
	return nil
}

func (s *Service) name() string { return "zookeeper " + strings.Join(s.servers, ",") }

// unreachable says in one line which service it was and why.
func (s *Service) unreachable(err, dialing error) error {
	if dialing == nil || errors.Is(err, dialing) {
		return fmt.Errorf("%s: no session: %w", s.name(), err)
	}
	return fmt.Errorf("%s: no session: %w (%w)", s.name(), dialing, err)
}

// Close has nothing to stop: the service was given.
func (s *Service) Close() error { return nil }
