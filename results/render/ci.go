package render

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

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

// These are the elements of a JUnit report, as Jenkins, GitLab and GitHub's reporters read them.
//
// Note: the types of an existing library write texts as CDATA, in which one control character makes the
// whole file unreadable. These types write character data, which is escaped.
type (
	junitReport struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitTotals
		Suites []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitTotals
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property,omitempty"`
		Cases      []junitCase     `xml:"testcase"`
		Output     string          `xml:"system-out,omitempty"`
	}
	junitTotals struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     seconds `xml:"time,attr"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Time    seconds      `xml:"time,attr"`
		Failure *junitResult `xml:"failure"`
		Error   *junitResult `xml:"error"`
		Skipped *junitResult `xml:"skipped"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// seconds is a duration in the format of JUnit.
type seconds time.Duration

func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', 3, 64), nil
}

func (t *junitTotals) add(o junitTotals) {
	t.Tests, t.Failures, t.Errors, t.Skipped = t.Tests+o.Tests, t.Failures+o.Failures, t.Errors+o.Errors, t.Skipped+o.Skipped
	t.Time += o.Time
}

// writeJUnit writes a suite for each suite of checks, with a case for each check. The first suite has the
// text of the document as its output, with what no check says.
func writeJUnit(w io.Writer, d document.Document, _ Options) error {
	r := junitReport{Name: d.Heading}
	suites := map[string]*junitSuite{}
	names := map[string]int{}
	suite := func(name string) *junitSuite {
		if suites[name] == nil {
			suites[name] = &junitSuite{Name: name, Timestamp: d.Started.UTC().Format("2006-01-02T15:04:05"), Properties: properties(d, name)}
			r.Suites = append(r.Suites, suites[name])
		}
		return suites[name]
	}
	for _, c := range d.Checks {
		s, of := suite(c.Suite), junitCaseOf(c)
		// Readers distinguish cases by their names.
		if names[c.Suite+of.Class+of.Name]++; names[c.Suite+of.Class+of.Name] > 1 {
			of.Name += fmt.Sprintf(" (%d)", names[c.Suite+of.Class+of.Name])
		}
		s.Cases = append(s.Cases, of)
		s.add(of.totals())
	}
	for _, s := range r.Suites {
		r.add(s.junitTotals)
	}
	d.Saved = "" // a later report of the same result has the same cases
	var text strings.Builder
	if err := writeTerminal(&text, d, Options{}); err != nil {
		return err
	}
	if len(r.Suites) == 0 {
		suite("stampede")
	}
	r.Suites[0].Output = text.String()
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// properties returns what the document was measured with, and the settings of the suite.
func properties(d document.Document, suite string) (all []junitProperty) {
	for _, f := range d.Facts {
		all = append(all, junitProperty{f.Name, f.Value})
	}
	if d.Command != "" {
		all = append(all, junitProperty{"command", d.Command})
	}
	for _, s := range d.Settings {
		if s.Suite == suite {
			all = append(all, junitProperty{s.Name, s.Value})
		}
	}
	return all
}

// junitCaseOf converts a check to a case. An inconclusive check is skipped. An invalid one is an error, so
// that it is not mistaken for a pass.
func junitCaseOf(c document.Check) junitCase {
	of := junitCase{Class: c.Recipe + "." + c.Form, Name: c.Name, Time: seconds(c.Took)}
	if c.Subject != "" {
		of.Name = c.Subject + ": " + c.Name
	}
	result := &junitResult{Message: c.Text(), Type: string(c.Verdict)}
	switch {
	case c.Passed():
	case c.Verdict == results.Inconclusive:
		result.Type = ""
		of.Skipped = result
	case c.Verdict == results.Invalid:
		of.Error = result
	default:
		result.Text = strings.TrimPrefix(c.About+": "+result.Message, ": ") // one comparison needs no subject
		of.Failure = result
	}
	return of
}

func (c junitCase) totals() junitTotals {
	count := func(r *junitResult) int {
		if r == nil {
			return 0
		}
		return 1
	}
	return junitTotals{Tests: 1, Failures: count(c.Failure), Errors: count(c.Error), Skipped: count(c.Skipped), Time: c.Time}
}
