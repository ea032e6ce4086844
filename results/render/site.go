package render

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/history"
	"github.com/stampede-bench/stampede/results/units"
)

// WriteSite writes pages into a folder: index.html, with the figures of the history over time, and the report
// of each result that has one. It creates the folder if it is missing, and replaces the pages of an earlier
// site. Entries are in the order of their time.
func WriteSite(folder string, all []archive.Entry, accepted []history.Acceptance) error {
	i, err := indexOf(all, accepted)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, e := range all {
		if err := writeFile(folder, e.ID+".html", func(w io.Writer) error { return writeHTML(w, e.Result, Options{}) }); err != nil {
			return err
		}
	}
	return writeFile(folder, "index.html", i.write)
}

// writeFile writes a page completely or not at all.
func writeFile(folder, name string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return archive.Replace(filepath.Join(folder, name), text.Bytes())
}

// An index is the content of the first page of a site, from top to bottom.
type index struct {
	document.Document      // of the history
	Newest            *row // the newest comparison
	Subjects          []subject
	Rows              []row // the newest result first
	style
}

// A subject is the history of one kind of run on one machine.
type subject struct {
	Name   string
	Charts []charts.Chart
	Tables []document.Table
}

// A row is a result in the list of all results.
type row struct {
	document.Document
	ID string
}

func indexOf(all []archive.Entry, accepted []history.Acceptance) (i index, err error) {
	runs := history.Collection{Accepted: accepted}
	for _, e := range all {
		runs.Add(e.ID, e.Result)
		r := row{document.New(e.Result), e.ID}
		i.Rows = append(i.Rows, r)
		if _, is := e.Result.(results.Comparison); is {
			i.Newest = &r
		}
	}
	slices.Reverse(i.Rows)
	h := runs.History()
	i.Document, i.style = document.New(h), styleOf()
	i.addSubjects(h.Figures)
	i.Heading = fmt.Sprintf("stampede history · %s", units.Plural(len(all), "result"))
	if n := len(i.Rows); n > 0 {
		i.Heading += fmt.Sprintf(" · %s to %s", i.Rows[n-1].Started.UTC().Format(time.DateOnly), i.Rows[0].Started.UTC().Format(time.DateOnly))
	}
	return i, nil
}

// addSubjects divides the charts of the figures and the tables of the history among the subjects.
func (i *index) addSubjects(all []results.Trend) {
	for _, t := range all {
		name := t.Of + " · " + t.Machine
		at := slices.IndexFunc(i.Subjects, func(o subject) bool { return o.Name == name })
		if at < 0 {
			at = len(i.Subjects)
			i.Subjects = append(i.Subjects, subject{Name: name, Tables: slices.DeleteFunc(slices.Clone(i.Tables), func(t document.Table) bool {
				return t.Title != name && t.Title != "changes of "+name
			})})
		}
		if len(t.Points) > 0 {
			i.Subjects[at].Charts = append(i.Subjects[at].Charts, charts.Trend(t))
		}
	}
}

func (i index) write(w io.Writer) error {
	var ids []string
	for _, r := range i.Rows {
		ids = append(ids, r.ID)
	}
	return execute(w, "site.html", i, ids...)
}

// day formats the start of a result.
func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
