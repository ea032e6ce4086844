package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// numbered returns a report that says how often it was written.
func numbered(times *atomic.Int32) *Report {
	return NewReport(func(w io.Writer) error {
		_, err := fmt.Fprintf(w, `<!DOCTYPE html><html><head><title>%[1]d</title><script src="%[2]s" defer></script></head>`+
			`<body><header>%[1]d</header><main><p id="progress">in progress</p><p id="n">%[1]d</p></main></body></html>`, times.Add(1), RefreshScript)
		return err
	})
}

func handlerOf(t *testing.T, r *Report) (answer func(path, host string) *httptest.ResponseRecorder) {
	t.Helper()
	h, err := r.Handler("bench.example")
	if err != nil {
		t.Fatal(err)
	}
	return func(path, host string) *httptest.ResponseRecorder {
		q := httptest.NewRequest("GET", path, nil)
		q.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		return w
	}
}

// A report is written at most once a second, whoever asks.
func TestAReportIsWrittenOnceASecond(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var times atomic.Int32
		answer := handlerOf(t, numbered(&times))
		for range 5 {
			answer("/", "127.0.0.1")
		}
		if n := times.Load(); n != 1 {
			t.Errorf("written %d times for five requests at once, want once", n)
		}
		time.Sleep(fresh)
		if w := answer("/", "127.0.0.1"); !strings.Contains(w.Body.String(), `<p id="n">2</p>`) {
			t.Errorf("after a second the page is still %s", w.Body)
		}
	})
}

// A report is for our names only, allows no script but its own, and has one line if it cannot be written.
func TestAReportIsGuarded(t *testing.T) {
	var times atomic.Int32
	answer := handlerOf(t, numbered(&times))
	for host, want := range map[string]int{"127.0.0.1:1": 200, "bench.example": 200, "evil.example": 421} {
		if w := answer("/", host); w.Code != want || !strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'self'") && want == 200 {
			t.Errorf("host %s: %d with the policy %q, want %d", host, w.Code, w.Header().Get("Content-Security-Policy"), want)
		}
	}
	if w := answer("/"+RefreshScript, "127.0.0.1"); w.Code != 200 {
		t.Errorf("the script: %d", w.Code)
	}
	if w := answer("/page.js", "127.0.0.1"); w.Code != 404 {
		t.Errorf("a file of the other page: %d, want 404", w.Code)
	}
	broken := handlerOf(t, NewReport(func(io.Writer) error { return errors.New("no report") }))
	if w := broken("/", "127.0.0.1"); w.Code != 500 || w.Body.String() != "no report\n" {
		t.Errorf("a report that cannot be written: %d, %q", w.Code, w.Body)
	}
}

// In a browser the page takes over what is new, and says when nobody answers any more.
func TestAReportIsRenewedInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	ctx, end := chromedp.NewContext(browser.Start(t))
	defer end()
	var times atomic.Int32
	e, err := Serve("127.0.0.1:0", numbered(&times))
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	defer func() {
		if !closed {
			e.Close()
		}
	}()
	if err := chromedp.Do(ctx, chromedp.Navigate(e.URL)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, ctx, `Number(document.querySelector("#n").textContent) >= 3 && [document.title, document.querySelector("header").textContent].every(text => text === document.querySelector("#n").textContent)`)
	e.Close()
	closed = true
	waitFor(t, ctx, `document.querySelector("#progress").textContent.startsWith("The observation has ended")`)
}

func waitFor(t *testing.T, ctx context.Context, condition string) {
	t.Helper()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](condition, chromedp.WithPollingTimeout(browser.Patience))); err != nil {
		t.Fatalf("%s: %v", condition, err)
	}
}
