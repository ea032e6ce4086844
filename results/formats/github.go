package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// GitHub shows so many annotations of a kind for each step, and so much of its
// summary: of one that is larger, nothing.
const (
	annotationLimit = 10
	summaryLimit    = 1 << 20
)

// An annotation is what GitHub shows beside a change.
type annotation struct{ title, text string }

// writeGitHub writes workflow commands, and appends the summary of the step.
func writeGitHub(w io.Writer, v results.View, o Options) error {
	var b bytes.Buffer
	failed, doubtful, told := annotations(v)
	annotate(&b, "error", failed)
	annotate(&b, "warning", doubtful)
	annotate(&b, "notice", told)
	if _, err := w.Write(b.Bytes()); err != nil || o.Summary == "" {
		return err
	}
	return summarize(o.Summary, markdown(v))
}

// annotations are what fails a step, what is to be minded, and what it showed, the
// worst first.
func annotations(v results.View) (failed, doubtful, told []annotation) {
	p := v.Page()
	if p.Broken != "" {
		doubtful = append(doubtful, annotation{"stampede", p.Broken})
	}
	for _, c := range worst(checks(v)) {
		a := annotation{c.who(), c.text()}
		if c.verdict == results.Inconclusive || c.verdict == results.Invalid {
			doubtful = append(doubtful, a)
		} else {
			failed = append(failed, a)
		}
	}
	for _, text := range p.Warnings {
		doubtful = append(doubtful, annotation{"stampede", text})
	}
	shown := []annotation{{"stampede", strings.Join(p.Finding, "\n")}}
	if len(checks(v)) == 0 { // nobody is to take that for a result
		return failed, append(doubtful, shown...), nil
	}
	return failed, doubtful, shown
}

// annotate writes a command for each, and where there are more than GitHub shows
// one for the rest.
func annotate(w io.Writer, level string, all []annotation) {
	rest := 0
	if len(all) > annotationLimit {
		rest = len(all) - annotationLimit + 1
		all = all[:annotationLimit-1]
	}
	for _, a := range all {
		fmt.Fprintf(w, "::%s title=%s::%s\n", level, property(a.title), data(a.text))
	}
	if rest > 0 {
		fmt.Fprintf(w, "::%s title=stampede::and %d more, which the step summary has\n", level, rest)
	}
}

// data is the text as a workflow command takes it.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(valid(text))
}

// valid is the text with a sign for each byte that is no part of a character.
func valid(text string) string { return strings.Map(func(r rune) rune { return r }, text) }

// property is the text as a property of a workflow command.
func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}

// cut ends a summary that is longer than GitHub takes.
const cut = "\n\n**Cut here: GitHub shows no more than 1 MiB of a step. `-o markdown=FILE` has it all.**\n"

// summarize appends to the summary of the step, to which others may have appended
// before.
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

// fitted is the text if there is room for it, else as many of its lines as there is
// room for and a line that says so.
func fitted(text []byte, room int) []byte {
	if len(text) <= room {
		return text
	}
	end := bytes.LastIndexByte(text[:max(room-len(cut), 0)], '\n') + 1
	if end == 0 {
		return nil // not even for that line
	}
	return append(text[:end:end], cut...)
}
