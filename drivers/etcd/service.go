package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
	"github.com/stampede-bench/stampede/drivers/greeting"
)

// Config says where an etcd service is and how it is used.
type Config struct {
	// Endpoints are addresses, host:port. A session uses one at a time; the sessions are
	// spread over all of them.
	Endpoints []string
	// Prefix is the prefix of all keys; "" means DefaultPrefix.
	Prefix string
	// Serializable makes the connected server answer reads from its own state, which may be
	// old. The default is linearizable reads.
	Serializable bool
	// Clients chooses the servers of sessions, one of [balancer.Names]; "" means all endpoints
	// in turn.
	Clients string
	// TLS, if set, configures encryption and certificates.
	TLS *tls.Config
	// Username and Password are those of an etcd user, if the service has authentication
	// enabled.
	Username string
	Password drivers.Secret
	// Host returns the server by whose name a certificate is checked, host:port; nil means by the address.
	Host func(address string) string
	// Dial connects to a server; nil means TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// Guarantees of reads, as results name them.
const (
	ReadLinearizable = "linearizable" // all that was acknowledged to any client before the read
	ReadSerializable = "serializable" // the state of the connected server
)

// DefaultPrefix is the prefix of all keys if the configuration has none.
const DefaultPrefix = "/stampede"

// answerLimit is how long servers have to answer one attempt, all of them together, before another is made.
const answerLimit = 5 * time.Second

// Validate returns an error that names the invalid field.
func (c Config) Validate() error {
	if len(c.Endpoints) == 0 {
		return errors.New("endpoints: name at least one address, host:port")
	}
	for _, e := range c.Endpoints {
		if _, _, err := net.SplitHostPort(e); err != nil {
			return fmt.Errorf("endpoint %q: want host:port", e)
		}
	}
	if c.Prefix != "" && (c.Prefix[0] != '/' || strings.HasSuffix(c.Prefix, "/")) {
		return fmt.Errorf("prefix %q: must begin with a slash and not end with one", c.Prefix)
	}
	return nil
}

// A Service is an etcd service at given addresses.
type Service struct {
	config   Config
	password *password
	balancer *balancer.Balancer
	http     *http.Client // for the server's version and metrics
	version  func() (string, error)
	counters counters
	asked    atomic.Bool // the endpoints, of which cluster they are
}

// New returns the service. It does not connect.
func New(cfg Config) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Prefix = cmp.Or(cfg.Prefix, DefaultPrefix)
	if cfg.Dial == nil {
		cfg.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	s := &Service{config: cfg, password: newPassword(), http: &http.Client{
		Timeout:   answerLimit,
		Transport: &http.Transport{TLSClientConfig: cfg.TLS, DisableKeepAlives: true},
	}}
	s.balancer = balancer.New(cfg.Clients, cfg.Endpoints, s.leads)
	s.version = sync.OnceValues(s.askVersion)
	return s, nil
}

// Client is the name of the client library in [drivers.Info].
const Client = "clientv3"

// Info describes the service. The first call asks a server for its version.
func (s *Service) Info() drivers.Info {
	server, err := s.version()
	if err != nil {
		server = "unknown"
	}
	reads := ReadLinearizable
	if s.config.Serializable {
		reads = ReadSerializable
	}
	return drivers.Info{
		Name:       "etcd",
		URL:        "etcd://" + strings.Join(s.config.Endpoints, ",") + s.config.Prefix,
		Server:     server,
		Durability: "unknown",
		Client:     Client,
		Reads:      reads,
		Servers:    len(s.config.Endpoints),
	}
}

// Dial opens a session.
func (s *Service) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	last := drivers.ErrSilent // the error of the last attempt that ctx has not ended
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		c, err := s.attempt(ctx, o)
		switch {
		case err == nil:
			if err := s.together(ctx, c); err != nil {
				c.Close()
				return nil, err
			}
			return c, nil
		case ctx.Err() != nil:
			if u := new(unreached); errors.As(err, &u) {
				last = u
			}
			return nil, s.explain(s.unreachable(context.Cause(ctx), last))
		case !passes(err):
			return nil, s.unreachable(err, nil)
		}
		if pause == firstPause { // what speaks another protocol will not begin to speak this one
			if other := s.explain(s.unreachable(err, nil)); greeting.Final(other) {
				return nil, other
			}
		}
		last = err
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, s.explain(s.unreachable(context.Cause(ctx), last))
		}
	}
}

// attempt tries once to open a session.
func (s *Service) attempt(ctx context.Context, o drivers.Options) (*Conn, error) {
	first, err := s.balancer.Next(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.session(ctx, o, first)
	if err == nil {
		if err = c.open(ctx); err == nil {
			return c, nil
		}
		c.Close()
	}
	if dialing := c.tap.undialed(); dialing != nil { // what the library says of it is longer, and less
		err = &unreached{dialing, err}
	}
	return nil, err
}

// An unreached error is that of a call for which there was no connection.
type unreached struct{ dialing, call error }

func (u *unreached) Error() string { return u.dialing.Error() }

// Unwrap returns why there was no connection, and the error of the call.
func (u *unreached) Unwrap() []error { return []error{u.dialing, u.call} }

// passes reports whether another attempt to open a session may succeed.
func passes(err error) bool {
	if greeting.Final(err) {
		return false
	}
	var u *unreached
	return errors.As(err, &u) || code(err) == codes.Unavailable || code(err) == codes.DeadlineExceeded || errors.Is(err, errBroken)
}

// session creates a session without opening it. It tries the endpoint with index first before
// the others.
func (s *Service) session(ctx context.Context, o drivers.Options, first int) (*Conn, error) {
	space := keys.Space(s.config.Prefix)
	c := &Conn{options: o, keys: space, serializable: s.config.Serializable, pool: make(pool), done: make(chan struct{})}
	c.tap = newTap(o, space, s.config.Dial)
	c.tap.broken = c.broken
	c.watches = newWatcher(c.tap, space)
	c.watches.behind = c.reread
	options := c.tap.options()
	if s.config.TLS != nil {
		options = append(options, c.tap.encrypt(s.config.TLS, s.config.Host))
	}
	var err error
	c.library, err = s.client(ctx, s.endpoints(first), options...)
	return c, err
}

// client returns a client of the library. The context bounds how long the service may take to check the password.
func (s *Service) client(ctx context.Context, endpoints []string, options ...grpc.DialOption) (*clientv3.Client, error) {
	limit := answerLimit
	if deadline, ok := ctx.Deadline(); ok {
		limit = max(min(limit, time.Until(deadline)), time.Nanosecond)
	}
	return clientv3.New(clientv3.Config{
		Endpoints:   endpoints,
		TLS:         s.config.TLS,
		Username:    s.config.Username,
		Password:    string(s.config.Password),
		DialTimeout: limit,
		DialOptions: append([]grpc.DialOption{grpc.WithChainUnaryInterceptor(s.password.unary), s.patience()}, options...),
		Logger:      zap.NewNop(),
	})
}

// endpoints returns the endpoints in turn, beginning with the given one.
func (s *Service) endpoints(first int) []string {
	all := make([]string, len(s.config.Endpoints))
	for i := range all {
		all[i] = s.scheme() + s.config.Endpoints[(first+i)%len(all)]
	}
	return all
}

func (s *Service) scheme() string {
	if s.config.TLS != nil {
		return "https://"
	}
	return "http://"
}

// patience configures how gRPC retries connections. An endpoint that accepts connections but
// does not answer gets its share of the time, and the next endpoints get theirs.
func (s *Service) patience() grpc.DialOption {
	return grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: firstPause, Multiplier: 2, Jitter: 0.2, MaxDelay: maxPause},
		MinConnectTimeout: answerLimit / time.Duration(len(s.config.Endpoints)),
	})
}

// unreachable returns a one-line error that names the service and says why there is no session: the error of the last
// attempt, and what ended the attempts.
func (s *Service) unreachable(err, attempt error) error {
	name := "etcd " + strings.Join(s.config.Endpoints, ",")
	if attempt != nil && !errors.Is(attempt, err) {
		return fmt.Errorf("%s: no session: %w (%w)", name, reason(attempt), plain(err))
	}
	return fmt.Errorf("%s: no session: %w", name, reason(err))
}

// explain returns the error of a session that could not be opened, with what the servers are if they are not etcd's.
func (s *Service) explain(err error) error {
	expected := greeting.Etcd
	if s.config.TLS != nil {
		expected = greeting.TLS
	}
	if explained := greeting.Explain(err, expected, s.config.Dial, s.config.Endpoints); explained != err {
		return s.unreachable(explained, nil)
	}
	return err
}

// reason returns an error without what is of no use to the reader: that it came while the session's key was written.
func reason(err error) error {
	var f *drivers.CallError
	if !errors.As(err, &f) {
		f = &drivers.CallError{Cause: explained(err)}
	}
	ours := sentinel(err)
	if ours == nil || errors.Is(f.Cause, ours) {
		return f.Cause
	}
	if u := new(unreached); errors.As(err, &u) {
		return u
	}
	return fmt.Errorf("%w (%w)", f.Cause, ours)
}

// Expire ends a session as its expiry would, by revoking its lease.
func (s *Service) Expire(ctx context.Context, conn drivers.Conn) error {
	c, ok := conn.(*Conn)
	if !ok {
		return fmt.Errorf("expire: a %T is no session of etcd", conn)
	}
	admin, err := s.Dial(ctx, drivers.Options{NoEphemerals: true})
	if err != nil {
		return err
	}
	defer admin.Close()
	expired := Conn{library: admin.(*Conn).library, lease: lease{id: c.lease.id}}
	return expired.revoke(ctx)
}

// Holds reports whether the cluster keeps the lease of a session, which may have been opened at other
// endpoints or with another prefix. The ids of clusters do not tell: clusters of one member with default
// settings all have the same.
func (s *Service) Holds(ctx context.Context, conn drivers.Conn) (bool, error) {
	c, ok := conn.(*Conn)
	if !ok {
		return false, nil // of another kind of service
	}
	asking, err := s.Dial(ctx, drivers.Options{NoEphemerals: true})
	if err != nil {
		return false, err
	}
	defer asking.Close()
	found, err := asking.(*Conn).library.TimeToLive(ctx, clientv3.LeaseID(c.lease.id))
	if errors.Is(err, rpctypes.ErrPermissionDenied) { // to see the nodes of a lease that it keeps
		return true, nil
	}
	if err != nil {
		return false, plain(err)
	}
	return found.TTL > 0, nil
}

// Close does nothing: the service was given by addresses.
func (s *Service) Close() error { return nil }

// Leads asks a server whether it is the leader. A single server is the leader.
func Leads(ctx context.Context, address string) (bool, error) {
	s, err := New(Config{Endpoints: []string{address}})
	if err != nil {
		return false, err
	}
	return s.leads(ctx, address)
}

func (s *Service) leads(ctx context.Context, address string) (bool, error) {
	c, err := s.direct(ctx, address)
	if err != nil {
		return false, err
	}
	defer c.Close()
	status, err := c.Status(ctx, address)
	switch {
	case err != nil:
		return false, fmt.Errorf("etcd %s: status: %w", address, plain(err))
	case status.Leader == 0:
		return false, fmt.Errorf("etcd %s: status: the member knows no leader", address)
	}
	return status.Leader == status.Header.MemberId, nil
}

// direct returns a client of one server, for requests to that server. It checks first that the
// server accepts connections, since the library would wait for as long as it does not.
func (s *Service) direct(ctx context.Context, address string) (*clientv3.Client, error) {
	c, err := s.config.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	c.Close()
	return s.client(ctx, []string{s.scheme() + address})
}
