package proxy

import (
	"cmp"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestEndWaitsForASlowReader ends the direction to a client with TLS that reads nothing for a minute. The end must
// arrive when it reads: crypto/tls gives up after five seconds, and then both connections would be reset.
func TestEndWaitsForASlowReader(t *testing.T) {
	own, trusting := certified(t)
	own.SessionTicketsDisabled = true // the handshake would wait for a client that reads them
	now := time.Now()
	trusting.Time = func() time.Time { return now } // the test's own clock is before the certificate
	bubble.Test(t, func(t *testing.T) {
		near, far := net.Pipe() // holds nothing: each write waits for its reader
		l := newLine(&Proxy{options: Options{TLS: own}, ctx: t.Context(), patience: patience}, pipe{near}, pipe{near}, Server{})
		client := tls.Client(far, trusting)
		ended := make(chan error, 1)
		go func() { ended <- cmp.Or(l.shakeHands(), closeWrite(l.client)) }()
		must(t, client.Handshake())
		time.Sleep(time.Minute)
		client.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := client.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("the slow reader got %d bytes and %v, want the end", n, err)
		}
		far.Close()
		if err := <-ended; err != nil {
			t.Errorf("the end was not passed on: %v", err)
		}
	})
}

// A pipe is a connection with an address.
type pipe struct{ net.Conn }

func (pipe) RemoteAddr() net.Addr { return &net.TCPAddr{} }
