package live

import (
	"bytes"
	"context"
	"crypto/subtle"
	"embed"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/stampede-bench/stampede/results/charts"
)

//go:embed page.html page.css page.js cells.js refresh.js icon.svg
var files embed.FS

// policy allows the page to load its own files and nothing from elsewhere. It also holds for the report that
// the page offers at the end, which has its style in itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// tokenHeader is the header in which a request to stop carries the page's token.
const tokenHeader = "Stampede-Token"

// Handler returns a handler for requests to the given host name or to any IP address.
func (p *Page) Handler(host string) (http.Handler, error) {
	page, err := template.ParseFS(files, "page.html")
	if err != nil {
		return nil, err
	}
	var index bytes.Buffer
	if err := page.Execute(&index, p.token); err != nil {
		return nil, err
	}
	style, err := files.ReadFile("page.css")
	if err != nil {
		return nil, err
	}
	colours := ":root{" + charts.Variables(false) + "}\n@media (prefers-color-scheme:dark){:root{" + charts.Variables(true) + "}}\n"
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", text("text/html; charset=utf-8", index.Bytes()))
	mux.Handle("GET /page.css", text("text/css; charset=utf-8", append([]byte(colours), style...)))
	for _, name := range []string{"cells.js", "page.js", "icon.svg"} {
		mux.Handle("GET /"+name, http.FileServerFS(files))
	}
	mux.HandleFunc("GET /events", p.events)
	mux.HandleFunc("POST /stop", p.stop)
	return guard(host, policy, http.NewCrossOriginProtection().Handler(mux)), nil
}

func text(kind string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(content) // a client that has gone away gets no reply
	})
}

// stop ends the command as an interrupt from the keyboard does.
func (p *Page) stop(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(tokenHeader)), []byte(p.token)) == 0 {
		http.Error(w, "only the page itself can stop the run: open it and use its button", http.StatusForbidden)
		return
	}
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	p.interrupt()
	w.WriteHeader(http.StatusAccepted)
}

// guard adds the policy to each reply, and refuses requests for a host name that is not ours. Otherwise a
// page from elsewhere, whose name resolves to this server (DNS rebinding), would count as the same origin.
// That is not possible with an IP address.
func guard(host, policy string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := hostOf(r.Host)
		if _, err := netip.ParseAddr(asked); err != nil && asked != "localhost" && asked != host {
			http.Error(w, "unknown host name: use the address that stampede printed", http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// hostOf returns the host part of an address with or without a port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	if n := len(address); n > 1 && address[0] == '[' && address[n-1] == ']' {
		return address[1 : n-1]
	}
	return address
}

// A viewer is a browser that has the page open. The channel holds the next event for it.
type viewer chan []byte

// put replaces an event that the viewer has not read. Only the holder of the page's lock calls
// put, so the channel has room.
func (v viewer) put(event []byte) {
	select {
	case <-v:
	default:
	}
	v <- event
}

// mostViewers protects the run's memory against a script that opens too many connections by
// mistake.
const mostViewers = 200

// join adds a viewer. It returns nil if there are too many.
func (p *Page) join() viewer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.viewers) >= mostViewers {
		return nil
	}
	v := make(viewer, 1)
	if p.over {
		v <- p.last
		close(v)
		return v
	}
	p.viewers[v] = struct{}{}
	select {
	case p.sooner <- struct{}{}:
	default:
	}
	return v
}

func (p *Page) leave(v viewer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.viewers, v)
}

// readTime is the longest time that a viewer may take to read an event.
const readTime = 10 * time.Second

// events sends the page's events as server-sent events until the command is over or the viewer
// stops reading.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	v := p.join()
	if v == nil {
		http.Error(w, "too many are watching: close a page", http.StatusServiceUnavailable)
		return
	}
	defer p.leave(v)
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	for {
		select {
		case <-r.Context().Done():
			return
		case event, more := <-v:
			if !more {
				return
			}
			_ = control.SetWriteDeadline(time.Now().Add(readTime)) // supported by network connections
			if _, err := w.Write(event); err != nil || control.Flush() != nil {
				return
			}
		}
	}
}

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

// closeTime is how long viewers have to read the last event, which has the report.
const closeTime = 2 * time.Second

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
