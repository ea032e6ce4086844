package backends

import (
	"context"
	"net"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/native"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// nativeOptions allow session time-outs of 1 s to 10 s, which is drivers.DefaultSessionTimeout.
func nativeOptions() native.Options { return native.Options{Tick: 500 * time.Millisecond} }

// An inProcess is a native server in this process.
type inProcess struct {
	*zookeeper.Service
	server *native.Server
}

// InProcess returns a native server within this process, over connections in memory. It needs no
// network, and no clock other than that of testing/synctest. It is for tests and exact counting: a
// measured run with it would measure the server and the clients together.
func InProcess() (drivers.Service, error) {
	server := native.New(nativeOptions())
	client, err := zookeeper.New(zookeeper.Config{
		Servers: []string{"in-process"},
		Dial: func(context.Context, string) (net.Conn, error) {
			return server.Dial("", "", 0)
		},
	})
	if err != nil {
		server.Close()
		return nil, err
	}
	return &inProcess{Service: client, server: server}, nil
}

// Info describes the server.
func (s *inProcess) Info() drivers.Info {
	t, _ := Parse("native:")
	i := opened{target: t}.describe(s.Service.Info())
	i.Durability, i.Started = t.durability, "in process"
	return i
}

// Close ends the server and every session with it.
func (s *inProcess) Close() error {
	s.server.Close()
	return nil
}
