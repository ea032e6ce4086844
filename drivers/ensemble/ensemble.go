package ensemble

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/greeting"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// An Ensemble represents the servers of one service. Its fields are read only.
type Ensemble struct {
	Servers   []string // host:port each
	Chroot    string   // "" or a path that begins with a slash
	User      Credentials
	SyncReads bool

	dial     func(ctx context.Context, address string) (net.Conn, error) // without TLS
	secured  func(ctx context.Context, address string) (net.Conn, error)
	expected greeting.Protocol      // of what a server sends first
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
		dial:      cfg.Dial,
		expected:  greeting.ZooKeeper,
	}
	if e.dial == nil {
		e.dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	if cfg.TLS != nil {
		e.expected = greeting.TLS
	}
	e.secured = secured(e.dial, cfg.TLS, cfg.Host)
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

// Share returns how long a server may take to open or resume a session until another one is tried: an equal part of the
// session's time-out, of which one part is left over, and of the time that the caller waits for the session.
func (e *Ensemble) Share(o drivers.Options) time.Duration {
	n := time.Duration(len(e.Servers))
	share := cmp.Or(o.SessionTimeout, drivers.DefaultSessionTimeout) / (n + 1)
	if o.Patience > 0 {
		share = min(share, o.Patience/n)
	}
	return share
}

// Silence returns after how long a client leaves a server that sends nothing, of a session with this time-out: as ZooKeeper's own
// clients do.
func Silence(timeout time.Duration) time.Duration { return timeout * 2 / 3 }

// Left returns for how long a session that has lost its connection tries to come back: its time-out, or what is left of that
// after a server that was silent.
func Left(timeout time.Duration, silent bool) time.Duration {
	if silent {
		return timeout - Silence(timeout)
	}
	return timeout
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

// Pause waits for d, and reports whether the context is still active. Unlike drivers.Pause it is no place at which a
// client of a settled run is at rest.
func Pause(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
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
	_, found, err := drivers.Steady(c).Exists(ctx, "/", nil)
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

// Explain returns the error of a session that could not be opened, with what the servers are if they are not ZooKeeper's.
func (e *Ensemble) Explain(err error) error {
	if explained := greeting.Explain(err, e.expected, e.dial, e.Servers); explained != err {
		return e.Unreachable(explained, nil)
	}
	return err
}

// Show records the position of a reply to any session. It does nothing for a single server.
func (e *Ensemble) Show(position int64) {
	if len(e.Servers) == 1 {
		return
	}
	for {
		shown := e.shown.Load()
		if position <= shown || e.shown.CompareAndSwap(shown, position) {
			return
		}
	}
}

// Shown returns the last position that the replies to any session have shown. A server whose
// replies have reached a position has sent the notifications for all writes up to it.
//
// A sync does not guarantee that if the server is the leader. The leader answers a sync as it
// answers a read, and may not yet have applied writes that other servers have committed and
// acknowledged.
func (e *Ensemble) Shown() int64 { return e.shown.Load() }

// catchUpTime is how long a server that answers syncs may take to reach what another has shown. One of the same
// ensemble takes milliseconds.
const catchUpTime = 5 * time.Second

// CatchUp makes a sync, and repeats it until the server has reached what [Ensemble.Shown]
// returned at the start. The position is that of the reply to the sync. A server that does not reach it is not of the
// same ensemble as the one that has shown it.
func (e *Ensemble) CatchUp(ctx context.Context, sync func() (position int64, err error)) error {
	shown, began := e.Shown(), time.Now()
	for tries := 0; ; tries++ {
		position, err := sync()
		if err != nil || position >= shown {
			return err
		}
		if time.Since(began) > catchUpTime {
			return fmt.Errorf("%s: %w: one server has shown position %#x, and another is still at %#x after %d syncs in %v",
				e.Name(), drivers.ErrNotOneService, shown, position, tries+1, catchUpTime)
		}
		if !Pause(ctx, Backoff(tries)) {
			return context.Cause(ctx)
		}
	}
}

// Scheme is ZooKeeper's name for users with a password.
const Scheme = "digest"

// Credentials are a user of ZooKeeper's digest scheme; the zero value is no user.
type Credentials struct {
	Name     string
	Password drivers.Secret
}

// IsZero reports whether there is no user.
func (u Credentials) IsZero() bool { return u == Credentials{} }

// Digest returns the text from which the server computes the user's id.
func (u Credentials) Digest() []byte { return []byte(u.Name + ":" + string(u.Password)) }

// ACL returns the access list of the nodes that a session creates. Only its user may access
// them; without a user, everyone may, since the data in a service under test is not secret.
func (u Credentials) ACL() wire.ACL {
	if u.IsZero() {
		return wire.OpenACL()
	}
	return wire.ACL{Perms: wire.PermAll, Scheme: "auth"}
}

// ExplainUnsupported explains the error of a create on a server that does not support the access list:
// the node would not be protected for its user.
func (u Credentials) ExplainUnsupported(err error) error {
	if errors.Is(err, drivers.ErrUnsupported) && !u.IsZero() {
		return fmt.Errorf("%w: this server protects nothing, so it takes no credentials", err)
	}
	return err
}

// A Granter is a session of a client for ZooKeeper.
type Granter interface {
	// Granted returns what the service granted when it opened the session.
	Granted() wire.ConnectResponse
}

// Holds reports whether the service keeps a session, which may have been opened at other addresses or below
// another chroot. It resumes the session on a new connection, and closes only the connection. That needs no
// permissions. Another service rejects the session: it knows neither its id nor its password.
func (e *Ensemble) Holds(ctx context.Context, c drivers.Conn) (bool, error) {
	g, ok := c.(Granter)
	if !ok {
		return false, nil // of another kind of service
	}
	var failed error
	for try := range max(len(e.Servers), holdTries) {
		held, err := e.holds(ctx, e.Servers[try%len(e.Servers)], g.Granted())
		if err == nil {
			return held, nil
		}
		failed = err
	}
	return false, fmt.Errorf("%s: %w", e.Name(), failed)
}

// holdTries is how often servers are asked until one answers. One that keeps the session does not answer if
// the session's client takes the session back at the same time.
const holdTries = 20

// holds asks one server.
func (e *Ensemble) holds(ctx context.Context, server string, session wire.ConnectResponse) (held bool, err error) {
	err = onConnection(ctx, e.connect, server, func(nc net.Conn) error {
		granted, err := reopen(nc, session)
		held = granted.Timeout > 0
		return err
	})
	return held, err
}

// Leads asks a server whether it is the leader. A standalone server is the leader.
func Leads(ctx context.Context, address string) (bool, error) {
	return LeadsOver(nil)(ctx, address)
}

// LeadsOver returns Leads for servers that are connected to over TLS.
func LeadsOver(encryption *tls.Config) func(ctx context.Context, address string) (bool, error) {
	return func(ctx context.Context, address string) (bool, error) {
		e, err := New(Config{Servers: []string{address}, TLS: encryption})
		if err != nil {
			return false, err
		}
		return e.leads(ctx, e.Servers[0])
	}
}

// errNoRole is the error for a ZooKeeper server that is looking for a leader.
var errNoRole = errors.New("it is neither leader nor follower just now")

func (e *Ensemble) leads(ctx context.Context, address string) (bool, error) {
	text, err := e.Word(ctx, address, "srvr")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(text) {
		if mode, found := strings.CutPrefix(line, "Mode: "); found {
			mode = strings.TrimSpace(mode)
			return mode == "leader" || mode == "standalone", nil
		}
	}
	return false, fmt.Errorf("%s: srvr: %w", address, errNoRole)
}

// Serves returns when the server of the configuration accepts sessions, which requires that its
// ensemble has a leader and that the server has found it. The server must keep its data in dir,
// which another server on the same port would not.
func Serves(ctx context.Context, c Config, dir string) error {
	e, err := New(c)
	if err != nil {
		return err
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !e.keepsDataIn(ctx, dir) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// keepsDataIn reports whether the server keeps its data in dir. Its timeout is short: a server
// that is starting never answers some of the words that arrive just then, but answers later
// ones.
func (e *Ensemble) keepsDataIn(ctx context.Context, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
	defer cancel()
	conf, err := e.Word(ctx, e.Servers[0], "conf")
	return err == nil && strings.Contains(conf, "dataDir="+dir)
}

// secured returns a dialer whose connections are encrypted with cfg if it is not nil. A certificate is checked by what host
// returns for an address.
func secured(dial func(context.Context, string) (net.Conn, error), cfg *tls.Config, host func(string) string) func(context.Context, string) (net.Conn, error) {
	if cfg == nil {
		return dial
	}
	return func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := dial(ctx, address)
		if err != nil {
			return nil, err
		}
		if host != nil {
			address = host(address)
		}
		return encrypted(ctx, conn, address, cfg)
	}
}

// connect connects to a server for a session. The connection tells from the server's first bytes whether it speaks
// ZooKeeper's protocol.
func (e *Ensemble) connect(ctx context.Context, address string) (net.Conn, error) {
	conn, err := e.secured(ctx, address)
	if err != nil {
		return nil, err
	}
	return greeting.Check(conn, greeting.ZooKeeper), nil
}

// encrypted encrypts a connection, transparently for its users.
func encrypted(ctx context.Context, plain net.Conn, address string, cfg *tls.Config) (net.Conn, error) {
	cfg = cfg.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(address)
	}
	conn := tls.Client(greeting.Check(plain, greeting.TLS), cfg)
	if err := conn.HandshakeContext(ctx); err != nil {
		plain.Close()
		return nil, fmt.Errorf("%s: TLS handshake: %w", address, err)
	}
	return conn, nil
}

// Config says where a ZooKeeper service is.
type Config struct {
	// Servers are addresses, host:port or just the host for port 2181.
	Servers []string
	// Chroot is the node below which sessions work, "" for the root. It must exist.
	Chroot string
	// TLS, if set, configures encryption. If it has no ServerName, a server needs a
	// certificate for the host of its address.
	TLS *tls.Config
	// Username and Password are the digest credentials of every session. Only sessions with
	// these credentials can access the nodes that it creates.
	Username string
	Password drivers.Secret
	// SyncReads makes a sync before every read of a [drivers.Conn], so that the read shows
	// every write acknowledged to any client before it, on an ensemble too. At the leader,
	// ZooKeeper's sync may fall slightly short of that: see [Ensemble.Shown].
	SyncReads bool
	// Clients chooses the servers of sessions, one of [balancer.Names]; "" means all servers in
	// turn.
	Clients string
	// Host returns the server by whose name a certificate is checked, host:port; nil means by the address.
	Host func(address string) string
	// Dial connects to a server; nil means TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

const defaultPort = "2181"

// Validate returns an error that names the invalid field.
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

// addresses returns the servers' addresses with ports.
func (c Config) addresses() []string {
	var all []string
	for _, a := range c.Servers {
		if _, _, err := net.SplitHostPort(a); err != nil {
			a = net.JoinHostPort(strings.Trim(a, "[]"), defaultPort)
		}
		all = append(all, a)
	}
	return all
}
