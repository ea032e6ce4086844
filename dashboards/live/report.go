package live

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// RefreshScript is the address of the script that keeps the page of a [Report] up to date. The page must
// load it.
const RefreshScript = "refresh.js"

// reportPolicy allows a report its own style and the script, and nothing from elsewhere.
const reportPolicy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// fresh is for how long a report is not written again, however many browsers ask for it.
const fresh = time.Second

// A Report is a page that shows a report of work in progress. Its script asks for the report every two
// seconds, and says so when nobody answers any more.
type Report struct {
	write func(io.Writer) error

	mu      sync.Mutex
	written time.Time
	last    []byte
}

// NewReport returns a page with the report that a function writes: a whole document that loads
// [RefreshScript].
func NewReport(write func(io.Writer) error) *Report { return &Report{write: write} }

// Handler returns a handler for requests to the given host name or to any IP address.
func (r *Report) Handler(host string) (http.Handler, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", r.show)
	mux.Handle("GET /"+RefreshScript, http.FileServerFS(files))
	return guard(host, reportPolicy, mux), nil
}

// Close has nothing to do: a page whose script gets no answer says that the work has ended.
func (r *Report) Close() {}

func (r *Report) show(w http.ResponseWriter, _ *http.Request) {
	text, err := r.now()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text) // a client that has gone away gets no reply
}

// now returns the report, which may be up to a second old.
func (r *Report) now() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && time.Since(r.written) < fresh {
		return r.last, nil
	}
	var text bytes.Buffer
	if err := r.write(&text); err != nil {
		return nil, err
	}
	r.last, r.written = text.Bytes(), time.Now()
	return r.last, nil
}
