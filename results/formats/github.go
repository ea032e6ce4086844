package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/observation"
	"github.com/stampede-bench/stampede/results/view"
	"github.com/stampede-bench/stampede/results/workflow"
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
func writeGitHub(w io.Writer, v results.Result, o Options) error {
	var b bytes.Buffer
	switch o := v.(type) {
	case results.Observation:
		if err := observation.WriteGitHub(&b, o); err != nil {
			return err
		}
	default:
		failed, doubtful, notices := annotations(v)
		annotate(&b, "error", failed)
		annotate(&b, "warning", doubtful)
		annotate(&b, "notice", notices)
	}
	if _, err := w.Write(b.Bytes()); err != nil || o.Summary == "" {
		return err
	}
	return summarize(o.Summary, markdown(v))
}

// annotations returns what fails the step, the warnings, and the finding, each with the worst first.
func annotations(v results.Result) (failed, doubtful, notices []annotation) {
	p := view.Of(v).Page()
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
	if len(checks(v)) == 0 { // nothing was checked, so the finding is only a warning
		return failed, append(doubtful, shown...), nil
	}
	return failed, doubtful, shown
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
		io.WriteString(w, workflow.Command(level, a.title, a.text))
	}
	if rest > 0 {
		io.WriteString(w, workflow.Command(level, "stampede", fmt.Sprintf("and %d more: see the step summary", rest)))
	}
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
