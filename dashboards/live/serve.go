package live

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// An Endpoint serves a page to browsers.
type Endpoint struct {
	URL string
	// Local says that only this machine can reach the endpoint.
	Local bool
	page  Content
	http  *http.Server
	done  chan error
}

// A Content is what an endpoint shows: a [Page] or a [Report].
type Content interface {
	// Handler returns a handler for requests to the given host name or to any IP address.
	Handler(host string) (http.Handler, error)
	// Close tells viewers that the command is over.
	Close()
}

// Serve serves the page at an address until Close.
func Serve(addr string, p Content) (*Endpoint, error) {
	handler, err := p.Handler(hostOf(addr))
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	at := listener.Addr().(*net.TCPAddr).AddrPort()
	e := &Endpoint{URL: "http://" + at.String(), Local: at.Addr().Unmap().IsLoopback(), page: p, done: make(chan error, 1),
		http: &http.Server{Handler: handler, ReadHeaderTimeout: time.Second, MaxHeaderBytes: 16 << 10}}
	if at.Addr().IsUnspecified() { // an address that browsers cannot open
		e.URL = "http://" + netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	go func() { e.done <- e.http.Serve(listener) }()
	return e, nil
}

// closeTime is how long viewers have to read the last event.
const closeTime = 500 * time.Millisecond

// Close notifies all viewers that the command is over, and stops the endpoint.
func (e *Endpoint) Close() {
	e.page.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if e.http.Shutdown(ctx) != nil {
		_ = e.http.Close() // a viewer does not read
	}
	<-e.done
}
