package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/stampede-bench/stampede/internal/printable"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// drawn returns a table as the terminal shows it.
func drawn(t *testing.T, table document.Table, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := WriteTable(&b, table, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Tables are as wide as the terminal, and 120 columns otherwise. Where the columns do not fit, the rest follows below,
// each row with the cells that name it.
func TestTablesFitTheTerminal(t *testing.T) {
	d := document.New(ofEveryKind()["thresholds"])
	for _, table := range []document.Table{d.Thresholds, d.Tables[0]} {
		for width, parts := range map[int]int{200: 1, 0: 1, 100: 3} {
			text := drawn(t, table, Options{Width: width})
			room := width
			if width == 0 {
				room = 120
			}
			for line := range strings.Lines(text) {
				if n := twwidth.Width(strings.TrimSuffix(line, "\n")); n > room {
					t.Errorf("%s at %d: a line of %d columns: %s", table.Title, width, n, line)
				}
			}
			if got := strings.Count(text, "\n  "+table.Rows[0][0]); table.Title == "Thresholds" && got != parts {
				t.Errorf("%s at %d: the first row has %d parts, want %d:\n%s", table.Title, width, got, parts, text)
			}
			for _, row := range table.Rows {
				for _, cell := range row {
					if !strings.Contains(text, cell) {
						t.Errorf("%s at %d: no %q", table.Title, width, cell)
					}
				}
			}
		}
	}
}

// Coloured cells and those of wide characters are as wide as they are shown.
func TestCellsLineUp(t *testing.T) {
	table := document.Table{Title: "names", Columns: []document.Column{{Head: "name", Left: true}, {Head: "verdict", Left: true,
		Verdicts: []results.Verdict{results.Pass, results.Regression, ""}}, {Head: "n"}},
		Rows: [][]string{{"東京", "pass", "1"}, {"é", "regression", "10 µs"}, {"plain", "", "±3"}}}
	plain := drawn(t, table, Options{})
	const want = `  name   verdict         n
  東京   pass            1
  é      regression  10 µs
  plain                 ±3
`
	if plain != want {
		t.Errorf("got:\n%swant:\n%s", plain, want)
	}
	coloured := drawn(t, table, Options{Color: true})
	for _, code := range []string{printable.Green, printable.Red, printable.Plain} {
		if !strings.Contains(coloured, code) {
			t.Errorf("no colour %q", code)
		}
		coloured = strings.ReplaceAll(coloured, code, "")
	}
	if coloured != want {
		t.Errorf("coloured:\n%swant:\n%s", coloured, want)
	}
}

// A title stands over the first columns if there is room for it, and otherwise on a line of its own.
func TestTitlesHaveRoom(t *testing.T) {
	table := document.Table{Rows: [][]string{{"8", "predecessor", "1.00"}}}
	for title, want := range map[string]string{
		"lock on native": "  lock on native    per round\n  clients  form         notif\n        8  predecessor   1.00\n",
		"lock on native:?durability=fsync": "  lock on native:?durability=fsync\n" +
			"                    per round\n  clients  form         notif\n        8  predecessor   1.00\n",
	} {
		table.Title = title
		table.Columns = []document.Column{{Head: "clients", Over: title}, {Head: "form", Left: true}, {Head: "notif", Over: "per round"}}
		if got := drawn(t, table, Options{}); got != want {
			t.Errorf("got:\n%swant:\n%s", got, want)
		}
	}
}

// Runs on two services whose names are the same can be told apart by every title and finding, and without a
// threshold nothing has a verdict.
func TestServicesCanBeToldApart(t *testing.T) {
	d := document.New(ofEveryKind()["several backends"])
	var titles []string
	for _, table := range d.Tables {
		titles = append(titles, table.Title)
	}
	if want := []string{"lock on native", "lock on native:?durability=fsync", "side by side", "beside a paper"}; !slices.Equal(titles, want) {
		t.Errorf("titles %q, want %q", titles, want)
	}
	if d.Verdict != "" || d.Reason != "" || !strings.HasPrefix(d.Findings[0], "On native: ") || !strings.HasPrefix(d.Findings[2], "On native:?durability=fsync: ") {
		t.Errorf("verdict %q, findings %q", d.Verdict, d.Findings)
	}
	const warning = "not the same durability (memory, fsync): a write that waits for a disk takes longer than one that does not"
	if w := d.Tables[2].Warnings; len(w) != 1 || w[0].Text != warning {
		t.Errorf("warnings %q", w)
	}
}

// TestNamesCannotAddEmphasis checks that escape sequences in a name are shown, not acted on, and that the
// result stays as it is.
func TestNamesCannotAddEmphasis(t *testing.T) {
	runs := resulttest.Herding(resulttest.Native())
	for i := range runs {
		runs[i].Form = "a\x1b[0m\x1b[1;31mb"
	}
	var b strings.Builder
	if err := WriteText(&b, resulttest.FileOf(runs...), Options{Color: true}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "a\x1b") || !strings.Contains(text, `a\x1b[0m\x1b[1;31mb`) || !strings.Contains(text, "\x1b[1m") {
		t.Errorf("%q", text)
	}
	if runs[0].Form != "a\x1b[0m\x1b[1;31mb" {
		t.Errorf("the result was changed: %q", runs[0].Form)
	}
}
