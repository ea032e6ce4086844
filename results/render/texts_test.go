package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/joshdk/go-junit"

	"github.com/stampede-bench/stampede/internal/printable"
	"github.com/stampede-bench/stampede/results"
)

// Annotations beyond GitHub's limit are counted, and the worst are shown.
func TestGitHubShowsTheWorst(t *testing.T) {
	f := both()
	f.Runs[0].Safety.Violations = 1
	for i := range 30 {
		f.Gates = append(f.Gates, results.Gate{Text: fmt.Sprint("gate ", i), Run: 1, Verdict: results.Fail})
		f.Runs[1].Warnings = append(f.Runs[1].Warnings, results.Warning{Text: fmt.Sprint("warning ", i)})
	}
	lines := strings.Split(string(written(t, "github", f)), "\n")
	var errors, warnings []string
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "::error "):
			errors = append(errors, l)
		case strings.HasPrefix(l, "::warning "):
			warnings = append(warnings, l)
		}
	}
	if len(errors) != 10 || !strings.Contains(errors[0], "safety: violated") || !strings.HasSuffix(errors[9], "::and 22 more: see the step summary") {
		t.Errorf("errors:\n%s", strings.Join(errors, "\n"))
	}
	if len(warnings) != 10 || !strings.HasSuffix(warnings[9], "::and 21 more: see the step summary") {
		t.Errorf("warnings:\n%s", strings.Join(warnings, "\n"))
	}
}

// The summary is appended, and cut after a line if there is not enough room.
func TestSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	show := func(v results.Result) string {
		t.Helper()
		if err := rendered(writeGitHub)(&bytes.Buffer{}, v, Options{Summary: path}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := os.WriteFile(path, []byte("# before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	whole := string(written(t, "markdown", gated()))
	if got := show(gated()); got != "# before\n"+whole {
		t.Errorf("summary:\n%s", got)
	}
	long := gated()
	for i := range 20_000 {
		long.Runs[0].Warnings = append(long.Runs[0].Warnings, results.Warning{Text: fmt.Sprint("something to be minded of, number ", i)})
	}
	got := show(long)
	if len(got) > summaryLimit || len(got) < summaryLimit-200 || !strings.HasSuffix(got, cut) || !strings.HasPrefix(got, "# before\n"+whole) {
		t.Errorf("%d bytes, which end with %q", len(got), got[len(got)-200:])
	}
	if again := show(gated()); again != got {
		t.Error("something was written where there was no room for it")
	}
}

// Whatever a name, a warning, a gate or a command contains, every format shows the same text, and the text
// never becomes a command, markup or an element.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"plain", "a|b\\|c", "<b>x</b> &amp; &lt;", "`x` ``y`` ```", "*a* _b_ __c__ ~~d~~", "[a](b) ![c](d) <http://e>",
		"::error::x\r\n%0A", "]]> \x00\x01\xff", "1. a", "- b", "# c", "> d", "    e", "---", "===", "\\", "a\nb", "| - |", "\u2028", "+", "$x$"} {
		f.Add(s)
	}
	base := gated()
	f.Fuzz(func(t *testing.T, s string) {
		v := base
		v.Runs, v.Gates = slices.Clone(base.Runs[:1]), slices.Clone(base.Gates[:1])
		v.Gates[0].Verdict, v.Gates[0].Text = results.Fail, s
		v.Runs[0].Warnings, v.Runs[0].Form = []results.Warning{{Text: s}}, s
		v.Command = []string{"stampede", s}
		shown := printable.Text(s)
		inMarkdown(t, v, shown)
		inJUnit(t, v, shown)
		inGitHub(t, v, shown)
	})
}

func inMarkdown(t *testing.T, v results.File, s string) {
	t.Helper()
	d := read(t, written(t, "markdown", v))
	flat := func(s string) string { // Markdown does not preserve these differences
		s = strings.Map(func(r rune) rune {
			if r <= ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, s)
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
	}
	if d.html || len(d.tables) != 2 || len(d.tables[0]) != 2 || len(d.tables[0][1]) != 5 {
		t.Fatalf("%q makes other blocks: %v", s, d)
	}
	if got := flat(d.tables[0][1][0]); got != flat(s) {
		t.Errorf("the cell of %q shows %q", s, got)
	}
	mind := flat(fmt.Sprintf("%s, 8 clients: %s", s, s))
	found := false
	for _, b := range d.blocks {
		found = found || flat(b) == mind
	}
	if !found {
		t.Errorf("no warning %q in %q", mind, d.blocks)
	}
}

func inJUnit(t *testing.T, v results.File, s string) {
	t.Helper()
	source := written(t, "junit", v)
	suites, err := junit.Ingest(source)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	// XML cannot represent some characters.
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		t.Fatal(err)
	}
	var want string
	if err := xml.Unmarshal([]byte("<a>"+b.String()+"</a>"), &want); err != nil {
		t.Fatal(err)
	}
	if len(suites) != 1 || len(suites[0].Tests) != 3 {
		t.Fatalf("%q makes other cases: %s", s, source)
	}
	if c := suites[0].Tests[0]; c.Name != "8 clients: "+want || c.Classname != "lock."+want || c.Status != junit.StatusFailed {
		t.Errorf("the case of %q is %q of %q, %s", s, c.Name, c.Classname, c.Status)
	}
}

func inGitHub(t *testing.T, v results.File, s string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(written(t, "github", v)), "\n"), "\n")
	if len(lines) != 3 || strings.ContainsRune(strings.Join(lines, ""), '\r') {
		t.Fatalf("%q makes other commands: %q", s, lines)
	}
	head, message, _ := strings.Cut(strings.TrimPrefix(lines[0], "::"), "::")
	decode := strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",").Replace
	title := strings.TrimPrefix(head, "error title=")
	want := string([]rune(s))
	if decode(title) != fmt.Sprintf("lock/%s, 8 clients", want) || !strings.HasPrefix(decode(message), want+": measured ") {
		t.Errorf("the command of %q is %q", s, lines[0])
	}
}
