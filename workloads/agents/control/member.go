package control

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/etcd"
)

// An EtcdMember is an etcd member in this process, for one run.
type EtcdMember struct {
	etcd    *embed.Etcd
	dir     string
	lock    *os.File // in dir; locked while this process uses it
	address string
	token   Token
}

// user is the name of the etcd user of all processes of a run.
const user = "root"

// startTime bounds the start of a member.
const startTime = 30 * time.Second

// Start runs a member that listens on the address, host:port. Port 0 chooses a free one. Only
// processes that have its token can use it, over TLS.
func Start(ctx context.Context, listen string) (_ *EtcdMember, err error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: want host:port", listen)
	}
	m := &EtcdMember{}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	if m.dir, m.lock, err = newDir(); err != nil {
		return nil, fmt.Errorf("start the control plane: %w", err)
	}
	cfg := m.config(listen)
	if m.etcd, err = embed.StartEtcd(cfg); err != nil {
		return nil, fmt.Errorf("start the control plane on %s: %w", listen, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case <-m.etcd.Server.ReadyNotify():
	case err := <-m.etcd.Err():
		return nil, fmt.Errorf("start the control plane on %s: %w", listen, err)
	case <-ctx.Done():
		return nil, fmt.Errorf("start the control plane on %s: %w", listen, context.Cause(ctx))
	}
	_, port, _ := net.SplitHostPort(m.etcd.Clients[0].Addr().String()) // a TCP address has a port
	m.address = net.JoinHostPort(host, port)
	return m, m.protect(ctx, filepath.Join(m.dir, "fixtures", "client", "cert.pem"))
}

// config returns the configuration. Agents hand in their results at the end of a run, in one piece.
func (m *EtcdMember) config(listen string) *embed.Config {
	local := url.URL{Scheme: "http", Host: "127.0.0.1:0"} // no other member connects
	clients := url.URL{Scheme: "https", Host: listen}
	c := embed.NewConfig()
	c.Name, c.Dir = "stampede-control", m.dir
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{local}, []url.URL{local}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.ClientAutoTLS = true
	c.TickMs, c.ElectionMs = 100, 500 // so that a lease can be as short as an agent's
	c.QuotaBackendBytes = quota
	c.UnsafeNoFsync = true // what it keeps has no value after the run
	c.BcryptCost = 4       // the password is random
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	return c
}

// quota is the size of the member's data above which it accepts no more writes.
const quota = 8 << 30

// protect makes the token and refuses everyone without it.
func (m *EtcdMember) protect(ctx context.Context, certificate string) error {
	text, err := os.ReadFile(certificate)
	if err != nil {
		return err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("%s: no PEM certificate in it", certificate)
	}
	m.token = newToken(block.Bytes)
	s := m.etcd.Server
	_, err = s.UserAdd(ctx, &pb.AuthUserAddRequest{Name: user, Password: m.token.secret(), Options: nil})
	if err == nil {
		_, err = s.RoleAdd(ctx, &pb.AuthRoleAddRequest{Name: user})
	}
	if err == nil {
		_, err = s.UserGrantRole(ctx, &pb.AuthUserGrantRoleRequest{User: user, Role: user})
	}
	if err == nil {
		_, err = s.AuthEnable(ctx, &pb.AuthEnableRequest{})
	}
	return err
}

// URL returns the address by which agents join.
func (m *EtcdMember) URL() string { return "etcd://" + m.address + "/stampede" }

// Token returns what agents need besides the URL.
func (m *EtcdMember) Token() Token { return m.token }

// Close ends the member and removes its data.
func (m *EtcdMember) Close() error {
	if m.etcd != nil {
		m.etcd.Server.HardStop()
		m.etcd.Close()
	}
	if m.dir == "" {
		return nil
	}
	return errors.Join(os.RemoveAll(m.dir), m.lock.Close())
}

// ErrUnprotected means that a control plane was asked to keep a secret and is not an [EtcdMember] of this
// run.
var ErrUnprotected = errors.New("this control plane keeps no secrets")

// Protected reports whether the control plane keeps secrets: it is the one of an [EtcdMember], read with
// its token only.
func (p *Plane) Protected() bool {
	_, is := p.service.(protected)
	return is
}

// PutSecret is PutJSON of a value that only processes with the token can read. The member's files do not
// show it.
func (p *Plane) PutSecret(ctx context.Context, name string, v any) error {
	seal, err := p.seal()
	if err != nil {
		return err
	}
	nonce := make([]byte, seal.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	return p.Put(ctx, name, seal.Seal(nonce, nonce, encode(v), []byte(name)))
}

// GetSecret is GetJSON of a value that PutSecret has written.
func (p *Plane) GetSecret(ctx context.Context, name string, v any) error {
	seal, err := p.seal()
	if err != nil {
		return err
	}
	sealed, err := p.Get(ctx, name)
	if err != nil {
		return err
	}
	if len(sealed) < seal.NonceSize() {
		return fmt.Errorf("read %s from the control plane: it is too short", name)
	}
	nonce, rest := sealed[:seal.NonceSize()], sealed[seal.NonceSize():]
	text, err := seal.Open(nil, nonce, rest, []byte(name))
	if err != nil {
		return fmt.Errorf("read %s from the control plane: it was not written with the token", name)
	}
	return decode(text, v)
}

// seal returns what encrypts with a key that is made of the token.
func (p *Plane) seal() (cipher.AEAD, error) {
	s, is := p.service.(protected)
	if !is {
		return nil, ErrUnprotected
	}
	key := sha256.Sum256(append([]byte("stampede secrets "), s.token.password[:]...))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Given returns the service at a URL, which the caller has to close. The service must have an address,
// and needs no token.
func Given(target string) (drivers.Service, error) {
	t, err := backends.Parse(target)
	if err != nil {
		return nil, err
	}
	if !t.Given() {
		return nil, fmt.Errorf("control plane %q: want the address of a running service, such as etcd://host:2379/bench", target)
	}
	return t.Open(context.Background()) // it starts nothing
}

// Protected returns the service of an [EtcdMember], by its URL and its token.
func Protected(target string, t Token) (drivers.Service, error) {
	place, found := strings.CutPrefix(target, "etcd://")
	host, prefix, hasPrefix := strings.Cut(place, "/")
	if !found || !hasPrefix || host == "" || prefix == "" {
		return nil, fmt.Errorf("control plane %q: want the address that stampede run --agents printed, such as etcd://host:2379/stampede", target)
	}
	s, err := etcd.New(etcd.Config{
		Endpoints: []string{host}, Prefix: "/" + prefix, TLS: t.tls(), Username: user, Password: drivers.Secret(t.secret()),
	})
	if err != nil {
		return nil, err
	}
	return protected{s, t}, nil
}

// A protected is the service of an [EtcdMember].
type protected struct {
	*etcd.Service
	token Token
}

// A Token lets an agent join a run. It has the password of the run's etcd member, and the fingerprint
// of the member's certificate, by which the agent recognizes it. It exists only for the run.
type Token struct {
	password    [16]byte
	fingerprint [sha256.Size]byte
}

func newToken(certificate []byte) (t Token) {
	_, _ = rand.Read(t.password[:]) // it never fails
	t.fingerprint = sha256.Sum256(certificate)
	return t
}

// String returns the token's text, which is a secret.
func (t Token) String() string {
	return base64.RawURLEncoding.EncodeToString(append(t.password[:], t.fingerprint[:]...))
}

// ParseToken reads the text of a token.
func ParseToken(text string) (t Token, err error) {
	all, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(all) != len(t.password)+len(t.fingerprint) {
		return Token{}, errors.New("not a token: want the 64 characters that stampede run --agents printed")
	}
	copy(t.fingerprint[:], all[copy(t.password[:], all):])
	return t, nil
}

// Key returns a key for other connections of the run.
func (t Token) Key() [16]byte {
	sum := sha256.Sum256(append([]byte("stampede clock "), t.password[:]...))
	return [16]byte(sum[:16])
}

// secret is the password of the etcd user.
func (t Token) secret() string { return base64.RawURLEncoding.EncodeToString(t.password[:]) }

// tls returns the configuration of a client that accepts only the server with the token's certificate.
func (t Token) tls() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection decides instead
		VerifyConnection: func(s tls.ConnectionState) error {
			if !t.recognizes(s.PeerCertificates) {
				return fmt.Errorf("the control plane is not the one that the token is for")
			}
			return nil
		},
	}
}

func (t Token) recognizes(chain []*x509.Certificate) bool {
	if len(chain) == 0 {
		return false
	}
	got := sha256.Sum256(chain[0].Raw)
	return subtle.ConstantTimeCompare(got[:], t.fingerprint[:]) == 1
}
