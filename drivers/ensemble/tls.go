package ensemble

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// encrypted returns a dialer whose connections are encrypted, transparently for their users.
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

// Refusal reports whether a connection failed permanently: one side rejects the other's
// certificate, so retrying does not help.
func Refusal(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var alert *net.OpError // the server's error about the client's certificate, as crypto/tls reports it
	return errors.As(err, &untrusted) || errors.As(err, &alert) && alert.Op == "remote error"
}
