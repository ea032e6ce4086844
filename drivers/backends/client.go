package backends

import (
	"context"
	"crypto/tls"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// A client is a library that sessions are opened through.
type client struct {
	name       string // as drivers.Info has it
	persistent bool   // its sessions are drivers.PersistentWatchers
	connect    func(o opened, encryption *tls.Config) (drivers.Service, error)
}

// Persistent returns a URL, without an address, whose sessions are
// drivers.PersistentWatchers, or "" if none are.
func (b Backend) Persistent() string {
	i := slices.IndexFunc(b.clients, func(c client) bool { return c.persistent })
	switch i {
	case -1:
		return ""
	case 0:
		return b.Scheme + ":"
	}
	return b.Scheme + ":?" + library.Name + "=" + b.clients[i].name
}

func (b Backend) clientNames() []string {
	var names []string
	for _, c := range b.clients {
		names = append(names, c.name)
	}
	return names
}

// zooKeeperClients speak to whatever speaks ZooKeeper's protocol.
func zooKeeperClients() []client {
	return []client{
		{name: zookeeper.Client, connect: connectZooKeeper(func(cfg ensemble.Config) (zooKeeperService, error) {
			return zookeeper.New(cfg)
		})},
		{name: lean.Client, persistent: true, connect: connectZooKeeper(func(cfg ensemble.Config) (zooKeeperService, error) {
			return lean.New(cfg)
		})},
	}
}

// A zooKeeperService is what both can do.
type zooKeeperService interface {
	drivers.Service
	drivers.Witness
	Expire(ctx context.Context, c drivers.Conn) error
}

// A zooKeeper is a ZooKeeper-speaking service as its URL has it.
type zooKeeper struct {
	zooKeeperService
	opened opened
}

func connectZooKeeper(through func(ensemble.Config) (zooKeeperService, error)) func(opened, *tls.Config) (drivers.Service, error) {
	return func(o opened, encryption *tls.Config) (drivers.Service, error) {
		s, err := through(ensemble.Config{
			Servers: o.servers, Chroot: o.target.chroot, SyncReads: o.target.reads == ensemble.ReadSync, Clients: o.target.clients,
			TLS: encryption, Username: o.target.security.User, Password: o.target.security.Password,
		})
		service := &zooKeeper{s, o}
		if o.started != nil {
			return &startedZooKeeper{service}, err
		}
		return service, err
	}
}

// A startedZooKeeper is one whose servers the run has started.
type startedZooKeeper struct{ *zooKeeper }

func (s *startedZooKeeper) Members() []drivers.Member { return s.opened.started.Members() }

func (s *startedZooKeeper) Divisible() bool { return s.opened.started.Divisible() }

func (s *zooKeeper) Info() drivers.Info { return s.opened.describe(s.zooKeeperService.Info()) }

func (s *zooKeeper) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	return s.zooKeeperService.Dial(ctx, s.opened.options(o))
}

func (s *zooKeeper) Close() error { return s.opened.stop() }
