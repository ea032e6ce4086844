package live

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// answers returns the page of a command and its handler for the host name bench.example.
func answers(t *testing.T) (_ *Page, _ http.Handler, stopped *int) {
	t.Helper()
	stopped = new(int)
	p := New(func() { *stopped++ })
	t.Cleanup(func() {
		if !p.over {
			p.Close()
		}
	})
	h, err := p.Handler("bench.example")
	if err != nil {
		t.Fatal(err)
	}
	return p, h, stopped
}

func ask(h http.Handler, method, url string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The page contains all that it needs, and its own policy allows all of it.
func TestThePageNeedsNobodyElse(t *testing.T) {
	p, h, _ := answers(t)
	page := ask(h, "GET", "http://127.0.0.1:8080/")
	text := page.Body.String()
	if page.Code != 200 || !strings.Contains(text, p.token) {
		t.Fatalf("%d: %s", page.Code, text)
	}
	for _, part := range strings.Split(policy, "; ") {
		if !strings.Contains(page.Header().Get("Content-Security-Policy"), part) {
			t.Errorf("policy without %q", part)
		}
	}
	if inline := regexp.MustCompile(`<script>|<style|style=| on[a-z]+=|://`).FindString(text); inline != "" {
		t.Errorf("the page has %q in it", inline)
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		part := ask(h, "GET", "http://127.0.0.1:8080/"+m[1])
		if kind := part.Header().Get("Content-Type"); part.Code != 200 || kind == "" || part.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %q", m[1], part.Code, kind)
		}
		if strings.Contains(strings.ReplaceAll(part.Body.String(), `xmlns="http://`, ""), "://") {
			t.Errorf("%s asks for something elsewhere", m[1])
		}
	}
	if w := ask(h, "GET", "http://127.0.0.1:8080/page.html"); w.Code != 404 {
		t.Errorf("the page without its token: %d", w.Code)
	}
}

// Only requests for an IP address or the given host name are answered: any other name may be
// that of a page that tries to pass for this one.
func TestOnlyOurNamesAreAnswered(t *testing.T) {
	_, h, _ := answers(t)
	for host, want := range map[string]int{
		"127.0.0.1:8080": 200, "localhost:8080": 200, "[::1]:8080": 200, "192.0.2.7": 200, "bench.example:8080": 200, "[::1]": 200,
		"evil.example:8080": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example:8080": 421, "": 421,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

// Only the page itself can stop the run.
func TestOnlyThePageStops(t *testing.T) {
	p, h, stopped := answers(t)
	const url = "http://127.0.0.1:8080/stop"
	for name, w := range map[string]*httptest.ResponseRecorder{
		"without a token":        ask(h, "POST", url),
		"with another token":     ask(h, "POST", url, tokenHeader, p.token+"x"),
		"from another page":      ask(h, "POST", url, tokenHeader, p.token, "Origin", "http://evil.example"),
		"from another site":      ask(h, "POST", url, tokenHeader, p.token, "Sec-Fetch-Site", "cross-site"),
		"from another port here": ask(h, "POST", url, tokenHeader, p.token, "Origin", "http://127.0.0.1:9090"),
	} {
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := ask(h, "GET", url, tokenHeader, p.token); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("by looking: %d", w.Code)
	}
	if *stopped != 0 || p.stopping {
		t.Fatalf("stopped %d times by others", *stopped)
	}
	w := ask(h, "POST", url, tokenHeader, p.token, "Origin", "http://127.0.0.1:8080", "Sec-Fetch-Site", "same-origin")
	if w.Code != http.StatusAccepted || *stopped != 1 || !p.stopping {
		t.Errorf("by the page: %d, stopped %d times", w.Code, *stopped)
	}
}

func TestTooManyAreRefused(t *testing.T) {
	p, h, _ := answers(t)
	for range mostViewers {
		p.join()
	}
	if w := ask(h, "GET", "http://127.0.0.1/events"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more than may: %d", w.Code)
	}
}

// The server sends events until the command is over. A viewer that does not read does not delay
// the end.
func TestServe(t *testing.T) {
	p := New(func() {})
	e, err := Serve("127.0.0.1:0", p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Serve(strings.TrimPrefix(e.URL, "http://"), p); err == nil {
		t.Error("two listen at one address")
	}
	deaf, err := net.Dial("tcp", strings.TrimPrefix(e.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	fmt.Fprint(deaf, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	r, err := http.Get(e.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), `data: {"heading":"No run has begun."`) || r.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%q of type %q", lines.Text(), r.Header.Get("Content-Type"))
	}
	e.Close()
	var last string
	for lines.Scan() {
		if lines.Text() != "" {
			last = lines.Text()
		}
	}
	if !strings.HasSuffix(last, `"over":true}`) || lines.Err() != nil {
		t.Errorf("the last event is %q, %v", last, lines.Err())
	}
	if _, err := http.Get(e.URL); err == nil {
		t.Error("answers after it was closed")
	}
}

// The endpoint reports whether other machines can reach it, and a URL that a browser can open.
func TestWhoCanReachIt(t *testing.T) {
	for addr, want := range map[string]struct {
		url   string
		local bool
	}{"127.0.0.1:0": {"http://127.0.0.1:", true}, "localhost:0": {"http://", true}, "0.0.0.0:0": {"http://127.0.0.1:", false}, ":0": {"http://127.0.0.1:", false}} {
		e, err := Serve(addr, New(func() {}))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(e.URL, want.url) || e.Local != want.local {
			t.Errorf("%s: %s, local %v", addr, e.URL, e.Local)
		}
		e.Close()
	}
}
