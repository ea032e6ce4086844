package backends

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// Open starts the servers, if the URL has no address, and returns the service. The context bounds
// only the start. Open does not connect to a given service; Dial is the first to do so.
func (t Target) Open(ctx context.Context) (drivers.Service, error) {
	encryption, err := t.security.TLSConfig()
	if err != nil {
		return nil, err
	}
	o := opened{target: t}
	if t.Given() {
		o.members = membersOf(ctx, t.servers, net.DefaultResolver.LookupIPAddr)
		o.servers = o.members.addresses
		if t.clients == balancer.Followers && len(o.servers) == 1 {
			return nil, fmt.Errorf("backend %q: %w", t.url, errOneServer)
		}
	} else {
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
	plan := cluster.Plan{
		Servers: t.members, Durability: t.durability, InMemory: t.durability == server.Memory,
		Divisible: t.divisible, OwnDisks: t.ownDisks,
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
	members *members          // of a service that was given
	started *cluster.Ensemble // nil if the service was given
	shared  bool              // another service stops what was started
}

// describe adds the backend, the URL and how the servers were started to a client's description of
// its service.
func (o opened) describe(i drivers.Info) drivers.Info {
	i.Name, i.URL, i.Server = o.target.backend.Scheme, o.target.url, o.target.backend.server+i.Server
	i.TLS = o.target.encrypted || o.target.security.TLS()
	if on := o.target.clients; len(o.servers) > 1 && on != balancer.All {
		i.SessionsOn = on
	}
	if o.members != nil {
		i.Members = o.members.described()
	}
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

// unreached returns the given servers that accepted no connection.
func (o opened) unreached() []string {
	if o.members == nil {
		return nil
	}
	return o.members.unreached()
}

// options returns d with the URL's settings for what d leaves open.
func (o opened) options(d drivers.Options) drivers.Options {
	d.SessionTimeout = cmp.Or(d.SessionTimeout, o.target.sessionTimeout)
	return d
}

// dialer returns what connects to servers; nil for those that the run has started.
func (o opened) dialer() func(context.Context, string) (net.Conn, error) {
	if o.members == nil {
		return nil
	}
	return o.members.dial
}

// host returns what says by which server of the URL a certificate is checked; nil if that is the address.
func (o opened) host() func(address string) string {
	if o.members == nil {
		return nil
	}
	return o.members.server
}

func (o opened) stop() error {
	if o.started == nil || o.shared {
		return nil
	}
	return o.started.Close()
}

// An etcdService is an etcd service as its URL configures it.
type etcdService struct {
	*etcd.Service
	opened opened
}

func connectEtcd(o opened, encryption *tls.Config) (drivers.Service, error) {
	s, err := etcd.New(etcd.Config{
		Dial: o.dialer(), Host: o.host(), Endpoints: o.servers, Prefix: o.target.chroot, Serializable: o.target.consistency == etcd.ReadSerializable, Clients: o.target.clients,
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

// Unreached returns the given members that accepted no connection.
func (s *etcdService) Unreached() []string { return s.opened.unreached() }

func (s *etcdService) Info() drivers.Info { return s.opened.describe(s.Service.Info()) }

func (s *etcdService) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	return s.Service.Dial(ctx, s.opened.options(o))
}

func (s *etcdService) Close() error { return s.opened.stop() }

// nativeOptions allow session time-outs of 1 s to 10 s, which is drivers.DefaultSessionTimeout.
func nativeOptions() server.Options { return server.Options{Tick: 500 * time.Millisecond} }

// RunNative runs a native server at place p, in this process, until the context ends. It announces the ID of the process.
func RunNative(ctx context.Context, p cluster.Place, announce func(pid string)) error {
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

// WithClient returns the service with sessions of go-zookeeper.
func (s *inProcess) WithClient(name string) drivers.Service {
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

// certificateLife is longer than any run takes.
const certificateLife = 365 * 24 * time.Hour

// newCertificate makes a certificate. It returns the PEM text of certificate and key, and the TLS configuration of
// clients that trust only this certificate.
func newCertificate() (text []byte, client *tls.Config, err error) {
	text, der, err := SignCertificate()
	if err != nil {
		return nil, nil, err
	}
	trusted, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	client = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	client.RootCAs.AddCert(trusted)
	return text, client, nil
}

// SignCertificate makes a self-signed certificate for a server that a run starts, valid on the loopback interface. It returns
// the PEM text of certificate and key, and the certificate's DER. The key exists only on this machine.
func SignCertificate() (text, der []byte, err error) {
	if text, der, err = signCertificate(time.Now()); err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	return text, der, nil
}

func signCertificate(now time.Time) (text, der []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stampede"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife), // clocks may be set back
	}
	if der, err = x509.CreateCertificate(rand.Reader, c, c, key.Public(), key); err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), der, nil
}
