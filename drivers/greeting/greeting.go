package greeting

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Protocol is what a client expects of a server, and what it finds there.
type Protocol string

// The protocols that clients expect, and HTTP.
const (
	ZooKeeper Protocol = "ZooKeeper's protocol"
	Etcd      Protocol = "etcd's protocol"
	TLS       Protocol = "TLS" // it precedes either on an encrypted connection
	HTTP      Protocol = "HTTP"
)

// begins reports whether the first bytes of a server, at least one, can be of the protocol.
func (p Protocol) begins(b []byte) bool {
	switch p {
	case ZooKeeper: // the length of the packet that answers a request for a session, which takes less than two bytes
		return b[0] == 0 && !settings(b)
	case Etcd:
		return b[0] == 0 && (len(b) < 4 || settings(b))
	case TLS: // an alert or a handshake of any version
		return (b[0] == 0x15 || b[0] == 0x16) && (len(b) < 2 || b[1] == 3)
	}
	return http1(b)
}

func http1(b []byte) bool { return bytes.HasPrefix(b, []byte("HTTP/")) }

// settings reports whether bytes begin with a frame of HTTP/2's settings, as all that a server of it sends does.
func settings(b []byte) bool { return len(b) >= 4 && b[0] == 0 && b[3] == 4 }

// spoken returns which protocol the first bytes of a server are of, "" if that is not known.
func spoken(b []byte) Protocol {
	switch {
	case TLS.begins(b):
		return TLS
	case http1(b):
		if bytes.Contains(b, []byte("etcdserver")) { // in the answer to a request for its version
			return Etcd
		}
		return HTTP
	case settings(b):
		return Etcd
	case b[0] == 0 || bytes.HasPrefix(b, []byte("Zookeeper")) || bytes.HasPrefix(b, []byte("srvr is not executed")):
		return ZooKeeper
	}
	return ""
}

// A Mismatch is the error of a connection to a server that does not speak the expected protocol.
type Mismatch struct {
	Expected Protocol
	Spoken   Protocol // "" if that is not known
}

func (m *Mismatch) Error() string {
	s := fmt.Sprintf("the server does not speak %s", m.Expected)
	if m.Spoken != "" {
		s = fmt.Sprintf("the server speaks %s, and not %s", m.Spoken, m.Expected)
	}
	switch {
	case m.Expected == TLS:
		s += ": leave out --tls-ca and its like, or give the port with TLS"
	case m.Spoken == TLS:
		s += ": give --tls-ca, or the port without TLS"
	case m.Spoken == Etcd:
		s += ": want etcd://"
	case m.Spoken == ZooKeeper:
		s += ": want zookeeper:// or native://"
	}
	return s
}

// Check returns the connection with a Read that fails with a Mismatch if the first bytes of the server are not of the
// protocol, and with drivers.ErrHungUp if the server ends the connection before it sends any.
func Check(c net.Conn, p Protocol) net.Conn { return &checked{Conn: c, protocol: p} }

type checked struct {
	net.Conn
	protocol Protocol
	passed   atomic.Bool // the server has begun as it should
}

// Write fails as Read does where the server has ended the connection.
func (c *checked) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if !c.passed.Load() && hungUp(err) {
		err = fmt.Errorf("%w (%w)", drivers.ErrHungUp, err)
	}
	return n, err
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.passed.Load() || len(b) == 0 {
		return n, err
	}
	if n > 0 {
		if !c.protocol.begins(b[:n]) {
			return 0, &Mismatch{c.protocol, spoken(b[:n])}
		}
		c.passed.Store(true)
	} else if hungUp(err) {
		err = fmt.Errorf("%w (%w)", drivers.ErrHungUp, err)
	}
	return n, err
}

// hungUp reports whether the other side has ended the connection.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Final reports whether a connection failed for a reason that another attempt does not remove: the server speaks another
// protocol, or one side rejects the other's certificate.
func Final(err error) bool {
	var other *Mismatch
	var untrusted *tls.CertificateVerificationError
	var alert *net.OpError // the server's error about the client's certificate, as crypto/tls reports it
	return errors.As(err, &other) || errors.As(err, &untrusted) || errors.As(err, &alert) && alert.Op == "remote error"
}

// askTime bounds how long a server has to answer what it is.
const askTime = time.Second

// A question is what a client of a protocol sends first. A server that expects another protocol says nothing to it, and
// an answer shows what it speaks.
var questions = []string{"srvr", "GET /version HTTP/1.0\r\n\r\n", hello}

// hello is the shortest request for a TLS session, without any cipher that exists: a server refuses it with an alert.
const hello = "\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03" + // a handshake with a hello of TLS 1.2
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x02\x00\x00\x01\x00\x00\x00" // no session, one cipher, no compression, no extensions

// Explain returns err, the error of a service that could not be used, or a Mismatch if a server that accepts connections
// and does not answer, or closes them, turns out to speak another protocol. Dial connects to an address without TLS.
func Explain(err error, expected Protocol, dial func(ctx context.Context, address string) (net.Conn, error), addresses []string) error {
	if !errors.Is(err, drivers.ErrHungUp) && !errors.Is(err, drivers.ErrSilent) || errors.Is(err, context.Canceled) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	found := make([]Protocol, len(questions)*len(addresses))
	var all sync.WaitGroup
	for i := range found {
		all.Go(func() { found[i] = ask(ctx, dial, addresses[i/len(questions)], questions[i%len(questions)]) })
	}
	all.Wait()
	for i, p := range found {
		if p != "" && p != expected {
			return fmt.Errorf("%s: %w", addresses[i/len(questions)], &Mismatch{expected, p})
		}
	}
	return err
}

// ask asks a server a question, and returns which protocol its answer is of, "" if it does not answer.
func ask(ctx context.Context, dial func(ctx context.Context, address string) (net.Conn, error), address, question string) Protocol {
	c, err := dial(ctx, address)
	if err != nil {
		return ""
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if _, err := io.WriteString(c, question); err != nil {
		return ""
	}
	answer := make([]byte, 1024)
	n, _ := io.ReadFull(c, answer) // the header and the body of HTTP may come apart
	if n == 0 {
		return ""
	}
	return spoken(answer[:n])
}
