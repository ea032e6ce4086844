package etcd

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// encrypt encrypts the tap's connections.
func (t *tap) encrypt(cfg *tls.Config) grpc.DialOption {
	return grpc.WithTransportCredentials(encryption{credentials.NewTLS(cfg), t, cfg.ServerName})
}

// encryption is gRPC's TLS with two changes. First, gRPC checks a server by the address that
// was dialed, even if the configuration names the server; encryption uses the configured name.
// Second, gRPC considers a connection established before the server has checked the client's
// certificate, and then it is random whether gRPC learns of a refusal or only that its first
// write failed; encryption waits for the server's first byte.
type encryption struct {
	credentials.TransportCredentials
	tap  *tap   // learns why there is no connection
	name string // of the server; "": the dialed address
}

// ClientHandshake returns when the server has accepted the client.
func (e encryption) ClientHandshake(ctx context.Context, dialed string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if e.name != "" {
		dialed = e.name
	}
	conn, info, err := e.TransportCredentials.ClientHandshake(ctx, dialed, c)
	if err != nil {
		e.tap.undone(err)
		return nil, nil, err
	}
	first, err := greeting(ctx, conn)
	if err != nil {
		e.tap.undone(err)
		conn.Close()
		return nil, nil, err
	}
	return greeted{conn, io.MultiReader(bytes.NewReader(first), conn)}, info, nil
}

// greeting reads the first byte that the server sends. A server that has accepted a client
// sends its settings without being asked.
func greeting(ctx context.Context, c net.Conn) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Unix(1, 0)) })
	first := make([]byte, 1)
	n, err := c.Read(first)
	if !stop() {
		return nil, context.Cause(ctx)
	}
	return first[:n], err
}

// greeted is a connection whose first byte was already read.
type greeted struct {
	net.Conn
	from io.Reader
}

func (g greeted) Read(p []byte) (int, error) { return g.from.Read(p) }

// Clone implements credentials.TransportCredentials.
func (e encryption) Clone() credentials.TransportCredentials {
	return encryption{e.TransportCredentials.Clone(), e.tap, e.name}
}
