package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
)

var shots = flag.String("shots", "", "folder for pictures of the live page, which TestLivePage takes while it looks at it")

// A watched is a running stampede that has a live page.
type watched struct {
	*exec.Cmd
	url    string
	file   string // the result
	stderr chan string
}

// watch starts stampede and waits until it prints the address of its page.
func watch(t *testing.T, arguments ...string) *watched {
	t.Helper()
	w := &watched{file: filepath.Join(t.TempDir(), "run.json"), stderr: make(chan string, 1)}
	w.Cmd = exec.CommandContext(t.Context(), "stampede", append(arguments, "--listen", "127.0.0.1:0", "--no-save", "--quiet", "-o", "json="+w.file)...)
	w.Dir = filepath.Dir(w.file)
	err, e := w.StderrPipe()
	if e == nil {
		e = w.Start()
	}
	if e != nil {
		t.Fatal(e)
	}
	lines := bufio.NewScanner(err)
	for w.url == "" && lines.Scan() {
		_, w.url, _ = strings.Cut(lines.Text(), "live page: ")
	}
	go func() {
		var rest []string
		for lines.Scan() {
			rest = append(rest, lines.Text())
		}
		w.stderr <- strings.Join(rest, "\n")
	}()
	if w.url == "" {
		t.Fatalf("no address of a page: %s", <-w.stderr)
	}
	return w
}

// ends waits until stampede exits with a code, and returns its result.
func (w *watched) ends(t *testing.T, code int) results.File {
	t.Helper()
	stderr := <-w.stderr
	got := 0
	if err := w.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		got = exit.ExitCode()
	}
	if got != code {
		t.Errorf("exit code %d, want %d: %s", got, code, stderr)
	}
	f, err := os.Open(w.file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := results.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// tab opens a page in a new window.
func tab(t *testing.T, in context.Context, url string) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, end := chromedp.NewContext(in)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	return ctx, end
}

// until waits until a condition holds on a page, or the run is over.
func until(t *testing.T, ctx context.Context, what string) {
	t.Helper()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](fmt.Sprintf("(%s) || last?.over", what), chromedp.WithPollingTimeout(browser.Patience)))
	is := false
	if err == nil {
		is, err = chromedp.Run(ctx, chromedp.Evaluate[bool](what))
	}
	if !is {
		page, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
		t.Fatalf("waited for %s without success: %v\n%s", what, err, page)
	}
}

// TestLivePage checks that, of 500 clients, a release lights up one in the herd-avoiding form and many in the
// naive form. Fifty connections that request the events and never read them, and a page that is
// closed half-way, make no difference: the run completes.
func TestLivePage(t *testing.T) {
	testenv.SkipIfShort(t)
	in := browser.Start(t)
	clients := "500"
	if *shots != "" {
		clients = "64" // so that each quarter of a second has enough rounds for a percentile
	}
	run := watch(t, "run", "lock", "--clients", clients, "--backend", "native:", "--duration", "8s")
	for range 50 {
		c, err := net.Dial("tcp", strings.TrimPrefix(run.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(run.url, "http://"))
	}
	page, closePage := tab(t, in, run.url)
	stays, closeStays := tab(t, in, run.url)
	defer closeStays()
	picture(t, page, "waiting")
	const panel = `document.querySelector("article.%s")?.dataset`
	recipe, naive := fmt.Sprintf(panel, "recipe"), fmt.Sprintf(panel, "naive")
	until(t, page, recipe+`.releases >= 1`)
	picture(t, page, "recipe")
	until(t, page, recipe+`.largest === "1" && `+naive+`.largest > 50`)
	picture(t, page, "naive")
	words, err := chromedp.Run(page, chromedp.Text(chromedp.CSS("#finding")))
	if want := "With " + clients + " clients a release wakes"; err != nil || !strings.Contains(words, want) || !strings.Contains(words, "wait again") {
		t.Errorf("the page finds %q, %v", words, err)
	}
	closePage()
	until(t, stays, `last.over`)
	picture(t, stays, "finished")
	reportOf(t, stays)
	file := run.ends(t, 0)
	if len(file.Runs) != 2 || file.Interrupted {
		t.Fatalf("%d runs, interrupted %v", len(file.Runs), file.Interrupted)
	}
	for _, r := range file.Runs {
		if r.Rounds == 0 || r.Safety.Violations > 0 {
			t.Errorf("%s: %d rounds, %+v", r.Form, r.Rounds, r.Safety)
		}
	}
}

// reportOf checks that the page has finished and that its links open and keep the report, although the server
// no longer answers.
func reportOf(t *testing.T, page context.Context) {
	t.Helper()
	const says = `[document.querySelector("#state .text").textContent, document.querySelector("#end b").textContent, document.getElementById("save").download.endsWith(".html"), document.getElementById("stop").checkVisibility()].join(" ")`
	if got, err := chromedp.Run(page, chromedp.Evaluate[string](says)); err != nil || got != "finished Finished. true false" {
		t.Errorf("in the end the page says %q, %v", got, err)
	}
	opened := chromedp.WaitNewTarget(page, func(i *target.Info) bool { return strings.HasPrefix(i.URL, "blob:") })
	if err := chromedp.Do(page, chromedp.Click(chromedp.CSS("#open"))); err != nil {
		t.Fatal(err)
	}
	select {
	case id := <-opened:
		report, end := chromedp.NewContext(page, chromedp.WithTargetID(id))
		defer end()
		const whole = `document.querySelector("h1") !== null && document.querySelector("#result") !== null && document.styleSheets[0].cssRules.length > 10`
		if _, err := chromedp.Run(report, chromedp.Poll[bool](whole, chromedp.WithPollingTimeout(browser.Patience))); err != nil {
			t.Fatalf("the report does not open: %v", err)
		}
		picture(t, report, "report")
	case <-time.After(browser.Patience):
		t.Fatal("no report opens")
	}
}

// picture takes pictures of the page if the flag -shots names a folder for them.
func picture(t *testing.T, page context.Context, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(page, emulation.SetEmulatedMedia, browser.Shown("screen", scheme)); err != nil {
				t.Fatal(err)
			}
			if err := chromedp.Do(page, chromedp.EmulateViewport(width, 900)); err != nil {
				t.Fatal(err)
			}
			if _, err := chromedp.Run(page, chromedp.Evaluate[bool](`dispatchEvent(new Event("resize"))`)); err != nil { // it may not have noticed yet
				t.Fatal(err)
			}
			raw, err := chromedp.Run(page, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			keep(t, filepath.Join(*shots, fmt.Sprintf("live-%s-%d-%s.png", name, width, scheme)), raw)
		}
	}
}

// keep writes a picture with the best compression: the browser compresses for speed.
func keep(t *testing.T, path string, raw []byte) {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, picture); err != nil {
		t.Fatal(err)
	}
}

// TestLivePageStops checks that the button asks for confirmation and then ends stampede as Ctrl-C
// does.
func TestLivePageStops(t *testing.T) {
	testenv.SkipIfShort(t)
	in := browser.Start(t)
	run := watch(t, "run", "lock", "--clients", "4", "--warmup", "0", "--duration", "1h")
	page, closePage := tab(t, in, run.url)
	defer closePage()
	click := func(id string) {
		t.Helper()
		if err := chromedp.Do(page, chromedp.Click(chromedp.CSS("#"+id))); err != nil {
			t.Fatal(err)
		}
	}
	const open = `document.getElementById("sure").open`
	until(t, page, `document.querySelector("article.running") !== null && !document.getElementById("stop").disabled`)
	click("stop")
	until(t, page, open)
	picture(t, page, "sure")
	click("keep")
	until(t, page, "!"+open+` && document.querySelector("article.running") !== null`)
	click("stop")
	until(t, page, open)
	click("really")
	until(t, page, `document.querySelector("#state .text").textContent === "stopped"`)
	if file := run.ends(t, 130); !file.Interrupted || len(file.Runs) != 1 || file.Runs[0].Rounds == 0 {
		t.Errorf("interrupted %v, %d runs; want what was measured of the first", file.Interrupted, len(file.Runs))
	}
}
