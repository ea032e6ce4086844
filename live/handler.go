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

//go:embed page.html page.css page.js cells.js icon.svg
var files embed.FS

// policy lets the page load what comes with it, and nothing else from anywhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// tokenHeader is where a request to stop has the page's token.
const tokenHeader = "Stampede-Token"

// Handler answers browsers that have been given the host's name or an address.
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
	return guard(host, http.NewCrossOriginProtection().Handler(mux)), nil
}

func text(kind string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(content) // who does not take it does without
	})
}

// stop ends the command as an interruption from the keyboard does.
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

// guard refuses whoever asks by a name that is not ours: a page from elsewhere
// whose name has been made to lead here would otherwise pass for this one. An
// address cannot be made to.
func guard(host string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := hostOf(r.Host)
		if _, err := netip.ParseAddr(asked); err != nil && asked != "localhost" && asked != host {
			http.Error(w, "nobody of that name is here: use the address that stampede told", http.StatusMisdirectedRequest)
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

// hostOf is the host of what may have a port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	if n := len(address); n > 1 && address[0] == '[' && address[n-1] == ']' {
		return address[1 : n-1]
	}
	return address
}
