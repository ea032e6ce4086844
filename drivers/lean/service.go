package lean

import (
	"context"
	"fmt"
	"runtime"
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
		return nil, err
	}
	if err := s.Rooted(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Expire ends a session that was opened through this service, as its expiry
// would; see [ensemble.Ensemble.Expire].
func (s *Service) Expire(ctx context.Context, conn drivers.Conn) error {
	c, ok := conn.(*Conn)
	if !ok {
		return fmt.Errorf("expire: a %T is no session of %s", conn, s.Name())
	}
	return s.Ensemble.Expire(ctx, c.Granted())
}

// Granted returns what the service granted when it opened the session.
func (c *Conn) Granted() wire.ConnectResponse {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// Close does nothing: the service was given by addresses.
func (s *Service) Close() error { return nil }
