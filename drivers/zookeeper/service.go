package zookeeper

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

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
		return nil, err
	}
	return c, nil
}

func (s *Service) establish(ctx context.Context, c *Conn) error {
	for _, step := range []func(context.Context) error{c.established, c.introduce} {
		if err := step(ctx); err != nil {
			return s.Unreachable(err, c.dialer.lastError())
		}
	}
	return s.Rooted(ctx, c)
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
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.session.granted
}

// Close does nothing: the service was given by addresses.
func (s *Service) Close() error { return nil }
