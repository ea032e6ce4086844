package formats

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/observation"
	"github.com/stampede-bench/stampede/results/report"
	"github.com/stampede-bench/stampede/results/view"
)

// A Format is one way to write a result.
type Format struct {
	Name  string
	For   string   // whom or what the format is for, in a few words
	Kinds []string // the kinds of results that it supports: see results.KindOf
	Write func(io.Writer, results.Result, Options) error
	// Files replaces Write for a format of several files, which go into a folder; nil for the other
	// formats.
	Files func(results.Result) []charts.File
}

// Options are options for the output.
type Options struct {
	Table view.Options
	// Summary is the file to which the GitHub format appends the summary of a CI step, "" if there is
	// none.
	Summary string
}

// All returns the formats, those for people first.
func All() []Format {
	everything := append(results.Kinds(), results.KindCalibration, results.KindHistory)
	pages := results.Kinds()
	all := append(results.Kinds(), results.KindHistory)
	tabular := []string{results.KindRun, results.KindSweep, results.KindCount, results.KindComparison, results.KindHistory}
	runs := []string{results.KindRun, results.KindSweep, results.KindComparison}
	return []Format{
		{"table", "people at a terminal", everything, writeTable, nil},
		{"html", "people with a browser: one page with tables and charts", pages, writeHTML, nil},
		{"svg", "papers, slides: svg=FOLDER gets a file for each chart", tabular, nil, charts.Files},
		{"markdown", "pull requests, wikis", all, writeMarkdown, nil},
		{"json", "programs, later reports", everything, writeJSON, nil},
		{"csv", "spreadsheets, data frames: a row for each run", tabular, writeCSV, nil},
		{"junit", "CI systems that show tests", all, writeJUnit, nil},
		{"github", "GitHub Actions: annotations, step summary", all, writeGitHub, nil},
		{"bench", "benchstat: the Go benchmark format", runs, writeBench, nil},
		{"hlog", "HdrHistogram tools: every latency in full", runs, writeHlog, nil},
	}
}

// Of returns the formats that support the kind of result; all formats for "".
func Of(kind string) []Format {
	return slices.DeleteFunc(All(), func(f Format) bool { return kind != "" && !f.Shows(kind) })
}

// Names returns the names of the formats.
func Names(of []Format) []string {
	names := make([]string, len(of))
	for i, f := range of {
		names[i] = f.Name
	}
	return names
}

// Shows reports whether the format supports the kind of result.
func (f Format) Shows(kind string) bool { return slices.Contains(f.Kinds, kind) }

// Refuse returns the error for a kind of result that the format does not support.
func (f Format) Refuse(kind string) error {
	return fmt.Errorf("%s cannot show %s: choose from %s", f.Name, article(kind), strings.Join(Names(Of(kind)), ", "))
}

func writeTable(w io.Writer, v results.Result, o Options) error {
	if v, ok := v.(results.Observation); ok {
		return observation.WriteText(w, v, o.Table)
	}
	return view.Of(v).WriteTable(w, o.Table)
}

func writeJSON(w io.Writer, v results.Result, _ Options) error { return results.WriteJSON(w, v) }

func writeHTML(w io.Writer, v results.Result, _ Options) error { return report.Write(w, v) }

// A variant is the runs of the base or of the candidate of a comparison, or all runs of another result.
type variant struct {
	name string // "base", "new", or "" without variants
	runs []results.Run
}

// variants returns all runs of the result.
func variants(v results.Result) []variant {
	switch v := v.(type) {
	case results.File:
		return []variant{{runs: v.Runs}}
	case results.Sweep:
		return []variant{{runs: v.Runs}}
	case results.Comparison:
		return []variant{{"base", v.Base.Runs}, {"new", v.New.Runs}}
	}
	return nil
}

// article returns the noun with its indefinite article.
func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
