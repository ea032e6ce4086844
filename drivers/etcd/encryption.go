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

// encrypt has the tap's connections encrypted.
func (t *tap) encrypt(cfg *tls.Config) grpc.DialOption {
	return grpc.WithTransportCredentials(encryption{credentials.NewTLS(cfg), t, cfg.ServerName})
}

// encryption is gRPC's own but for two things. gRPC checks a server by the
// address that was dialed, whatever name the configuration gives it. And it
// takes a connection for made before the server has looked at the client's
// certificate; whether it then learns of a refusal, or just that its first write
// failed, is chance.
type encryption struct {
	credentials.TransportCredentials
	tap  *tap   // is told why there is no connection
	name string // of the server; "": what was dialed
}

// ClientHandshake returns when the server has taken the client.
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

// greeting is the beginning of what a server sends that has taken a client: its
// settings, without being asked.
func greeting(ctx context.Context, c net.Conn) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Unix(1, 0)) })
	first := make([]byte, 1)
	n, err := c.Read(first)
	if !stop() {
		return nil, context.Cause(ctx)
	}
	return first[:n], err
}

// greeted is a connection of which the beginning was read.
type greeted struct {
	net.Conn
	from io.Reader
}

func (g greeted) Read(p []byte) (int, error) { return g.from.Read(p) }

// Clone is what gRPC wants of credentials.
func (e encryption) Clone() credentials.TransportCredentials {
	return encryption{e.TransportCredentials.Clone(), e.tap, e.name}
}
