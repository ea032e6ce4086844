package render

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A firstScreen is what a reader sees of a report before scrolling far.
type firstScreen struct {
	Badges   []string `json:"badges"`
	Cards    []string `json:"cards"`    // those that are visible
	Order    []string `json:"order"`    // the parts, from top to bottom
	Warnings []string `json:"warnings"` // the lines that are visible without a click
	Shrunk   bool     `json:"shrunk"`   // a chart is smaller than it was drawn
	Above    bool     `json:"above"`    // the table begins in a window 900 pixels high
}

const lookFirst = `(() => {
	const seen = e => { const b = e.getBoundingClientRect(); return b.width > 0 && b.height > 0 && e.checkVisibility({contentVisibilityAuto: true}); };
	const all = s => [...document.querySelectorAll(s)].filter(seen);
	const text = e => e.innerText.split(/\s+/).join(' ').trim();
	const top = e => e.getBoundingClientRect().top + scrollY;
	const parts = [['finding', 'h1'], ['cards', '.card'], ['thresholds', '.thresholds table'], ['table', '[aria-label=Results] table'], ['charts', 'figure']]
		.flatMap(([name, s]) => all(s).slice(0, 1).map(e => [name, top(e)]));
	return {
		badges: all('.badge').map(text),
		cards: all('.card').map(text),
		order: parts.sort((a, b) => a[1] - b[1]).map(p => p[0]),
		warnings: all('.warnings li').map(text),
		shrunk: all('figure svg').some(p => p.getBoundingClientRect().width < 0.95 * p.viewBox.baseVal.width),
		above: all('[aria-label=Results] table').some(e => top(e) < 900),
	};
})()`

// lookAtFirst opens the page and chooses the level, if it is not "".
func lookAtFirst(t *testing.T, in context.Context, page string, width int64, level string) (seen firstScreen) {
	t.Helper()
	s := see(t, in, page, width, browser.Shown("screen", "light"), func(ctx context.Context) {
		var err error
		if level != "" {
			choose := fmt.Sprintf(`[...document.querySelectorAll('.contrast label')].find(l => l.textContent == %q).click()`, level)
			if _, err = chromedp.Run(ctx, chromedp.Evaluate[any](choose)); err != nil {
				t.Fatal(err)
			}
		}
		if seen, err = chromedp.Run(ctx, chromedp.Evaluate[firstScreen](lookFirst)); err != nil {
			t.Fatal(err)
		}
	})
	for _, fault := range faults(s) {
		t.Error(fault)
	}
	return seen
}

func TestFirstScreenInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	ctx := browser.Start(t)
	largest := []string{
		"Woken per release 115 times as many 115 one-node, naive 1.00 predecessor, herd-avoiding",
		"Hand-off p90 128 times as long 18.6 ms one-node, naive 145 µs predecessor, herd-avoiding",
		"Releases/s −26 % 644 one-node, naive 868 predecessor, herd-avoiding",
	}
	eight := []string{
		"Woken per release 6.7 times as many 6.73 one-node, naive 1.00 predecessor, herd-avoiding",
		"Hand-off p90 8 times as long 1.16 ms one-node, naive 145 µs predecessor, herd-avoiding",
		"Releases/s −2 % 884 one-node, naive 898 predecessor, herd-avoiding",
	}
	warning := []string{"! one-node, 128 clients: the clients kept <all> cores busy & may be what was measured"}
	plain, judged := []string{"finding", "cards", "table", "charts"}, []string{"finding", "cards", "thresholds", "table", "charts"}
	for _, c := range []struct {
		name   string
		result results.Result
		width  int64
		level  string
		want   firstScreen
	}{
		{"nothing judged", resulttest.Lock(), 1280, "", firstScreen{Cards: largest, Order: plain, Above: true}},
		{"another level", resulttest.Lock(), 1280, "8 clients", firstScreen{Cards: eight, Order: plain, Above: true}},
		{"thresholds", resulttest.Gated(), 1280, "", firstScreen{Badges: []string{"✕ Fail"}, Cards: largest, Order: judged, Warnings: warning, Above: true}},
		{"on a phone", resulttest.Gated(), 390, "", firstScreen{Badges: []string{"✕ Fail"}, Cards: largest, Order: judged}},
		{"another level on a phone", resulttest.Lock(), 390, "8 clients", firstScreen{Cards: eight, Order: plain, Above: true}},
		{"on a tablet", resulttest.Lock(), 800, "", firstScreen{Cards: largest, Order: plain, Above: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			page, _ := pageOf(t, c.result)
			got := lookAtFirst(t, ctx, page, c.width, c.level)
			if diff := cmp.Diff(c.want, got, cmpEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// cmpEmpty makes a list without elements equal to none.
func cmpEmpty() cmp.Option {
	return cmp.Transformer("list", func(all []string) string { return strings.Join(all, "\n") })
}

// The look at the first screen sees what is wrong with it.
func TestABrowserSeesABadFirstScreen(t *testing.T) {
	testenv.SkipIfShort(t)
	ctx := browser.Start(t)
	page, _ := pageOf(t, resulttest.Gated())
	for fault, c := range map[string]struct {
		style string
		width int64
		seen  func(firstScreen) bool
	}{
		"all levels at once":   {".cards { display: grid !important; }", 1280, func(s firstScreen) bool { return len(s.Cards) == 12 }},
		"charts before tables": {"main { display: flex; flex-direction: column; } [aria-label=Results] { order: 1; }", 1280, func(s firstScreen) bool { return strings.Join(s.Order, " ") == "finding cards thresholds charts table" }},
		"warnings not folded":  {".warnings::details-content { content-visibility: visible !important; block-size: auto !important; }", 390, func(s firstScreen) bool { return len(s.Warnings) == 1 }},
		"charts of a desktop":  {"figure svg.broad { display: block !important; } figure svg.narrow { display: none !important; }", 390, func(s firstScreen) bool { return s.Shrunk }},
		"a tall heading":       {"h1 { height: 2000px; }", 1280, func(s firstScreen) bool { return !s.Above }},
	} {
		if got := lookAtFirst(t, ctx, strings.Replace(page, "</style>", c.style+"</style>", 1), c.width, ""); !c.seen(got) {
			t.Errorf("%s: not seen: %+v", fault, got)
		}
	}
}
