package backends

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// nativeOptions allow session time-outs of 1 s to 10 s, which is drivers.DefaultSessionTimeout.
func nativeOptions() server.Options { return server.Options{Tick: 500 * time.Millisecond} }

func runNative(ctx context.Context, p cluster.Place, announce func(pid string)) error {
	return server.Run(ctx, nativeOptions(), p, announce)
}

// servesNative returns cluster.Kind.Serves for native servers that are connected to over TLS if
// encryption is not nil. A single server listens before it announces itself.
func servesNative(encryption *tls.Config) func(context.Context, cluster.Place) error {
	return func(ctx context.Context, p cluster.Place) error {
		if len(p.Members) == 1 {
			return nil
		}
		return ensemble.Serves(ctx, ensemble.Config{Servers: []string{p.Own().Clients}, TLS: encryption}, p.Dir)
	}
}

// An inProcess is a native server in this process.
type inProcess struct {
	zooKeeperService
	server *server.Server
	shared bool // another service closes the server
}

// InProcess returns a native server within this process, over connections in memory. It needs no
// network, and no clock other than that of testing/synctest. It is for tests and exact counting: a
// measured run with it would measure the server and the clients together.
func InProcess() (drivers.Service, error) {
	s := inProcess{server: server.New(nativeOptions())}
	if err := s.connect(newLean); err != nil {
		s.server.Close()
		return nil, err
	}
	return &s, nil
}

// connect sets the client whose sessions the service opens.
func (s *inProcess) connect(through func(ensemble.Config) (zooKeeperService, error)) (err error) {
	s.zooKeeperService, err = through(ensemble.Config{
		Servers: []string{"in-process"},
		Dial: func(context.Context, string) (net.Conn, error) {
			return s.server.Dial("", "", 0)
		},
	})
	return err
}

// Through returns the service with sessions of go-zookeeper.
func (s *inProcess) Through(name string) drivers.Service {
	other := inProcess{server: s.server, shared: true}
	if name != zookeeper.Client || other.connect(newGoZooKeeper) != nil {
		return nil
	}
	return &other
}

// Info describes the server.
func (s *inProcess) Info() drivers.Info {
	t, _ := Parse("native:")
	i := opened{target: t}.describe(s.zooKeeperService.Info())
	i.Durability, i.Started = t.durability, "in process"
	return i
}

// Close ends the server and every session with it.
func (s *inProcess) Close() error {
	if !s.shared {
		s.server.Close()
	}
	return nil
}
