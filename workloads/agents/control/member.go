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
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/etcd"
)

// An EtcdMember is an etcd member for one run. It is a process of its own, so that it does not use the coordinator's
// processor time and memory.
type EtcdMember struct {
	server *cluster.Ensemble
	token  Token
}

// user is the name of the etcd user of all processes of a run.
const user = "root"

// startTime bounds the start of a member.
const startTime = 2 * time.Minute

// Start runs a member that listens on the address, host:port. Port 0 chooses a free one. Only
// processes that have its token can use it, over TLS. The context limits the start only.
func Start(ctx context.Context, listen string) (_ *EtcdMember, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("start the control plane on %s: %w", listen, err)
		}
	}()
	address, err := free(listen)
	if err != nil {
		return nil, err
	}
	text, der, err := backends.SignCertificate()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	m := &EtcdMember{token: newToken(der)}
	m.server, err = cluster.Start(ctx, cluster.Kind{Role: etcd.ControlRole, Serves: etcd.ServesOver(m.token.tls())}, cluster.Plan{
		Servers: 1, Listen: address, Certificate: text,
		Durability: etcd.NoFsync, // what it keeps has no value after the run
	})
	if err != nil {
		return nil, err
	}
	if err := m.protect(ctx, address); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// free returns the address with a port that is free, the one that it has unless that is 0.
func free(listen string) (address string, err error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return "", errors.New("want host:port")
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // a TCP address has a port
	return net.JoinHostPort(host, port), l.Close()
}

// protect refuses everyone without the token. Before that the member has no users: it must not have any that somebody
// else has added in the meantime.
func (m *EtcdMember) protect(ctx context.Context, address string) error {
	cfg := clientv3.Config{Endpoints: []string{address}, TLS: m.token.tls(), Logger: zap.NewNop()}
	c, err := clientv3.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err = c.UserAdd(ctx, user, m.token.secret()); err == nil {
		_, err = c.RoleAdd(ctx, user)
	}
	if err == nil {
		_, err = c.UserGrantRole(ctx, user, user)
	}
	if err == nil {
		_, err = c.AuthEnable(ctx)
	}
	if err != nil {
		return err
	}
	cfg.Username, cfg.Password = user, m.token.secret()
	own, err := clientv3.New(cfg)
	if err != nil {
		return err
	}
	defer own.Close()
	all, err := own.UserList(ctx)
	if err == nil && !slices.Equal(all.Users, []string{user}) {
		err = fmt.Errorf("somebody else has added users: %q", all.Users)
	}
	return err
}

// URL returns the address by which agents join.
func (m *EtcdMember) URL() string { return "etcd://" + m.server.Addresses()[0] + "/stampede" }

// Token returns what agents need besides the URL.
func (m *EtcdMember) Token() Token { return m.token }

// Close ends the member and removes its data.
func (m *EtcdMember) Close() error { return m.server.Close() }

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
				return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates,
					Err: errors.New("the control plane is not the one that the token is for")}
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
