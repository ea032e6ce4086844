package live

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// A sight is the page as a browser renders it.
type sight struct {
	Overflow int      `json:"overflow"` // pixels by which the page is too wide
	Cut      []string `json:"cut"`      // texts that do not fit into their elements
	Paper    string   `json:"paper"`
	Beside   bool     `json:"beside"` // the forms are side by side
	Lit      []int    `json:"lit"`    // pixels of each canvas in its form's colour
	Labels   []string `json:"labels"`
	Words    string   `json:"words"` // text for readers who do not see the picture
}

const look = `(() => {
	speak();
	for (const p of panels) draw(p, p.since); // as at the beat
	const forms = [...document.querySelectorAll("article")], canvases = [...document.querySelectorAll("canvas")];
	const colour = node => getComputedStyle(node.querySelector("h2")).color.match(/\d+/g).map(Number);
	const lit = forms.map((f, i) => {
		const at = canvases[i].getContext("2d").getImageData(0, 0, canvases[i].width, canvases[i].height).data, want = colour(f);
		let n = 0;
		for (let k = 0; k < at.length; k += 4) if (want.every((v, j) => Math.abs(at[k + j] - v) < 3)) n++;
		return n;
	});
	return {
		overflow: document.documentElement.scrollWidth - innerWidth,
		cut: [...document.querySelectorAll("h1, h2, p, figcaption, button, li")].filter(e => e.checkVisibility() && e.id !== "words" && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent),
		paper: getComputedStyle(document.body).backgroundColor,
		beside: forms.length === 2 && forms[0].getBoundingClientRect().top === forms[1].getBoundingClientRect().top,
		lit,
		labels: canvases.map(c => c.getAttribute("aria-label")),
		words: document.getElementById("words").textContent,
	};
})()`

// twoForms serves a page of two runs with the given number of clients; the naive form's run is
// in progress.
func twoForms(t *testing.T, clients int) string {
	t.Helper()
	p := New(func() {})
	e, err := Serve("127.0.0.1:0", p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	next, all := make([]fanout.Outcome, clients), make([]fanout.Outcome, clients)
	for i := range all {
		all[i] = fanout.Wasted
	}
	next[clients/3], all[clients/3] = fanout.Useful, fanout.Useful
	calm, herding := of("predecessor", "recipe"), of("one-node", "naive")
	calm.Clients, herding.Clients = clients, clients
	p.Begin(calm, &herd{outcomes: next, record: measured(1000, 1)})
	p.mu.Lock()
	p.panel(calm).keep(newRelease(next, 0, 1))
	p.mu.Unlock()
	p.End(calm, measured(1000, 1))
	p.Begin(herding, &herd{outcomes: all, record: measured(100, int64(clients))})
	return e.URL
}

// lit is true when clients have been notified in both forms.
const lit = `document.querySelectorAll("article[data-woken]").length === 2`

// see opens the page, waits until both forms are lit, and returns what the browser shows, with
// the page's foreign requests and errors.
func see(t *testing.T, in context.Context, url string, width int64, media emulation.SetEmulatedMediaParams) (s sight, faults []string) {
	t.Helper()
	ctx, end := chromedp.NewContext(in)
	defer end()
	var mu sync.Mutex
	fault := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, fmt.Sprintf(format, args...))
	}
	err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, url) {
				fault("asked for %s", e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			fault("%s", e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			fault("%s", e.Entry.Text)
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
	}
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		err = chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(url))
	}
	if err == nil {
		_, err = chromedp.Run(ctx, chromedp.Poll[bool](lit, chromedp.WithPollingTimeout(browser.Patience)))
	}
	if err == nil {
		s, err = chromedp.Run(ctx, chromedp.Evaluate[sight](look))
	}
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return s, faults
}

// On a wide screen and on a phone, in light and dark mode, the forms are side by side. One cell
// is lit for one form and a field for the other, and the text says the same. With reduced
// motion the picture does not move, and shows the same.
func TestInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	in := browser.Start(t)
	url := twoForms(t, 500)
	for name, c := range map[string]struct {
		width         int64
		scheme, paper string
		still         bool
	}{
		"wide, light": {1280, "light", "rgb(255, 255, 255)", false}, "wide, dark": {1280, "dark", "rgb(20, 23, 26)", false},
		"phone, dark": {390, "dark", "rgb(20, 23, 26)", false}, "still": {390, "light", "rgb(255, 255, 255)", true},
	} {
		t.Run(name, func(t *testing.T) {
			media := browser.Shown("screen", c.scheme)
			if c.still {
				media.Features = append(media.Features, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
			}
			s, faults := see(t, in, url, c.width, media)
			if len(faults) > 0 || s.Overflow > 0 || len(s.Cut) > 0 || s.Paper != c.paper || !s.Beside {
				t.Errorf("%+v\n%s", s, strings.Join(faults, "\n"))
			}
			one, most := s.Lit[0], s.Lit[1]
			if c.still { // cells of wasted wake-ups are grey by then
				one, most = s.Lit[0], 300*s.Lit[1]
			}
			if one == 0 || most < 300*one {
				t.Errorf("lit %v, want a cell and a field", s.Lit)
			}
			const words = "predecessor: a typical write woke 1 of 500 clients: 1 proceeded. one-node: a typical write woke 500 of 500 clients within 0 s: 1 proceeded, 499 went back to waiting (median fan-out of 7 writes)."
			if s.Words != words || s.Labels[1] != strings.TrimSuffix(strings.SplitAfter(words, "proceeded. ")[1], ".") {
				t.Errorf("in words %q, of the squares %q", s.Words, s.Labels)
			}
		})
	}
	t.Run("spoilt", func(t *testing.T) { spoilt(t, in, url) })
}

// spoilt checks that the test detects a page with every fault.
func spoilt(t *testing.T, in context.Context, url string) {
	ctx, end := chromedp.NewContext(in)
	defer end()
	const spoil = `document.body.style.width = "3000px"; document.querySelector("#panels").style.display = "block"; document.querySelector("#key").style.cssText = "width: 20px; white-space: nowrap"; true`
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 900), chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](lit, chromedp.WithPollingTimeout(browser.Patience))); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](spoil)); err != nil {
		t.Fatal(err)
	}
	s, err := chromedp.Run(ctx, chromedp.Evaluate[sight](look))
	if err != nil || s.Overflow == 0 || s.Beside || len(s.Cut) == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
