package render

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/stampede-bench/stampede/internal/browser"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// saved returns a history of n results, one each day, whose throughput is a tenth less from the given one on,
// and then a comparison.
func saved(n, slower int) (all []archive.Entry) {
	day := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	first := once()["lock"].(results.File)
	for i := range n {
		f := first
		f.Started, f.ID = day.AddDate(0, 0, i), fmt.Sprintf("lock-%03d", i)
		f.Runs = slices.Clone(f.Runs[:2])
		for j := range f.Runs {
			f.Runs[j].ThroughputPerS *= 1 + 0.004*float64(i*7%11-5) // noise of 2 % at most
			if i >= slower {
				f.Runs[j].ThroughputPerS *= 0.9
			}
		}
		all = append(all, archive.Entry{ID: f.ID, Result: f})
	}
	c := resulttest.Comparison()
	c.Started = day.AddDate(0, 0, n)
	return append(all, archive.Entry{ID: "ab", Result: c})
}

// parsed writes a site and returns its folder and the elements of its first page.
func parsed(t *testing.T, all []archive.Entry) (folder string, root *html.Node) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "site")
	if err := WriteSite(folder, all, nil); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if root, err = html.Parse(f); err != nil {
		t.Fatal(err)
	}
	return folder, root
}

func TestSiteShowsAChange(t *testing.T) {
	folder, root := parsed(t, saved(30, 20))
	if got, want := words(find(root, atom.H1)[0]), "The newest change is for the worse in 2 of 8 figures."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// The table has a row for each subject, of which the one figure that changed is coloured.
	var rows []string
	for _, row := range find(root, atom.Tr) {
		if text := words(row); strings.HasPrefix(text, "lock/") {
			rows = append(rows, fmt.Sprint(len(find(row, atom.Svg)), " drawings, ", words(find(row, atom.A)[0]), " ", attribute(find(row, atom.A)[0], "class")))
		}
	}
	if want := "4 drawings, ▼ −9.7 % bad"; len(rows) != 2 || rows[0] != want || rows[1] != want {
		t.Errorf("rows %q, want two of %q", rows, want)
	}
	// Only what changed has a chart, which a click opens.
	const regression = "▼ rounds_per_s of lock/"
	changes := find(root, atom.Details)
	changes = slices.DeleteFunc(changes, func(n *html.Node) bool { return len(find(n, atom.Figure)) == 0 })
	for _, change := range changes {
		if text := words(change); !strings.HasPrefix(text, regression) || !strings.Contains(text, "regression: step of −9.7 %") || !strings.Contains(text, "result lock-020") {
			t.Errorf("got the change %q", text)
		}
	}
	if all := find(root, atom.Figure); len(changes) != 2 || len(all) != 2 {
		t.Errorf("%d changes and %d charts, want 2 of each", len(changes), len(all))
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 32 { // the first page, 30 results, a comparison
		t.Errorf("%d files, want 32", len(files))
	}
	linked := map[string]bool{}
	for _, a := range find(root, atom.A) {
		if to := attribute(a, "href"); !strings.HasPrefix(to, "https://") && !strings.HasPrefix(to, "#") {
			linked[to] = true
			if _, err := os.Stat(filepath.Join(folder, to)); err != nil {
				t.Error(err)
			}
		}
	}
	if len(linked) != 31 {
		t.Errorf("%d pages are linked, want 31", len(linked))
	}
	if n := len(find(root, atom.Script)); n != 0 {
		t.Errorf("%d scripts, want none", n)
	}
}

func TestSiteWithoutAChange(t *testing.T) {
	_, root := parsed(t, saved(30, 30))
	if got, want := words(find(root, atom.H1)[0]), "None of 8 figures changed."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n := len(find(root, atom.Figure)); n != 0 {
		t.Errorf("%d charts of figures that never changed", n)
	}
}

// The list of results names what each is of, if any has a name; a verdict stands before the finding.
func TestSiteListsResults(t *testing.T) {
	listed := func(all []archive.Entry) (rows []string) {
		_, root := parsed(t, all)
		for _, row := range find(root, atom.Tr) {
			if cells := find(row, atom.Td); len(cells) == 2 {
				rows = append(rows, words(cells[0])+"|"+strings.Split(words(cells[1]), " ")[0])
			} else if heads := find(row, atom.Th); len(cells) == 0 && len(heads) == 3 {
				rows = append(rows, words(heads[1]))
			}
		}
		return rows
	}
	all := saved(2, 2)
	if got, want := listed(all), []string{"", "|▼", "|With", "|With"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	named := all[1].Result.(results.File)
	named.Subject, named.Tags = "4f2a91c", map[string]string{"branch": "main"}
	all[1].Result = named
	if got, want := listed(all), []string{"marks", "|▼", "4f2a91c, branch=main|With", "|With"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSiteOfOtherResults(t *testing.T) {
	_, root := parsed(t, []archive.Entry{{ID: "ab", Result: resulttest.Comparison()}})
	if got, want := words(find(root, atom.H1)[0]), "No result in this history has a figure to follow."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A page that cannot be written leaves nothing behind.
func TestSiteWhereAPageCannotBe(t *testing.T) {
	folder := t.TempDir()
	err := writeFile(folder, "index.html", index{Rows: []row{{Document: document.New(results.File{})}}}.write)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "taken.html"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteSite(folder, []archive.Entry{{ID: "taken", Result: resulttest.Lock()}}, nil); err == nil {
		t.Error("a folder was replaced by a page")
	}
	left, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 {
		t.Errorf("left behind: %v, want index.html and taken.html", left)
	}
}

// The first screen of a site has the verdict, the table of figures and the list of results, in this order. A
// click on a change opens its chart.
func TestSiteInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	folder, _ := parsed(t, saved(30, 20))
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := browser.Start(t)
	opened := strings.ReplaceAll(string(page), "<details", "<details open")
	for _, at := range []struct {
		width  int64
		scheme string
		first  []string // what begins on the first screen
	}{
		{1280, "light", []string{"badge", "board", "results"}},
		{390, "dark", []string{"badge", "board"}},
	} {
		s := see(t, ctx, string(page), at.width, browser.Shown("screen", at.scheme), func(ctx context.Context) {
			if got := onFirstScreen(t, ctx, "badge", "board", "results"); !slices.Equal(got, at.first) {
				t.Errorf("%d: the first screen has %q, want %q", at.width, got, at.first)
			}
			cut, err := chromedp.Run(ctx, chromedp.Evaluate[int](`[...document.querySelectorAll('.wide')].filter(w => w.scrollWidth > w.clientWidth).length`))
			if err != nil || cut > 0 {
				t.Errorf("%d: %d tables are wider than the page, %v", at.width, cut, err)
			}
			open, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.querySelector('.board a').click(), document.querySelectorAll('.change[open]').length`))
			if err != nil || open != 1 {
				t.Errorf("%d: a click opens %d charts, %v; want 1", at.width, open, err)
			}
		})
		for _, fault := range append(faults(s), faults(see(t, ctx, opened, at.width, browser.Shown("screen", at.scheme)))...) {
			if fault != "empty plots: 2" { // those that are not open
				t.Errorf("%d %s: %s", at.width, at.scheme, fault)
			}
		}
		if s.Plots != 2 {
			t.Errorf("%d plots, want 2", s.Plots)
		}
	}
}

// onFirstScreen returns those of the classes whose first element begins on the first screen, from top to bottom.
func onFirstScreen(t *testing.T, ctx context.Context, classes ...string) []string {
	t.Helper()
	all, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](fmt.Sprintf(`(%q).split(' ').map(c => [c, document.querySelector('.' + c)])
		.filter(([c, e]) => e && e.getBoundingClientRect().top < innerHeight - 40)
		.sort(([c, e], [d, f]) => e.getBoundingClientRect().top - f.getBoundingClientRect().top).map(([c]) => c)`, strings.Join(classes, " "))))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Tables of one machine with different figures have its name once.
func TestBoardsNameAMachineOnce(t *testing.T) {
	var got []bool
	for _, b := range boards([]results.Trend{
		{Figure: "handoff.p50", Of: "lock", Machine: "m"}, {Figure: "pass.p50", Of: "barrier", Machine: "m"}, {Figure: "handoff.p50", Of: "lock", Machine: "n"},
	}) {
		got = append(got, b.Again)
	}
	if want := []bool{false, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A cell without values says why, and the name of its figure can break after dots and underscores, also where a style sheet shows it.
func TestCellOfABoard(t *testing.T) {
	s := spark{results.Trend{Figure: "whole.reads_per_round"}}
	if got, want := s.Last(), "left out"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.Label(), "whole.\u200breads_\u200bper_\u200bround"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of many subjects the table shows those that changed, and folds the others.
func TestBoardsFold(t *testing.T) {
	share := -0.1
	var all []results.Trend
	for i := range 12 {
		trend := results.Trend{Figure: "rounds_per_s", Unit: "/s", Of: fmt.Sprint("lock ", i), Machine: "m", Points: []results.TrendPoint{{Value: 1}, {Value: 2}}}
		if i == 7 {
			trend.Changes = []results.TrendChange{{At: 1, Size: &share, Verdict: results.Regression}}
		}
		all = append(all, trend)
	}
	if b := boards(all); len(b) != 1 || len(b[0].Shown) != 1 || b[0].Shown[0].Of != "lock 7" || len(b[0].Folded) != 11 {
		t.Errorf("got %+v, want one table that shows lock 7 and folds 11", b)
	}
	if b := boards(all[6:]); len(b[0].Shown) != fewLanes || b[0].Shown[0].Of != "lock 7" || len(b[0].Folded) != 0 {
		t.Errorf("got %+v, want all of few, lock 7 first", b)
	}
	all[7].Changes = nil
	if b := boards(all); len(b[0].Shown) != 12 || len(b[0].Folded) != 0 {
		t.Errorf("got %+v, want all where nothing changed", b)
	}
}

// BenchmarkSite measures a history of 200 results.
func BenchmarkSite(b *testing.B) {
	all := saved(200, 150)
	for b.Loop() {
		if err := WriteSite(b.TempDir(), all, nil); err != nil {
			b.Fatal(err)
		}
	}
}
