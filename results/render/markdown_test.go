package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	source "github.com/yuin/goldmark/text"

	"github.com/stampede-bench/stampede/results/resulttest"
)

// A reading is GitHub Flavored Markdown as a parser sees it: the cells of its tables, and the rest of its
// blocks.
type reading struct {
	tables [][][]string
	blocks []string
	html   bool
}

func read(t testing.TB, markdown []byte) (d reading) {
	t.Helper()
	root := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser().Parse(source.NewReader(markdown))
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		last := len(d.tables) - 1
		switch n := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML:
			d.html = true
		case *tables.Table:
			d.tables = append(d.tables, nil)
		case *tables.TableHeader, *tables.TableRow:
			d.tables[last] = append(d.tables[last], nil)
		case *tables.TableCell:
			row := len(d.tables[last]) - 1
			d.tables[last][row] = append(d.tables[last][row], shown(n, markdown))
			return ast.WalkSkipChildren, nil
		case *ast.Heading, *ast.Paragraph, *ast.TextBlock:
			d.blocks = append(d.blocks, shown(n, markdown))
		case *ast.FencedCodeBlock:
			d.blocks = append(d.blocks, string(n.Lines().Value(markdown)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shown returns the text of a block as a browser shows it, with the kind of other markup in its place.
func shown(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(unescaped(string(c.Value(source))))
			if c.SoftLineBreak() {
				b.WriteString(" ")
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.Emphasis:
			b.WriteString(shown(c, source))
		default:
			fmt.Fprintf(&b, "<%s>", c.Kind())
		}
	}
	return b.String()
}

// unescaped removes backslashes as CommonMark does.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// A parser finds the numbers in the cells below the right headings.
func TestMarkdownIsRead(t *testing.T) {
	d := read(t, written(t, "markdown", gated()))
	if len(d.tables) != 2 || d.html {
		t.Fatalf("%d tables, HTML %v", len(d.tables), d.html)
	}
	asked, numbers := d.tables[0], d.tables[1]
	if got := strings.Join(asked[2], "; "); got != "lock.notifications_per_round<=1; lock/one-node, 8 clients; 7.00; 1.00; fail" {
		t.Errorf("the second threshold is %q", got)
	}
	if len(numbers) != 3 || numbers[0][6] != "hand-off p50" || numbers[2][6] != "901 µs" {
		t.Errorf("numbers %q", numbers)
	}
	for name, v := range samples() {
		for _, table := range read(t, written(t, "markdown", v)).tables {
			for _, row := range table {
				if len(row) != len(table[0]) {
					t.Errorf("%s: a row of %d cells below %d heads", name, len(row), len(table[0]))
				}
			}
		}
	}
}

// TestMarkdownListsAgents finds the agents in a table below the results.
func TestMarkdownListsAgents(t *testing.T) {
	tables := read(t, written(t, "markdown", resulttest.Divided())).tables
	agents := tables[len(tables)-1]
	if len(agents) != 4 || strings.Join(agents[1], "; ") != "rack1-node07; node07.rack1.example.org; 42; 2\u202f390; 0.3 of 2 cores; 900 µs; ±38.2 µs; −12.3 ppm" {
		t.Errorf("the agents are %q", agents)
	}
}
