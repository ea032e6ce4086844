package render

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/joshdk/go-junit"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// ofEveryKind returns results of every kind; some with agents, a reference, several backends or thresholds.
var ofEveryKind = sync.OnceValue(func() map[string]results.Result {
	several := resulttest.FileOf(append(resulttest.Herding(resulttest.Native()), resulttest.Herding(onDisk())...)...)
	several.Reference = &results.Reference{Source: "a paper", Figure: results.RoundsPerS, Across: results.AcrossClients, Columns: []string{"2", "128"},
		Rows: []results.ReferenceRow{{Label: "theirs", Figures: []float64{10, 20}}}, Differs: []string{"another year"}}
	several.Skipped = []string{"lock/go-zookeeper: it needs another library"}
	all := maps.Clone(samples())
	for name, r := range map[string]results.Result{"several backends": several, "agents": resulttest.Divided(), "thresholds": resulttest.Gated(),
		"sweep": resulttest.Sweep(), "search": resulttest.Searched(), "undecided": resulttest.Undecided(), "count": resulttest.Count(), "comparison": resulttest.Comparison(),
		"observation": resulttest.Observation(), "calibration": resulttest.Calibration(), "history": resulttest.History()} {
		all[name] = r
	}
	return all
})

// A writer is a format of documents, with what it shows as plain text.
type writer struct {
	kinds []string
	write func(io.Writer, results.Result, Options) error
	plain func(t testing.TB, text string) string
}

// documented returns the formats of documents. That of GitHub includes the summary of the step.
func documented(t *testing.T) map[string]writer {
	all := map[string]writer{}
	plain := map[string]func(testing.TB, string) string{"table": asItIs, "html": fromHTML, "markdown": fromMarkdown, "junit": fromJUnit, "github": fromGitHub}
	for _, f := range Formats() {
		if plain[f.Name] != nil {
			all[f.Name] = writer{f.Kinds, f.Write, plain[f.Name]}
		}
	}
	github := all["github"]
	summary := filepath.Join(t.TempDir(), "summary")
	all["github"] = writer{github.kinds, func(w io.Writer, r results.Result, o Options) error {
		os.Remove(summary)
		if err := github.write(w, r, Options{Summary: summary}); err != nil {
			return err
		}
		text, err := os.ReadFile(summary)
		fmt.Fprintf(w, "%s%s", separator, text)
		return err
	}, github.plain}
	return all
}

const separator = "\n=== summary ===\n"

// Each format of documents shows the heading, the verdict, the findings, the checks that did not pass, all cells
// of all tables with their titles, notes and warnings, and the command.
func TestFormatsShowTheSame(t *testing.T) {
	for name, r := range ofEveryKind() {
		for format, w := range documented(t) {
			if slices.Contains(w.kinds, results.KindOf(r)) {
				for _, missing := range absentFrom(t, w, r) {
					t.Errorf("%s as %s: no %s", name, format, missing)
				}
			}
		}
	}
}

// TestEveryFormatShowsNamesAsText writes an observation of keys that are not text, which a saved file of another program
// may have: every format is text, without characters that a terminal acts on.
func TestEveryFormatShowsNamesAsText(t *testing.T) {
	o := watched()
	key := "k\xff\x1b[31m"
	o.Observed.Places[0].Path = key
	o.Gates[0].Subject = key
	for _, f := range FormatsFor(results.KindObservation) {
		if f.Files != nil {
			continue
		}
		var b bytes.Buffer
		if err := f.Write(&b, o, Options{}); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !utf8.ValidString(text) || strings.Contains(text, "\x1b") {
			t.Errorf("%s is not text", f.Name)
		} else if plain := strings.ReplaceAll(text, `\`, ""); f.Name != "json" && !strings.Contains(plain, `kxffx1b[31m`) { // Markdown has more of them
			t.Errorf("%s does not show the key", f.Name)
		}
	}
}

// absentFrom returns what the format does not show of the result.
func absentFrom(t testing.TB, w writer, r results.Result) (missing []string) {
	t.Helper()
	var b bytes.Buffer
	if err := w.write(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	text := flat(w.plain(t, b.String()))
	want := func(what, words string) {
		if words = flat(words); !strings.Contains(text, words) {
			missing = append(missing, fmt.Sprintf("%s %q", what, words))
		}
	}
	d := document.New(r)
	want("heading", d.Heading)
	want("note", d.Interrupted)
	want("reason", d.Reason)
	for _, line := range d.Findings {
		want("finding", line)
	}
	for _, c := range d.Worst() {
		if c.Group == "command" { // the case of a command that has no other
			c.Name = c.Why
		}
		want("check", c.Name)
	}
	for _, c := range d.Checks {
		if c.Group == "thresholds" {
			want("threshold", c.Name)
		}
	}
	for _, table := range d.AllTables() {
		want("title", strings.TrimSuffix(table.Title, "s"))
		for _, c := range table.Columns {
			want("heading", c.Head)
			want("heading", c.Over)
		}
		for _, row := range table.Rows {
			for _, cell := range row {
				want("cell", cell)
			}
		}
		for _, line := range table.Notes {
			want("note", line)
		}
	}
	for _, warning := range d.AllWarnings() {
		want("warning", warning.Text)
	}
	for _, n := range d.Notes {
		want("note", n.Text)
	}
	want("command", d.Command)
	return missing
}

// flat removes the differences that formats do not keep: white space, capitals, and characters that XML
// has no place for.
func flat(text string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xfffd || r == '\u202f' || r == 0xa0 }), " "))
}

func asItIs(_ testing.TB, text string) string { return text }

func fromHTML(_ testing.TB, text string) string {
	text = regexp.MustCompile(`(?s)<(script|style|svg)\b.*?</(script|style|svg)>`).ReplaceAllString(text, " ")
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, ""))
}

func fromMarkdown(_ testing.TB, text string) string { return unescaped(text) + text } // the command is as it is

func fromJUnit(t testing.TB, text string) string {
	suites, err := junit.Ingest([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`<testsuites name="([^"]*)"`).FindStringSubmatch(text)[1]
	out := html.UnescapeString(name)
	for _, s := range suites {
		for _, c := range s.Tests {
			out += "\n" + c.Name
		}
		out += "\n" + s.SystemOut
	}
	return out
}

func fromGitHub(t testing.TB, text string) string {
	commands, summary, _ := strings.Cut(text, separator)
	return strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",").Replace(commands) + fromMarkdown(t, summary)
}

// A format that leaves out a table, a warning, a finding or a column is noticed.
func TestOmissionsAreNoticed(t *testing.T) {
	r := ofEveryKind()["several backends"]
	for what, spoil := range map[string]func(*document.Document){
		"cell":    func(d *document.Document) { d.Tables = d.Tables[:len(d.Tables)-1] },
		"warning": func(d *document.Document) { d.Tables[2].Warnings = nil },
		"finding": func(d *document.Document) { d.Findings = d.Findings[1:] },
		"note":    func(d *document.Document) { d.Notes = nil },
		"heading": func(d *document.Document) {
			for _, table := range d.Tables {
				for i, c := range table.Columns {
					if c.Head == "notif" {
						table.Columns[i].Head = ""
					}
				}
			}
		},
	} {
		for format, write := range map[string]func(io.Writer, document.Document, Options) error{
			"table": writeTerminal, "markdown": writeMarkdown, "junit": writeJUnit, "html": func(w io.Writer, d document.Document, _ Options) error {
				return writePage(w, d, []charts.Chart{}, nil, nil, "")
			},
		} {
			w := documented(t)[format]
			w.write = func(out io.Writer, r results.Result, o Options) error {
				d := document.New(r)
				spoil(&d)
				return write(out, d, o)
			}
			if missing := absentFrom(t, w, r); !slices.ContainsFunc(missing, func(m string) bool { return strings.HasPrefix(m, what) }) {
				t.Errorf("%s without a %s: only %q is noticed", format, what, missing)
			}
		}
	}
}

// Renderers of documents know no kind of result: of package results, they know verdicts only.
func TestRenderersKnowNoKind(t *testing.T) {
	if got := kindsIn(t, "render.go"); !slices.Contains(got, "Comparison") {
		t.Errorf("the test does not see that render.go knows kinds: %q", got)
	}
	for _, file := range []string{"terminal.go", "markdown.go", "html.go", "ci.go"} {
		for _, name := range kindsIn(t, file) {
			if file != "terminal.go" || name != "Result" { // WriteText takes one
				t.Errorf("%s knows results.%s", file, name)
			}
		}
	}
}

// kindsIn returns what a file uses of package results, without verdicts.
func kindsIn(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := []string{"Verdict", "Pass", "Improvement", "Inconclusive", "Invalid", "Regression", "Fail", "Worst"}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			if x, is := s.X.(*ast.Ident); is && x.Name == "results" && !slices.Contains(verdicts, s.Sel.Name) {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names
}
