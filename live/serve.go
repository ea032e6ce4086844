package live

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// An Endpoint shows a page to browsers.
type Endpoint struct {
	URL string
	// Local tells whether only this machine can reach it.
	Local bool
	page  *Page
	http  *http.Server
	done  chan error
}

// Serve shows the page at an address until Close.
func Serve(addr string, p *Page) (*Endpoint, error) {
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
	if at.Addr().IsUnspecified() { // which no browser can go to
		e.URL = "http://" + netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	go func() { e.done <- e.http.Serve(listener) }()
	return e, nil
}

// closeTime is how long those who watch may take to read that it is over.
const closeTime = 500 * time.Millisecond

// Close says to all who watch that it is over, and stops.
func (e *Endpoint) Close() {
	e.page.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if e.http.Shutdown(ctx) != nil {
		_ = e.http.Close() // somebody does not read
	}
	<-e.done
}
