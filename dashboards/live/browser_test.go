package live

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// A sight is the page as a browser renders it.
type sight struct {
	Overflow int      `json:"overflow"` // pixels by which the page is too wide
	Cut      []string `json:"cut"`      // texts that do not fit into their elements
	Paper    string   `json:"paper"`
	Beside   bool     `json:"beside"`  // the forms are side by side
	First    bool     `json:"first"`   // the picture is above the finding
	Forms    []string `json:"forms"`   // what each form is called, and of what kind it is
	Numbers  []string `json:"numbers"` // how many clients each form wakes, in large type
	Latency  []string `json:"latency"` // the texts of the chart, and its number of lines
	Wide     bool     `json:"wide"`    // the chart is drawn for its width
	Ratios   []string `json:"ratios"`  // the last column of the table
	Lit      []int    `json:"lit"`     // pixels of each canvas in its form's colour
	Labels   []string `json:"labels"`
	Words    string   `json:"words"` // text for readers who do not see the picture
}

const look = `(() => {
	speak();
	show(last);
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
		first: canvases[0].getBoundingClientRect().bottom < document.querySelector("h1").getBoundingClientRect().top,
		forms: forms.map(f => f.querySelector("h2").textContent.trim()),
		numbers: forms.map(f => f.querySelector(".woken").textContent),
		latency: [document.querySelector("#latency figcaption").textContent.trim(), ...[...document.querySelectorAll("#latency text")].map(t => t.textContent), document.querySelectorAll("#latency .line").length + " lines"],
		wide: document.querySelector("#latency > svg").viewBox.baseVal.width === document.querySelector("#latency > svg").clientWidth,
		ratios: [...document.querySelectorAll("#figures tr")].filter(r => r.checkVisibility()).map(r => r.lastElementChild.textContent),
		lit,
		labels: canvases.map(c => c.getAttribute("aria-label")),
		words: document.getElementById("words").textContent,
	};
})()`

// twoForms serves a page of two runs with the given number of clients; the naive form's run is
// in progress.
func twoForms(t *testing.T, clients int) (*Page, *Endpoint) {
	t.Helper()
	p := New(func() {})
	e, err := Serve("127.0.0.1:0", p)
	if err != nil {
		t.Fatal(err)
	}
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
	return p, e
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

// On a wide screen and on a phone, in light and dark mode, the forms are side by side. One number says how
// many clients each wakes. One cell is lit for one form and a field for the other, and the text says the same.
// On a phone the picture comes first. With reduced motion it does not move, and shows the same.
func TestInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	in := browser.Start(t)
	_, e := twoForms(t, 500)
	defer e.Close()
	url := e.URL
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
			if len(faults) > 0 || s.Overflow > 0 || len(s.Cut) > 0 || s.Paper != c.paper || !s.Beside || !s.Wide {
				t.Errorf("%+v\n%s", s, strings.Join(faults, "\n"))
			}
			if s.First != (c.width < 500) {
				t.Errorf("the picture is above the finding: %v", s.First)
			}
			if diff := cmp.Diff([]string{"predecessor herd-avoiding", "one-node naive"}, s.Forms); diff != "" {
				t.Errorf("forms (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"1 woken by a release on average, 1 at most", "500 woken by a release on average, 500 at most"}, s.Numbers); diff != "" {
				t.Errorf("numbers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"hand-off p50 over time  predecessor 2.00 ms one-node 2.00 ms", "0", "500 µs", "1 ms", "1.5 ms", "2 ms",
				"0 s", "0.5 s", "1 s", "1.5 s", "2 s", "2 lines"}, s.Latency); diff != "" {
				t.Errorf("latency (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"×", "0.100×", "500×", "–", "16.7×", "1.00×", "1.00×"}, s.Ratios); diff != "" {
				t.Errorf("ratios (-want +got):\n%s", diff)
			}
			one, most := s.Lit[0], s.Lit[1]
			if c.still { // cells of wasted wake-ups are grey by then
				one, most = s.Lit[0], 300*s.Lit[1]
			}
			if one == 0 || most < 300*one {
				t.Errorf("lit %v, want a cell and a field", s.Lit)
			}
			const words = "predecessor: one write woke 1 of 500 clients: 1 proceeded. one-node: one write woke 500 of 500 clients within 0 s: 1 proceeded, 499 went back to waiting (typical of 7 writes)."
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
	const spoil = `document.body.style.width = "3000px"; document.querySelector("#panels").style.cssText = "display: block; order: 1"; last.latency = null; showLatency(); document.querySelector("#latency svg").replaceChildren(); document.querySelector("#key").style.cssText = "width: 20px; white-space: nowrap"; true`
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
	if err != nil || s.Overflow == 0 || s.Beside || s.First || len(s.Cut) == 0 || len(s.Latency) > 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// At the end the page says that the runs have finished and offers the report, which it holds: the server is
// gone. Without a report it offers none.
func TestTheEndInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	in := browser.Start(t)
	const offer, none = "Finished. Open the report Download it", "Finished. There is no report."
	const said = `document.querySelector("#end").innerText.replace(/\s+/g, " ").trim()`
	for _, want := range []string{offer, none} {
		p, e := twoForms(t, 8)
		if want == offer {
			p.Offer("run-1.html", func(w io.Writer) error { _, err := io.WriteString(w, "<h1>78 against 1</h1>"); return err })
		}
		ctx, end := chromedp.NewContext(in)
		defer end()
		err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(e.URL))
		if err == nil {
			_, err = chromedp.Run(ctx, chromedp.Poll[bool](lit, chromedp.WithPollingTimeout(browser.Patience)))
		}
		e.Close()
		if err == nil {
			_, err = chromedp.Run(ctx, chromedp.Poll[bool](`last.over`, chromedp.WithPollingTimeout(browser.Patience)))
		}
		if err != nil {
			t.Fatal(err)
		}
		says, err := chromedp.Run(ctx, chromedp.Evaluate[string](said))
		if err != nil || says != want {
			t.Errorf("the page says %q, %v; want %q", says, err, want)
		}
		const place = `(() => {
			const end = el("end").getBoundingClientRect();
			return { overflow: document.documentElement.scrollWidth - innerWidth, first: end.top >= 0 && end.bottom < document.querySelector("canvas").getBoundingClientRect().top };
		})()`
		if s, err := chromedp.Run(ctx, chromedp.Evaluate[sight](place)); err != nil || s.Overflow > 0 || !s.First {
			t.Errorf("%+v, %v; want the end at the top of a page that fits", s, err)
		}
		if want == offer {
			if file, err := chromedp.Run(ctx, chromedp.Evaluate[string](`el("save").download`)); err != nil || file != "run-1.html" {
				t.Errorf("the file is %q, %v", file, err)
			}
		}
	}
}
