package backends

import (
	"context"
	"crypto/tls"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd"
)

// An etcdService is an etcd service as its URL configures it.
type etcdService struct {
	*etcd.Service
	opened opened
}

func connectEtcd(o opened, encryption *tls.Config) (drivers.Service, error) {
	s, err := etcd.New(etcd.Config{
		Endpoints: o.servers, Prefix: o.target.chroot, Serializable: o.target.reads == etcd.ReadSerializable, Clients: o.target.clients,
		TLS: encryption, Username: o.target.security.User, Password: o.target.security.Password,
	})
	service := &etcdService{s, o}
	if o.started != nil {
		return &startedEtcd{service}, err
	}
	return service, err
}

// A startedEtcd is an etcdService whose servers the run has started.
type startedEtcd struct{ *etcdService }

func (s *startedEtcd) Members() []drivers.Member { return s.opened.started.Members() }

func (s *startedEtcd) Divisible() bool { return s.opened.started.Divisible() }

func (s *etcdService) Info() drivers.Info { return s.opened.describe(s.Service.Info()) }

func (s *etcdService) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	return s.Service.Dial(ctx, s.opened.options(o))
}

func (s *etcdService) Close() error { return s.opened.stop() }
