package backends

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
)

// Open starts the servers, if the URL has no address, and returns the service. The context bounds
// only the start. Open does not connect to a given service; Dial is the first to do so.
func (t Target) Open(ctx context.Context) (drivers.Service, error) {
	encryption, err := t.security.TLSConfig()
	if err != nil {
		return nil, err
	}
	o := opened{target: t, servers: t.servers}
	if o.servers == nil {
		if o.started, encryption, err = t.start(ctx); err != nil {
			return nil, err
		}
		o.servers = o.started.Addresses()
	}
	s, err := t.client.connect(o, encryption)
	if err != nil {
		o.stop()
		return nil, err
	}
	return s, nil
}

// start starts the servers. It returns them and the TLS configuration of their clients, nil without
// TLS.
func (t Target) start(ctx context.Context) (_ *cluster.Ensemble, encryption *tls.Config, err error) {
	kind := t.backend.local
	kind.Role = t.backend.Scheme
	plan := cluster.Plan{
		Servers: t.members, Durability: t.durability, InMemory: t.durability == server.Memory,
		Divisible: t.divisible,
	}
	if t.encrypted {
		if plan.Certificate, encryption, err = newCertificate(); err != nil {
			return nil, nil, err
		}
		kind.Leads, kind.Serves = ensemble.LeadsOver(encryption), servesNative(encryption)
	}
	e, err := cluster.Start(ctx, kind, plan)
	return e, encryption, err
}

// An opened target has what the services of all clients have in common.
type opened struct {
	target  Target
	servers []string
	started *cluster.Ensemble // nil if the service was given
	shared  bool              // another service stops what was started
}

// describe adds the backend, the URL and how the servers were started to a client's description of
// its service.
func (o opened) describe(i drivers.Info) drivers.Info {
	i.Name, i.URL, i.Server = o.target.backend.Scheme, o.target.url, o.target.backend.server+i.Server
	if o.started != nil {
		i.Durability, i.Started = o.target.durability, "own process"
		if n := len(o.servers); n > 1 {
			i.Started = fmt.Sprintf("%d own processes", n)
		}
		if o.target.divisible {
			i.Started += " behind proxies"
		}
	}
	return i
}

// options returns d with the URL's settings for what d leaves open.
func (o opened) options(d drivers.Options) drivers.Options {
	d.SessionTimeout = cmp.Or(d.SessionTimeout, o.target.sessionTimeout)
	return d
}

func (o opened) stop() error {
	if o.started == nil || o.shared {
		return nil
	}
	return o.started.Close()
}
