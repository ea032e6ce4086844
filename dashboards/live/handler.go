package live

import (
	"bytes"
	"crypto/subtle"
	"embed"
	"html/template"
	"net"
	"net/http"
	"net/netip"

	"github.com/stampede-bench/stampede/results/charts"
)

//go:embed page.html page.css page.js cells.js refresh.js icon.svg
var files embed.FS

// policy allows the page to load its own files and nothing from elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
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

// guard adds the policy to each reply, and refuses requests for a host name that is not ours. Otherwise a page from elsewhere,
// whose name resolves to this server (DNS rebinding), would count as the same origin. That is
// not possible with an IP address.
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
