package render

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
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
		if err := writeFile(folder, e.ID+".html", func(w io.Writer) error { return WriteHTML(w, e.Result, Options{}) }); err != nil {
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
	Boards            []board
	Rows              []row // the newest result first
	Moved             []moved
	style
}

// A row is a result in the list of all results.
type row struct {
	document.Document
	ID    string
	Marks string // the subject and the tags
}

func indexOf(all []archive.Entry, accepted []history.Acceptance) (i index, err error) {
	runs := history.Collection{Accepted: accepted}
	for _, e := range all {
		runs.Add(e.ID, e.Result)
		r := row{documentOf(e.Result), e.ID, strings.Join(results.HeadOf(e.Result).Words(), ", ")}
		i.Rows = append(i.Rows, r)
		if _, is := e.Result.(results.Comparison); is {
			i.Newest = &r
		}
	}
	slices.Reverse(i.Rows)
	h := runs.History()
	i.Document, i.style = documentOf(h), styleOf()
	i.Boards, i.Moved = boards(h.Figures), movedIn(h.Figures)
	i.Heading = fmt.Sprintf("stampede history · %s", units.Plural(len(all), "result"))
	if n := len(i.Rows); n > 0 {
		i.Heading += fmt.Sprintf(" · %s to %s", i.Rows[n-1].Started.UTC().Format(time.DateOnly), i.Rows[0].Started.UTC().Format(time.DateOnly))
	}
	return i, nil
}

// mostListed is how many results the page lists; the others are folded.
const mostListed = 5

// Listed returns the newest results, and Earlier the others.
func (i index) Listed() []row { return i.Rows[:min(len(i.Rows), mostListed)] }

func (i index) Earlier() []row { return i.Rows[min(len(i.Rows), mostListed):] }

// Marked reports whether any result has marks.
func (i index) Marked() bool {
	return slices.ContainsFunc(i.Rows, func(r row) bool { return r.Marks != "" })
}

// Remarks returns the notes of the tables, each once, with the number of subjects that have it if it is not
// of all.
func (i index) Remarks() (lines []string) {
	times := map[string]int{}
	for _, t := range i.Tables {
		for _, note := range t.Notes {
			if times[note]++; times[note] == 1 {
				lines = append(lines, note)
			}
		}
	}
	for at, note := range lines {
		if n := times[note]; n > 1 {
			lines[at] += " (" + units.Plural(n, "subject") + ")"
		}
	}
	return lines
}

func (i index) write(w io.Writer) error { return execute(w, "site.html", i) }

// day formats the start of a result.
func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
