package backends

import (
	"cmp"
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/child"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// A service is a ZooKeeper-speaking service as its URL has it. What the client
// can do besides (drivers.Witness) it can do too.
type service struct {
	*zookeeper.Service
	target  Target
	process *child.Process // nil if the service was given
}

// Open starts a server, if the URL names none, and returns the service. The
// context bounds the start only. A given service is first connected to by Dial.
func (t Target) Open(ctx context.Context) (drivers.Service, error) {
	encryption, err := t.security.TLSConfig()
	if err != nil {
		return nil, err
	}
	s := &service{target: t}
	servers := t.servers
	if servers == nil {
		if s.process, err = child.Start(ctx, t.backend.Scheme); err != nil {
			return nil, err
		}
		servers = []string{s.process.Addr()}
	}
	s.Service, err = zookeeper.New(zookeeper.Config{
		Servers: servers, Chroot: t.chroot, SyncReads: t.reads == zookeeper.ReadSync,
		TLS: encryption, Username: t.security.User, Password: t.security.Password,
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Info asks a server for its version, the first time it is called.
func (s *service) Info() drivers.Info {
	i := s.target.backend.describe(s.Service.Info())
	i.URL = s.target.url
	if s.process != nil {
		i.Durability, i.Started = s.target.backend.durability, "own process"
	}
	return i
}

// Dial opens a session, as the URL has it where the options leave it open.
func (s *service) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	o.SessionTimeout = cmp.Or(o.SessionTimeout, s.target.sessionTimeout)
	return s.Service.Dial(ctx, o)
}

// Close stops what Open started.
func (s *service) Close() error {
	if s.process == nil {
		return nil
	}
	return s.process.Stop()
}
