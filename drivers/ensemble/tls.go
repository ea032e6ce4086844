package ensemble

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// encrypted makes a dialer whose connections are encrypted. What is above them
// sees them as if they were not.
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

// Refusal tells whether a connection failed for good: one side does not take the
// other's certificate, which no further attempt would mend.
func Refusal(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var alert *net.OpError // what the other side says of ours, in crypto/tls
	return errors.As(err, &untrusted) || errors.As(err, &alert) && alert.Op == "remote error"
}
