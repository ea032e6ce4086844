package backends

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// A client is a library that opens sessions.
type client struct {
	name        string   // as in drivers.Info
	unsupported []string // capabilities that its sessions lack
	connect     func(o opened, encryption *tls.Config) (drivers.Service, error)
}

// The capabilities that some clients lack. stampede does not emulate those that a client library
// lacks.
const (
	persistentWatches = "persistent watches"          // drivers.PersistentWatcher
	libraryForms      = "library forms"               // drivers.Librarian
	cuts              = "connections that can be cut" // drivers.Cutter

	manyWatches = "events before replies after a reconnect with more than 128 KiB of watched paths"
	brokenClose = "the end of a session whose connection breaks while it is closed"
)

func (c client) supports(capability string) bool { return !slices.Contains(c.unsupported, capability) }

// Clients describes the clients that the URL may name, one line each.
func (b Backend) Clients() []string {
	lines := b.clientNames()
	for i, c := range b.clients {
		if i == 0 {
			lines[i] += " (default)"
		}
		if len(c.unsupported) > 0 {
			lines[i] += "; unsupported: " + strings.Join(c.unsupported, ", ")
		}
	}
	return lines
}

// Persistent returns a URL, without an address, whose sessions are drivers.PersistentWatchers, or
// "" if no client has them.
func (b Backend) Persistent() string {
	i := slices.IndexFunc(b.clients, func(c client) bool { return c.supports(persistentWatches) })
	switch i {
	case -1:
		return ""
	case 0:
		return b.Scheme + ":"
	}
	return b.Scheme + ":?" + library.Name + "=" + b.clients[i].name
}

// client returns the client of a name.
func (b Backend) client(name string) (client, bool) {
	i := slices.Index(b.clientNames(), name)
	if i < 0 {
		return client{}, false
	}
	return b.clients[i], true
}

func (b Backend) clientNames() []string {
	var names []string
	for _, c := range b.clients {
		names = append(names, c.name)
	}
	return names
}

// zooKeeperClients returns the clients for servers that speak ZooKeeper's protocol.
func zooKeeperClients() []client {
	return []client{
		{name: lean.Client, unsupported: []string{libraryForms}, connect: connectZooKeeper(newLean)},
		{name: zookeeper.Client, unsupported: []string{manyWatches, persistentWatches, brokenClose}, connect: connectZooKeeper(newGoZooKeeper)},
	}
}

func newLean(cfg ensemble.Config) (zooKeeperService, error) { return lean.New(cfg) }

func newGoZooKeeper(cfg ensemble.Config) (zooKeeperService, error) { return zookeeper.New(cfg) }

// A zooKeeperService has the methods that the services of both clients have.
type zooKeeperService interface {
	drivers.Service
	drivers.ServerStats
	Expire(ctx context.Context, c drivers.Conn) error
	Holds(ctx context.Context, c drivers.Conn) (bool, error)
}

// A zooKeeper is a service that speaks ZooKeeper's protocol, as its URL configures it.
type zooKeeper struct {
	zooKeeperService
	opened     opened
	encryption *tls.Config
}

// WithClient returns the service with sessions of another client, unless the URL names one.
func (s *zooKeeper) WithClient(name string) drivers.Service {
	o := s.opened
	c, _ := o.target.backend.client(name)
	if !o.target.Offers(name) {
		return nil
	}
	o.target.client, o.shared = c, true
	service, err := c.connect(o, s.encryption)
	if err != nil { // as it would have been for s
		return nil
	}
	return service
}

func connectZooKeeper(through func(ensemble.Config) (zooKeeperService, error)) func(opened, *tls.Config) (drivers.Service, error) {
	return func(o opened, encryption *tls.Config) (drivers.Service, error) {
		s, err := through(ensemble.Config{
			Dial: o.dialer(), Host: o.host(), Servers: o.servers, Chroot: o.target.chroot, SyncReads: o.target.consistency == ensemble.ReadSync, Clients: o.target.clients,
			TLS: encryption, Username: o.target.security.User, Password: o.target.security.Password,
		})
		service := &zooKeeper{s, o, encryption}
		if o.started != nil {
			return &startedZooKeeper{service}, err
		}
		return service, err
	}
}

// A startedZooKeeper is a zooKeeper whose servers the run has started.
type startedZooKeeper struct{ *zooKeeper }

func (s *startedZooKeeper) Members() []drivers.Member { return s.opened.started.Members() }

func (s *startedZooKeeper) Divisible() bool { return s.opened.started.Divisible() }

// Unreached returns the given servers that accepted no connection.
func (s *zooKeeper) Unreached() []string { return s.opened.unreached() }

func (s *zooKeeper) Info() drivers.Info { return s.opened.describe(s.zooKeeperService.Info()) }

func (s *zooKeeper) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	return s.zooKeeperService.Dial(ctx, s.opened.options(o))
}

func (s *zooKeeper) Close() error { return s.opened.stop() }

// Address returns the URL by which another process opens sessions like those of an opened service,
// also on servers that were started for it. It needs the service's [Security] as well.
func Address(s drivers.Service) (string, error) {
	o, ok := s.(interface{ openedTarget() opened })
	if !ok {
		return "", fmt.Errorf("%s: no other process can reach it", s.Info().URL)
	}
	return o.openedTarget().address()
}

// Security returns the TLS settings and the credentials of an opened service.
func Security(s drivers.Service) drivers.Security {
	if o, ok := s.(interface{ openedTarget() opened }); ok {
		return o.openedTarget().target.security
	}
	return drivers.Security{}
}

// SessionTimeout returns the session time-out in the URL of an opened service, 0 if it names none.
func SessionTimeout(s drivers.Service) time.Duration {
	if o, ok := s.(interface{ openedTarget() opened }); ok {
		return o.openedTarget().target.sessionTimeout
	}
	return 0
}

// ShareServer reports whether two opened services have a server in common, by its address.
func ShareServer(a, b drivers.Service) bool {
	one, ok := a.(interface{ openedTarget() opened })
	other, okToo := b.(interface{ openedTarget() opened })
	return ok && okToo && slices.ContainsFunc(one.openedTarget().servers, func(server string) bool {
		return slices.Contains(other.openedTarget().servers, server)
	})
}

func (s *zooKeeper) openedTarget() opened { return s.opened }

func (s *etcdService) openedTarget() opened { return s.opened }

func (o opened) address() (string, error) {
	t := o.target
	if t.encrypted {
		return "", errors.New("a service that was started with TLS can be used by this process only: name a service by its address")
	}
	query := url.Values{}
	set := func(k Key, value string) {
		if value != "" {
			query.Set(k.Name, value)
		}
	}
	set(consistency, t.consistency)
	if len(t.backend.clients) > 1 {
		set(library, t.client.name)
	}
	if t.sessionTimeout > 0 {
		set(sessionTimeout, t.sessionTimeout.String())
	}
	if len(o.servers) > 1 {
		set(clients, t.clients)
	}
	servers := o.servers
	if t.Given() { // another process looks the names up itself
		servers = t.servers
	}
	at := t.backend.Scheme + "://" + strings.Join(servers, ",") + t.chroot
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	return at, nil
}
