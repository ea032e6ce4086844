// Package render writes results: documents for people at a terminal, browsers, wikis and CI systems, and data
// for spreadsheets and for tools that read benchmarks or histograms.
//
// [Formats] lists the formats. A [Format] says what it is for and which kinds of results it supports. All
// formats work from a saved result, so another format needs no new run. Formats for people render a
// document, and know no kind of result.
package render

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/document"
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

// Options are options for the output. The zero value is for a file.
type Options struct {
	Color bool   // print findings in bold and verdicts in their colours
	Width int    // the columns of the terminal; 0 stands for 120
	Saved string // where the result is saved, for people to know; "" if nowhere
	// Summary is the file to which the GitHub format appends the summary of a CI step, "" if there is
	// none.
	Summary string
}

// Formats returns the formats, those for people first.
func Formats() []Format {
	everything := append(results.Kinds(), results.KindCalibration, results.KindHistory)
	all := append(results.Kinds(), results.KindHistory)
	tabular := []string{results.KindRun, results.KindSweep, results.KindCount, results.KindComparison, results.KindHistory}
	runs := []string{results.KindRun, results.KindSweep, results.KindComparison}
	return []Format{
		{"table", "people at a terminal", everything, rendered(writeTerminal), nil},
		{"summary", "one line: verdict, findings, number of warnings", everything, rendered(writeSummary), nil},
		{"html", "browsers: one page with tables and charts", results.Kinds(), WriteHTML, nil},
		{"svg", "papers, slides: svg=FOLDER, a file for each chart", tabular, nil, charts.Files},
		{"markdown", "pull requests, wikis", all, rendered(writeMarkdown), nil},
		{"json", "programs, later reports", everything, writeJSON, nil},
		{"csv", "spreadsheets: a row for each run or figure", tabular, writeCSV, nil},
		{"junit", "CI systems that show tests", all, rendered(writeJUnit), nil},
		{"github", "GitHub Actions: annotations, step summary", all, rendered(writeGitHub), nil},
		{"bench", "benchstat: the Go benchmark format", runs, writeBench, nil},
		{"hlog", "HdrHistogram tools: every latency in full", runs, writeHlog, nil},
	}
}

// rendered returns a writer of results that renders their documents.
func rendered(write func(io.Writer, document.Document, Options) error) func(io.Writer, results.Result, Options) error {
	return func(w io.Writer, r results.Result, o Options) error {
		d := documentOf(r)
		d.Saved = o.Saved
		return write(w, d, o)
	}
}

// documentOf returns the document of a result, as every format shows it. All its texts are printable: a name may be any
// bytes, and must not look like emphasis, which is added later; and columns are as wide as what is shown.
func documentOf(r results.Result) document.Document { return printed(document.New(r)) }

func printed(d document.Document) document.Document {
	escape(reflect.ValueOf(&d))
	return d
}

// FormatsFor returns the formats that support the kind of result; all formats for "".
func FormatsFor(kind string) []Format {
	return slices.DeleteFunc(Formats(), func(f Format) bool { return kind != "" && !f.Supports(kind) })
}

// Names returns the names of the formats.
func Names(formats []Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// Supports reports whether the format supports the kind of result.
func (f Format) Supports(kind string) bool { return slices.Contains(f.Kinds, kind) }

// Refuse returns the error for a kind of result that the format does not support.
func (f Format) Refuse(kind string) error {
	article := "a"
	if strings.ContainsRune("aeiou", rune(kind[0])) {
		article = "an"
	}
	return fmt.Errorf("%s cannot show %s %s: choose from %s", f.Name, article, kind, strings.Join(Names(FormatsFor(kind)), ", "))
}

// WriteHTML writes the page of a result that has one.
func WriteHTML(w io.Writer, r results.Result, _ Options) error {
	return writePage(w, documentOf(r), charts.Charts(r), charts.Key(r), r, "")
}

// WriteSoFar writes the page of an observation in progress. It loads a script, which is to keep it up to
// date.
func WriteSoFar(w io.Writer, o results.Observation, script string) error {
	return writePage(w, printed(document.SoFar(o)), charts.Charts(o), nil, o, script)
}

func writeJSON(w io.Writer, r results.Result, _ Options) error { return results.WriteJSON(w, r) }

// A variant is the runs of the base or of the candidate of a comparison, or all runs of another result.
type variant struct {
	name string // "base", "new", or "" without variants
	runs []results.Run
}

// variants returns all runs of the result.
func variants(r results.Result) []variant {
	switch r := r.(type) {
	case results.File:
		return []variant{{runs: r.Runs}}
	case results.Sweep:
		return []variant{{runs: r.Runs}}
	case results.Comparison:
		return []variant{{"base", r.Base.Runs}, {"new", r.New.Runs}}
	}
	return nil
}
