package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/view"
)

//go:embed page.html page.css site.html
var files embed.FS

// A page is the content of a report, from top to bottom.
type page struct {
	Title    string
	Heading  string // what was run
	Verdict  badge
	Findings []string
	Key      []string // the family of each form
	Trust    []remark // whether the numbers can be trusted
	Gates    []gate
	Changes  []view.Table   // the tables of a comparison
	First    []charts.Chart // shown next to each other
	Rest     []charts.Chart
	Tables   []view.Table
	Notes    []string
	Facts    []fact
	Backends []results.Backend
	Command  string
	JSON     template.JS
	Style    template.CSS
	Light    template.CSS
	Dark     template.CSS
	Script   string // that keeps a report of work in progress up to date, "" if the work is over
}

// A remark says how far the numbers can be trusted.
type remark struct {
	Badge badge
	Text  string
}

// A fact is a fact about where and how the result was measured.
type fact struct{ Name, Value string }

// Write writes the report of a result: a File, a Sweep, a CountReport, a Comparison or an Observation.
func Write(w io.Writer, result results.Result) error { return write(w, result, "") }

// WriteSoFar writes the report of an observation in progress. Its page loads a script, which is to keep it up to date.
func WriteSoFar(w io.Writer, o results.Observation, script string) error { return write(w, o, script) }

func write(w io.Writer, result results.Result, script string) error {
	p := pageOf(result)
	if o, is := result.(results.Observation); is && script != "" {
		p.Trust = seenSoFar(o)
	}
	p.Script = script
	all := charts.Of(result)
	p.First, p.Rest = all[:min(2, len(all))], all[min(2, len(all)):]
	if err := p.embed(result); err != nil {
		return err
	}
	t, err := template.New("page.html").Funcs(template.FuncMap{"svg": svg, "heads": heads, "badge": badgeOf, "names": names}).ParseFS(files, "page.html")
	if err != nil {
		return fmt.Errorf("read the report's template: %w", err)
	}
	return t.Execute(w, p)
}

func pageOf(result results.Result) page {
	switch r := result.(type) {
	case results.Sweep:
		return ofSweep(r)
	case results.CountReport:
		return ofCount(r)
	case results.Comparison:
		return ofComparison(r)
	case results.Observation:
		return ofObservation(r)
	}
	return ofFile(result.(results.File)) // a calibration has no report
}

// embed adds the style and the result to the page. The result is escaped, so that it cannot close the
// element that contains it.
func (p *page) embed(result results.Result) error {
	style, err := files.ReadFile("page.css")
	if err != nil {
		return fmt.Errorf("read the report's style: %w", err)
	}
	raw, err := json.Marshal(result) // Marshal escapes <, > and &
	if err != nil {
		return fmt.Errorf("write the result into the report: %w", err)
	}
	p.JSON, p.Style = template.JS(raw), template.CSS(string(style)+charts.TipStyle)
	p.Light, p.Dark = template.CSS(charts.Variables(false)), template.CSS(charts.Variables(true))
	return nil
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

// heads returns the headings over several columns, nil if there are none.
func heads(columns []view.Column) (all []head) {
	there := false
	for _, c := range columns {
		there = there || c.Over != ""
		if last := len(all) - 1; last >= 0 && c.Over == "" && !c.Begins && all[last].Text != "" {
			all[last].Span++
			continue
		}
		all = append(all, head{c.Over, 1})
	}
	if !there {
		return nil
	}
	return all
}
