package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A relay is a client's connection and the one to its server.
type relay struct {
	proxy          *Proxy
	client, server net.Conn // with TLS, on a side that has it
	rawClient      net.Conn // without
	rawServer      net.Conn
	connection     traffic.Connection
	observed       bool            // false if the analysis was late when the connection was opened
	decoder        traffic.Decoder // belongs to the analysis; nil after its analysis has failed
	missing        [2]int64        // belongs to the analysis: bytes of each direction since its last packet
}

func newLine(p *Proxy, client, server net.Conn, s Server) *relay {
	l := &relay{proxy: p, client: client, server: server, rawClient: client, rawServer: server}
	if p.options.TLS != nil {
		l.client = tls.Server(patient{client}, p.options.TLS)
	}
	if s.TLS != nil {
		l.server = tls.Client(patient{server}, s.TLS)
	}
	l.connection = traffic.Connection{
		ID:     p.last.Add(1),
		Client: client.RemoteAddr().String(),
		Server: s.Address,
	}
	return l
}

// A direction is one direction of a line, as the analysis needs it.
type direction struct {
	event  event
	framer traffic.Framer // nil if the protocol has none
	lost   int64          // bytes dropped since the last piece that the analysis got
}

func (l *relay) direction(e event) *direction {
	d := &direction{event: e}
	if framer := l.proxy.options.Protocol.Framer; framer != nil {
		d.framer = framer()
	}
	return d
}

// run passes bytes in both directions until both have ended.
func (l *relay) run() {
	a := l.proxy.analysis
	if l.shakeHands() != nil {
		l.abort()
		return
	}
	l.observed = a.open(l)
	requests, replies := l.direction(fromClient), l.direction(fromServer)
	var other sync.WaitGroup
	other.Go(func() { l.pass(l.server, l.client, replies) })
	l.pass(l.client, l.server, requests)
	other.Wait()
	l.client.Close()
	l.server.Close()
	if l.observed {
		a.end(l, requests.lost+replies.lost)
	}
}

// shakeHands does the TLS handshakes of both sides, at the same time. A peer that does not take part keeps
// both connections for no longer than the proxy waits.
func (l *relay) shakeHands() error {
	ctx, cancel := context.WithTimeout(l.proxy.ctx, l.proxy.patience)
	defer cancel()
	sides, ctx := errgroup.WithContext(ctx)
	for _, side := range []net.Conn{l.client, l.server} {
		if t, ok := side.(*tls.Conn); ok {
			sides.Go(func() error { return t.HandshakeContext(ctx) })
		}
	}
	return sides.Wait()
}

// bufferSize is how many bytes are passed on at once. Most requests and replies are smaller.
const bufferSize = 4 << 10

// pass passes one direction on. When the source ends, so does this direction of the destination,
// and the other direction continues. When either breaks, both connections are reset.
func (l *relay) pass(from, to net.Conn, d *direction) {
	buf := make([]byte, bufferSize)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			l.proxy.analysis.offer(l, d, buf[:n])
			if _, failed := to.Write(buf[:n]); failed != nil {
				err = failed
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			if closeWrite(to) != nil {
				l.abort()
			}
			return
		case err != nil:
			l.abort()
			return
		}
	}
}

// abort resets both connections, as a broken connection between the two would be.
func (l *relay) abort() {
	reset(l.rawClient)
	reset(l.rawServer)
}

// closeWrite ends one direction of a connection.
func closeWrite(c net.Conn) error { return c.(interface{ CloseWrite() error }).CloseWrite() }

// patient is a connection below TLS that waits for its reader. crypto/tls gives the end of a direction five seconds, and
// a reader may be slower than that.
type patient struct{ net.Conn }

func (patient) SetWriteDeadline(time.Time) error { return nil }

// reset closes a connection so that the peer gets a reset and no ordinary end.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
