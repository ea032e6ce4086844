package zookeeper

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// encrypted makes a dialer whose connections are encrypted. What is above them,
// the tap first of all, sees them as if they were not.
func encrypted(dial func(context.Context, string) (net.Conn, error), cfg *tls.Config) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		plain, err := dial(ctx, address)
		if err != nil {
			return nil, err
		}
		cfg := cfg.Clone()
		if cfg.ServerName == "" {
			cfg.ServerName, _, _ = net.SplitHostPort(address)
		}
		conn := tls.Client(plain, cfg)
		if err := conn.HandshakeContext(ctx); err != nil {
			plain.Close()
			return nil, fmt.Errorf("%s: TLS handshake: %w", address, err)
		}
		return conn, nil
	}
}

// refusal tells whether a connection failed for good: one side does not take the
// other's certificate, which no further attempt would mend.
func refusal(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var alert *net.OpError // what the other side says of ours, in crypto/tls
	return errors.As(err, &untrusted) || errors.As(err, &alert) && alert.Op == "remote error"
}

// credentials are a user of ZooKeeper's digest scheme; the zero value is nobody.
type credentials struct {
	user     string
	password drivers.Secret
}

func (u credentials) isZero() bool { return u == credentials{} }

// digest is what the server makes the user's id of.
func (u credentials) digest() []byte { return []byte(u.user + ":" + string(u.password)) }

// acl says who may touch what a session creates: whoever has its credentials,
// or everybody where it has none, since what lies in a service under test is no
// secret.
func (u credentials) acl() []zk.ACL {
	if u.isZero() {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.AuthACL(zk.PermAll)
}

// introduce tells the server who we are. The library repeats it on every
// further connection, before anything else is sent there. ZooKeeper does not
// say whether it knows the user: what the user may not do is refused.
func (c *Conn) introduce(ctx context.Context) error {
	if c.user.isZero() {
		return nil
	}
	err := c.insist(ctx, request{op: drivers.OpOther})
	var f *failure
	if errors.As(err, &f) {
		f.op, f.path = "give", "credentials"
	}
	return err
}

// unimplemented tells whether a server does not do what was asked, for which
// the library has no error of its own.
func unimplemented(err error) bool {
	return strings.HasSuffix(err.Error(), " "+strconv.Itoa(int(wire.ErrUnimplemented)))
}
