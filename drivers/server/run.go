package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/server/wal"
)

// Run serves at the place p in this process until the context ends, over TLS if p has a
// certificate. It announces the process ID when the address accepts connections. The durability is
// Memory or Fsync.
//
// After a kill, a server with Fsync restarts with its state. A server with Memory restarts empty
// and does not know its clients' sessions.
func Run(ctx context.Context, o Options, p cluster.Place, announce func(pid string)) error {
	BoundGarbage()
	switch p.Durability {
	case Memory:
		return run(ctx, o, p, announce)
	case Fsync:
		return runOnDisk(ctx, o, p, announce)
	}
	return fmt.Errorf("durability %q: want %s or %s", p.Durability, Memory, Fsync)
}

func runOnDisk(ctx context.Context, o Options, p cluster.Place, announce func(pid string)) (err error) {
	if o.Journal, err = wal.Open(p.Dir); err != nil {
		return err
	}
	return errors.Join(run(ctx, o, p, announce), o.Journal.Close())
}

func run(ctx context.Context, o Options, p cluster.Place, announce func(pid string)) error {
	l, err := net.Listen("tcp", p.Own().Clients)
	if err != nil {
		return fmt.Errorf("native server: %w", err)
	}
	serve := (*Server).Serve
	if p.Certificate != "" {
		cfg, err := certificates.Files{Cert: p.Certificate, Key: p.Certificate, MinVersion: tls.VersionTLS12}.Config()
		if err != nil {
			return errors.Join(fmt.Errorf("native server: %w", err), l.Close())
		}
		serve = func(s *Server, l net.Listener) error { return s.ServeTLS(l, cfg) }
	}
	s := New(o)
	defer s.Close()
	stop := context.AfterFunc(ctx, s.Close)
	defer stop()
	announce(strconv.Itoa(os.Getpid()))
	return serve(s, l)
}
