package render

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	var changes []string
	for _, row := range find(root, atom.Tr) {
		if text := words(row); strings.Contains(text, "rounds_per_s") {
			changes = append(changes, text)
		}
	}
	const regression = "▼ regression rounds_per_s −9.7 % step "
	changes = slices.DeleteFunc(changes, func(text string) bool { return !strings.HasPrefix(text, regression) })
	if len(changes) != 2 || !strings.HasSuffix(changes[0], " lock-020") || !strings.HasSuffix(changes[1], " lock-020") {
		t.Errorf("got %q, want two of %q", changes, regression)
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
		if to := attribute(a, "href"); !strings.HasPrefix(to, "https://") {
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
	err := writeFile(folder, "index.html", index{Subjects: []subject{{Name: "x"}}, Rows: []row{{Document: document.New(results.File{})}}}.write)
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

func TestSiteInABrowser(t *testing.T) {
	testenv.SkipIfShort(t)
	folder, _ := parsed(t, saved(30, 20))
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := browser.Start(t)
	for _, at := range []struct {
		width  int64
		scheme string
	}{{1280, "light"}, {390, "dark"}} {
		s := see(t, ctx, string(page), at.width, browser.Shown("screen", at.scheme))
		for _, fault := range faults(s) {
			t.Errorf("%d %s: %s", at.width, at.scheme, fault)
		}
		if s.Plots != 8 {
			t.Errorf("%d plots, want 8", s.Plots)
		}
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
