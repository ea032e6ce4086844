package render

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A sight is what a browser shows of a page.
type sight struct {
	Plots    int      `json:"plots"`
	Empty    int      `json:"empty"`    // plots without any drawing
	Outside  []string `json:"outside"`  // texts that are cut off
	Crossing []string `json:"crossing"` // pairs of texts that overlap
	Overflow int      `json:"overflow"` // the number of pixels by which the page is too wide
	Paper    string   `json:"paper"`
	Ink      string   `json:"ink"`
	Label    string   `json:"label"` // the colour of a text in a plot

	requests, messages []string
}

const look = `(() => {
	const plots = [...document.querySelectorAll('figure svg')].filter(p => p.getBoundingClientRect().width > 0);
	const texts = plots.map(p => [...p.querySelectorAll('text')].filter(t => t.getBoundingClientRect().width > 0));
	const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
	const cross = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
	const box = e => e.getBoundingClientRect();
	return {
		plots: plots.length,
		empty: plots.filter(p => { const b = p.getBBox(); return !(b.width > 100 && b.height > 50 && p.querySelectorAll('polyline').length > 2); }).length,
		outside: plots.flatMap((p, i) => texts[i].filter(t => !inside(box(t), box(p))).map(t => t.textContent)),
		crossing: texts.flatMap(all => all.flatMap((a, i) => all.slice(i + 1).filter(b => cross(box(a), box(b))).map(b => a.textContent + ' | ' + b.textContent))),
		overflow: document.documentElement.scrollWidth - innerWidth,
		paper: getComputedStyle(document.body).backgroundColor,
		ink: getComputedStyle(document.body).color,
		label: texts.length ? getComputedStyle(texts[0][0]).fill : '',
	};
})()`

// see opens a page in a window of its own, and then calls the functions.
func see(t *testing.T, in context.Context, page string, width int64, media emulation.SetEmulatedMediaParams, then ...func(context.Context)) sight {
	t.Helper()
	ctx, end := chromedp.NewContext(in)
	defer end()
	var mu sync.Mutex
	var requests, messages []string
	listen(t, ctx, &mu, &requests, &messages)
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path)); err != nil {
		t.Fatal(err)
	}
	s, err := chromedp.Run(ctx, chromedp.Evaluate[sight](look))
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range then {
		do(ctx)
	}
	mu.Lock()
	defer mu.Unlock()
	// The browser requests the page itself too.
	s.requests = slices.DeleteFunc(requests, func(url string) bool { return url == "file://"+path })
	s.messages = messages
	return s
}

func listen(t *testing.T, ctx context.Context, mu *sync.Mutex, requests, messages *[]string) {
	t.Helper()
	err := chromedp.Listen(ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			*requests = append(*requests, e.Request.URL)
		case *runtime.EventConsoleAPICalled:
			*messages = append(*messages, fmt.Sprint(e.Type))
		case *runtime.EventExceptionThrown:
			*messages = append(*messages, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			*messages = append(*messages, e.Entry.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
}

func TestInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	ctx := browser.Start(t)
	papers := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}
	for kind, result := range once() {
		page, _ := pageOf(t, result)
		for _, at := range []struct {
			width  int64
			scheme string
		}{{1280, "light"}, {390, "dark"}} {
			t.Run(fmt.Sprint(kind, "/", at.width, " ", at.scheme), func(t *testing.T) {
				s := see(t, ctx, page, at.width, browser.Shown("screen", at.scheme))
				for _, fault := range faults(s) {
					t.Error(fault)
				}
				if want := len(charts.Charts(result)); s.Plots != want {
					t.Errorf("%d plots, want %d", s.Plots, want)
				}
				if s.Paper != papers[at.scheme] || s.Plots > 0 && s.Label != s.Ink {
					t.Errorf("paper %s, text %s, titles of plots %s; want paper %s and one colour", s.Paper, s.Ink, s.Label, papers[at.scheme])
				}
			})
		}
	}
}

// faults returns the faults of a page; a report must have none.
func faults(s sight) (all []string) {
	for _, f := range []struct {
		what  string
		which []string
	}{{"asked for", s.requests}, {"console", s.messages}, {"text cut off", s.Outside}, {"text on text", s.Crossing}} {
		for _, w := range f.which {
			all = append(all, f.what+": "+w)
		}
	}
	if s.Empty > 0 {
		all = append(all, fmt.Sprintf("empty plots: %d", s.Empty))
	}
	if s.Overflow > 0 {
		all = append(all, fmt.Sprintf("too wide: %d px", s.Overflow))
	}
	return all
}

// A value appears while the pointer is on its point, within the plot, and only then.
func TestValuesAppear(t *testing.T) {
	testenv.SkipIfShort(t)
	page, _ := pageOf(t, resulttest.Lock())
	const visible = `[...document.querySelectorAll('.tip text')].filter(t => t.getBoundingClientRect().width > 0).map(t => t.textContent)`
	const point = `(() => { const c = document.querySelectorAll('.tip')[3].querySelector('circle'); c.scrollIntoView({block: 'center'}); const b = c.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`
	// All tips are made visible to check that they lie within their plots.
	const outside = `(() => {
		const style = document.createElement('style');
		style.textContent = '.tip>g{display:inline}';
		document.head.append(style);
		return [...document.querySelectorAll('.broad .tip text')].filter(t => {
			const a = t.getBoundingClientRect(), b = t.closest('svg').getBoundingClientRect();
			return !(a.width > 0 && a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom);
		}).map(t => t.textContent);
	})()`
	see(t, browser.Start(t), page, 1280, browser.Shown("screen", "light"), func(ctx context.Context) {
		evaluate := func(expression string) []string {
			all, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](expression))
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		if all := evaluate(visible); len(all) > 0 {
			t.Errorf("visible before: %q", all)
		}
		at, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](point))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at[0], Y: at[1]}); err != nil {
			t.Fatal(err)
		}
		if all := evaluate(visible); len(all) != 1 || all[0] != "predecessor, 128 clients: 1.00 notifications per round" {
			t.Errorf("visible with the pointer on a point: %q", all)
		}
		if all := evaluate(outside); len(all) > 0 {
			t.Errorf("outside of their plots: %q", all)
		}
	})
}

// The check finds every fault of a page that has all of them.
func TestABrowserSeesFaults(t *testing.T) {
	testenv.SkipIfShort(t)
	const page = `<body style="margin:0"><div style="width:2000px">wide</div><img src="missing.png">
<figure><svg viewBox="0 0 100 100" width="100"><text x="10" y="50">one</text><text x="12" y="51">other</text><text x="95" y="90">beyond the edge</text></svg></figure>
<script>console.error("out loud")</script>`
	got := strings.Join(faults(see(t, browser.Start(t), page, 390, browser.Shown("screen", "light"))), "\n")
	for _, want := range []string{"too wide", "missing.png", "console: error", "text on text: one | other", "text cut off: beyond the edge", "empty plots: 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("not seen: %q; seen:\n%s", want, got)
		}
	}
}

// In print, text is dark on white whatever the scheme of the screen.
func TestPrints(t *testing.T) {
	testenv.SkipIfShort(t)
	page, _ := pageOf(t, resulttest.Gated())
	s := see(t, browser.Start(t), page, 700, browser.Shown("print", "dark"), func(ctx context.Context) {
		pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF())
		if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
			t.Errorf("printed: %.20q, %v", pdf, err)
		}
	})
	if s.Paper != "rgb(255, 255, 255)" || s.Ink != "rgb(27, 31, 35)" {
		t.Errorf("%s on %s, want dark on white", s.Ink, s.Paper)
	}
	for _, fault := range faults(s) {
		t.Error(fault)
	}
}
