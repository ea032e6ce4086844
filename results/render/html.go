package render

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/contrast"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/units"
)

//go:embed page.html page.css site.html
var files embed.FS

// A page is a document in a browser, with the charts and the data of its result.
type page struct {
	document.Document
	Charts []chartGroup
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
	return execute(w, "page.html", page{Document: d, Charts: grouped(all), Key: key, JSON: template.JS(raw), Script: script, style: styleOf()})
}

// A chartGroup is the charts of one subject, of which the first two are next to each other.
type chartGroup struct {
	Subject     string
	First, Rest []charts.Chart
}

func grouped(all []charts.Chart) (groups []chartGroup) {
	for _, c := range all {
		if last := len(groups) - 1; last < 0 || groups[last].Subject != c.Subject {
			groups = append(groups, chartGroup{Subject: c.Subject})
		}
		if g := &groups[len(groups)-1]; len(g.First) < 2 && !c.Wide {
			g.First = append(g.First, c)
		} else {
			g.Rest = append(g.Rest, c)
		}
	}
	return groups
}

// Advice returns the notes that say what to do, and Remarks the others.
func (p page) Advice() []document.Note {
	return slices.DeleteFunc(slices.Clone(p.Notes), func(n document.Note) bool { return n.Page == "" })
}

func (p page) Remarks() []document.Note {
	return slices.DeleteFunc(slices.Clone(p.Notes), func(n document.Note) bool { return n.Page != "" })
}

// judged matches a finding that says whether there is a herd: "HERD: one change of …".
var judged = regexp.MustCompile(`^(HERD|No herd|NOT KNOWN): `)

// Badges returns the verdict, if there is one, and whether there is a herd, if the first finding says so.
func (p page) Badges() (all []badge) {
	if p.Verdict != "" {
		all = append(all, badgeOf(p.Verdict))
	}
	if m := judged.FindStringSubmatch(p.Headline()); m != nil {
		all = append(all, map[string]badge{
			"HERD":      {"Herd", "bad", "✕"},
			"No herd":   {"No herd", "good", "✓"},
			"NOT KNOWN": {"Not known", "unsure", "?"},
		}[m[1]])
	}
	return all
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

// execute renders a page.
func execute(w io.Writer, name string, data any) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"svg": svg, "named": named, "places": places, "levels": hasLevels, "level": level, "place": place, "percent": func(share float64) float64 { return 100 * share }, "heads": heads, "badge": badgeOf, "names": names, "day": day, "trim": strings.TrimSpace, "breakable": breakable,
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

// Trust returns a line for each group of checks, so that they do not push the figures off the first screen.
func (p page) Trust() (lines []remark) {
	if p.Interrupted != "" {
		lines = append(lines, remark{badge{"Mind", "unsure", "!"}, p.Interrupted})
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
		lines = append(lines, remark{badgeOf(worst), fmt.Sprintf("%s: %s of %s pass", group, units.Count(int64(passed)), units.CountOf(int64(all), "check"))})
	}
	return lines
}

// A caveat is a warning, and the others of its kind.
type caveat struct {
	document.Warning
	Others []string
}

// Caveats returns the kinds of warnings in order of appearance. Each warning of the result is on the page once.
func (p page) Caveats() (all []caveat) {
	for _, w := range p.AllWarnings() {
		i := slices.IndexFunc(all, func(c caveat) bool { return c.Kind == w.Kind && w.Kind != "" })
		if i < 0 {
			all = append(all, caveat{Warning: w})
		} else {
			all[i].Others = append(all[i].Others, w.Text)
		}
	}
	return all
}

// WarningCount says how many warnings there are.
func (p page) WarningCount() string { return units.CountOf(int64(len(p.AllWarnings())), "warning") }

// A choice is one of the levels whose figures the page shows.
type choice struct {
	contrast.Level
	Of      string // the table whose first level it is, if there are several tables
	ID      string
	Checked bool
}

// Choices returns the levels of all tables. The last of the first table is chosen, of which the finding
// speaks.
func (p page) Choices() (all []choice) {
	for _, t := range p.Tables {
		for i, l := range t.Contrast {
			c := choice{Level: l, ID: fmt.Sprintf("level-%d", len(all))}
			if i == 0 {
				c.Of = t.Title
			}
			c.Checked = i == len(t.Contrast)-1 && !slices.ContainsFunc(all, func(c choice) bool { return c.Checked })
			all = append(all, c)
		}
	}
	if len(all) > 0 && !slices.ContainsFunc(all[1:], func(c choice) bool { return c.Of != "" }) {
		all[0].Of = ""
	}
	return all
}

// hasLevels reports whether the rows of the table are named by a level, which is a number, and something else.
func hasLevels(t document.Table) bool {
	return len(t.Columns) > 1 && t.Columns[0].Key && !t.Columns[0].Left && t.Columns[1].Key
}

// level returns how a row of a table with levels stands to the one before: it "begins" a level, or is of the
// "same". It returns "" in other tables.
func level(t document.Table, row int) string {
	if !hasLevels(t) {
		return ""
	}
	before := row - 1
	for before > 0 && t.Rows[before][0] == "" { // a line of intervals
		before--
	}
	if name := t.Rows[row][0]; row == 0 || name != "" && name != t.Rows[before][0] {
		return "begins"
	}
	return "same"
}

// named returns the columns with their heads, without one that only repeats the title above it; nil if no column has
// a head.
func named(t document.Table) []document.Column {
	columns := slices.Clone(t.Columns)
	for i := range columns {
		if columns[i].Head == t.Title {
			columns[i].Head = ""
		}
	}
	if !slices.ContainsFunc(columns, func(c document.Column) bool { return c.Head != "" }) {
		return nil
	}
	return columns
}

// places returns the classes of the cells of each column. Sentences are wrapped where the page is narrow, figures are
// not.
func places(t document.Table) (classes []string) {
	for i, c := range t.Columns {
		class := place(c)
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return utf8.RuneCountInString(row[i]) > 40 }) {
			class += " prose"
		}
		classes = append(classes, class)
	}
	return classes
}

// place returns the classes of the column's cells: where their text stands, and whether they name the row.
func place(c document.Column) string {
	var classes []string
	if c.Left {
		classes = append(classes, "left")
	}
	if c.Key {
		classes = append(classes, "sticks")
	}
	return strings.Join(classes, " ")
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

// names keeps names such as one-node on one line, and makes links of URLs.
func names(text string) template.HTML {
	words := strings.Split(template.HTMLEscapeString(text), " ")
	for i, word := range words {
		switch {
		case strings.HasPrefix(word, "https://"):
			words[i] = `<a href="` + word + `">` + word + `</a>`
		case strings.Contains(word, "-"):
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
