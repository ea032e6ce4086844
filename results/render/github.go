package render

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
)

// These are GitHub's limits: the number of annotations of each kind per step, and the size of the summary.
// GitHub shows nothing of a larger summary.
const (
	annotationLimit = 10
	summaryLimit    = 1 << 20
)

// An annotation is a message that GitHub shows next to a change.
type annotation struct{ title, text string }

// writeGitHub writes workflow commands, and appends to the summary of the step.
func writeGitHub(w io.Writer, d document.Document, o Options) error {
	var failed, doubtful []annotation
	for _, c := range d.Worst() {
		a := annotation{cmp.Or(c.About, "stampede"), c.Text()}
		if c.Verdict == results.Inconclusive || c.Verdict == results.Invalid {
			doubtful = append(doubtful, a)
		} else {
			failed = append(failed, a)
		}
	}
	for _, t := range append(d.AllTables(), document.Table{Title: "stampede", Warnings: d.Warnings}) {
		for _, warning := range t.Warnings {
			doubtful = append(doubtful, annotation{t.Title, warning.Text})
		}
	}
	var b bytes.Buffer
	annotate(&b, "error", failed)
	annotate(&b, "warning", doubtful)
	if len(d.Findings) > 0 {
		annotate(&b, "notice", []annotation{{"stampede", strings.Join(d.Findings, "\n")}})
	}
	if _, err := w.Write(b.Bytes()); err != nil || o.Summary == "" {
		return err
	}
	var summary bytes.Buffer
	if err := writeMarkdown(&summary, d, o); err != nil {
		return err
	}
	return summarize(o.Summary, summary.Bytes())
}

// annotate writes a command for each annotation. If there are more than GitHub shows, the last command
// counts the rest.
func annotate(w io.Writer, level string, all []annotation) {
	rest := 0
	if len(all) > annotationLimit {
		rest = len(all) - annotationLimit + 1
		all = all[:annotationLimit-1]
	}
	for _, a := range all {
		io.WriteString(w, command(level, a.title, a.text))
	}
	if rest > 0 {
		io.WriteString(w, command(level, "stampede", fmt.Sprintf("and %d more: see the step summary", rest)))
	}
}

// command returns the line that shows a message: level is error, warning or notice. Invalid bytes are
// replaced.
func command(level, title, text string) string {
	data := func(text string) string {
		return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(valid(text))
	}
	return fmt.Sprintf("::%s title=%s::%s\n", level, strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(title)), data(text))
}

// cut is the end of a summary that is longer than GitHub's limit.
const cut = "\n\n**The rest is left out: GitHub shows at most 1 MiB of a step. `-o markdown=FILE` writes all of it.**\n"

// summarize appends to the summary of the step, which other programs may have written to before.
func summarize(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(fitted(text, summaryLimit-int(info.Size())))
	}
	return errors.Join(err, f.Close())
}

// fitted returns the text if it fits into the room; otherwise it returns as many lines as fit, and a line
// that says so.
func fitted(text []byte, room int) []byte {
	if len(text) <= room {
		return text
	}
	end := bytes.LastIndexByte(text[:max(room-len(cut), 0)], '\n') + 1
	if end == 0 {
		return nil // there is no room even for that line
	}
	return append(text[:end:end], cut...)
}
