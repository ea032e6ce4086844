package render

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// broken returns the runs of a lock whose leader is killed, which wakes a herd in the second one.
func broken() results.File {
	f := resulttest.Lock()
	f.Runs = f.Runs[len(f.Runs)-2:]
	for i, what := range []string{"kill member 1, the leader", "kill member 2, the leader"} {
		back, done := 500*time.Millisecond, results.Break{AtNS: time.Second, What: what}
		f.Runs[i].Faults = &results.Breakage{Schedule: []string{"at=1s kill leader"}, Done: []results.Break{done}, Recovery: []results.Recovery{
			{Break: done, Effect: "none", BackNS: &back, Disconnected: 40, Totals: results.Totals{Notifications: int64(20 + 4000*i), Reads: int64(60 + 4000*i)}}}}
	}
	return f
}

// The page of a run with faults begins with the herd of those that return, and its comparison is the first chart. A
// table that is wider than the page says so.
func TestFaultsInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	page, _ := pageOf(t, broken())
	ctx := browser.Start(t)
	for _, at := range []struct {
		width  int64
		scheme string
	}{{1280, "light"}, {390, "dark"}} {
		s := see(t, ctx, page, at.width, browser.Shown("screen", at.scheme), func(ctx context.Context) {
			const seen = `[document.querySelector('.badge').textContent, document.querySelector('h1').textContent, document.querySelector('figure svg title').textContent]`
			got, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](seen))
			want := []string{"✕ Herd", "HERD: while clients return after \"kill the leader\", lock/one-node takes 4\u202f020 notifications and 4\u202f060 reads, predecessor 20 notifications and 60 reads.",
				`While 128 clients return after "kill the leader", lock`}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d: got %q, %v; want %q", at.width, got, err, want)
			}
			const unlike = `[...document.querySelectorAll('.wide')].filter(w => (w.scrollWidth > w.clientWidth + 1) !== (getComputedStyle(w, '::after').display === 'block')).length`
			const wider = `[...document.querySelectorAll('.wide')].filter(w => w.scrollWidth > w.clientWidth + 1).length`
			if n, err := chromedp.Run(ctx, chromedp.Evaluate[int](wider)); err != nil || n == 0 {
				t.Errorf("%d: %d tables are wider than the page, %v; want some", at.width, n, err)
			}
			if n, err := chromedp.Run(ctx, chromedp.Evaluate[int](unlike)); err != nil || n != 0 {
				t.Errorf("%d: of %d tables it is not said whether they continue, %v", at.width, n, err)
			}
		})
		for _, fault := range faults(s) {
			t.Errorf("%d: %s", at.width, fault)
		}
	}
}
