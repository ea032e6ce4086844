package render

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/units"
)

//go:embed page.html page.css site.html
var files embed.FS

// A page is a document in a browser, with the charts and the data of its result.
type page struct {
	document.Document
	First  []charts.Chart // shown next to each other
	Rest   []charts.Chart
	Key    []string // the family of each form in the charts
	JSON   template.JS
	Script string // that keeps a report of work in progress up to date, "" if the work is over
	style
}

// A style is the style sheet of a page.
type style struct{ Style, Light, Dark template.CSS }

// writePage writes a document with charts, the key to their forms, and the data.
func writePage(w io.Writer, d document.Document, all []charts.Chart, key []string, data any, script string) error {
	raw, err := json.Marshal(data) // Marshal escapes <, > and &, so that the data cannot close the element that contains it
	if err != nil {
		return fmt.Errorf("write the result into the page: %w", err)
	}
	return execute(w, "page.html", page{Document: d, First: all[:min(2, len(all))], Rest: all[min(2, len(all)):], Key: key,
		JSON: template.JS(raw), Script: script, style: styleOf()})
}

// Leading returns the tables before the charts, and Others those after them.
func (p page) Leading() []document.Table { return leading(p.Tables, true) }

func (p page) Others() []document.Table { return leading(p.Tables, false) }

func leading(tables []document.Table, leads bool) []document.Table {
	return slices.DeleteFunc(slices.Clone(tables), func(t document.Table) bool { return t.Leads != leads })
}

func styleOf() style {
	sheet, _ := files.ReadFile("page.css") // it is embedded
	return style{template.CSS(string(sheet) + charts.TipStyle), template.CSS(charts.Variables(false)), template.CSS(charts.Variables(true))}
}

// execute renders a page. A cell that begins with the id of one of the results links to the page of that
// result.
func execute(w io.Writer, name string, data any, ids ...string) error {
	cell := func(text string) template.HTML {
		if id, rest, _ := strings.Cut(text, " "); slices.Contains(ids, id) {
			id, rest = template.HTMLEscapeString(id), template.HTMLEscapeString(rest)
			return template.HTML(fmt.Sprintf(`<a href="%s.html">%s</a> %s`, id, id, rest))
		}
		return template.HTML(template.HTMLEscapeString(text))
	}
	t, err := template.New(name).Funcs(template.FuncMap{
		"svg": svg, "heads": heads, "badge": badgeOf, "names": names, "day": day, "trim": strings.TrimSpace, "cell": cell,
	}).ParseFS(files, "page.html", name)
	if err != nil {
		return fmt.Errorf("read the template %s: %w", name, err)
	}
	return t.Execute(w, data)
}

// A remark says how far the numbers can be trusted.
type remark struct {
	Badge badge
	Text  string
}

// Trust returns a line for each group of checks and for each kind of warning, so that they do not push the
// charts off the first screen. All warnings stand below the tables.
func (p page) Trust() (lines []remark) {
	mind := func(text string) { lines = append(lines, remark{badge{"Mind", "unsure", "!"}, text}) }
	if p.Interrupted != "" {
		mind(p.Interrupted)
	}
	var groups []string
	for _, c := range p.Checks {
		if !slices.Contains(groups, c.Group) {
			groups = append(groups, c.Group)
		}
	}
	for _, group := range groups {
		passed, all, worst := 0, 0, results.Verdict("")
		for _, c := range p.Checks {
			if c.Group == group {
				all, worst = all+1, results.Worst(worst, c.Verdict)
				if c.Passed() {
					passed++
				}
			}
		}
		lines = append(lines, remark{badgeOf(worst), fmt.Sprintf("%s: %s of %s pass", group, units.Count(int64(passed)), units.Plural(all, "check"))})
	}
	warnings := p.AllWarnings()
	for i, w := range warnings {
		same := func(o document.Warning) bool { return o.Kind == w.Kind && w.Kind != "" }
		if slices.ContainsFunc(warnings[:i], same) {
			continue
		}
		more := len(slices.DeleteFunc(slices.Clone(warnings[i+1:]), func(o document.Warning) bool { return !same(o) }))
		if more > 0 {
			w.Text += fmt.Sprintf(" (and %d more)", more)
		}
		mind(w.Text)
	}
	return lines
}

// A badge is how a page shows a verdict: a word, and a sign whose shape repeats what its colour says.
type badge struct {
	Word string
	Kind string // "good", "bad", "unsure", "none": the class of its style
	Sign string
}

func badgeOf(v results.Verdict) badge {
	switch v {
	case results.Pass:
		return badge{"Pass", "good", "✓"}
	case results.Improvement:
		return badge{"Improvement", "good", "▲"}
	case results.Inconclusive:
		return badge{"Inconclusive", "unsure", "≈"}
	case results.Invalid:
		return badge{"Invalid", "unsure", "?"}
	case results.Regression:
		return badge{"Regression", "bad", "▼"}
	case results.Fail:
		return badge{"Fail", "bad", "✕"}
	}
	return badge{"No verdict", "none", "○"}
}

// svg returns a chart as an element of the page.
func svg(c charts.Chart) template.HTML { return template.HTML(c.Inline()) }

// names keeps names such as one-node on one line.
func names(text string) template.HTML {
	words := strings.Split(template.HTMLEscapeString(text), " ")
	for i, word := range words {
		if strings.Contains(word, "-") {
			words[i] = `<span class="name">` + word + `</span>`
		}
	}
	return template.HTML(strings.Join(words, " "))
}

// A head is a heading over several columns.
type head struct {
	Text string
	Span int
}

// heads returns the headings over several columns, nil if there are none besides the title.
func heads(t document.Table) (all []head) {
	overs := t.Overs()
	if strings.Join(overs, "") == "" {
		return nil
	}
	for i, over := range overs {
		if i > 0 && over == overs[i-1] && over != "" {
			all[len(all)-1].Span++
		} else {
			all = append(all, head{over, 1})
		}
	}
	return all
}
