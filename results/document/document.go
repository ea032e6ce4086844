// Package document says what a result shows: a heading, findings, checks, tables, warnings, notes and the
// command that repeats it.
//
// [New] makes the document of a result of any kind. Package render writes documents, and needs to know
// nothing else of a result.
package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A Document is what a result shows.
type Document struct {
	ID          string // "" if the result has none
	Started     time.Time
	Heading     string          // what was measured, in one line
	Interrupted string          // a note that the command was ended early; "" if it was not
	Verdict     results.Verdict // "" if nothing was judged
	Reason      string          // for the verdict; "" if the findings give it
	Thresholds  Table
	Findings    []string // a sentence or two each; none only if the command was ended early
	Checks      []Check
	Tables      []Table
	Warnings    []Warning // those about the whole result; tables have theirs
	Notes       []Note    // what was skipped, what was checked, and how to read the numbers
	Facts       []Fact    // where, when and with what it was measured
	Settings    []Fact    // with which the checks of each suite were made
	Command     string    // the command that repeats it; "" if it was not recorded
	Resumes     bool      // the command resumes it instead
	Saved       string    // where it is saved, for people to know; "" if nowhere
}

// A Warning is a caveat about the numbers, in one line.
type Warning struct {
	Kind string // warnings of one kind can be summed up
	Text string
}

// A Note is one line. Its verdict is that of what it reports; "" if it only explains.
type Note struct {
	Text    string
	Verdict results.Verdict
	// Page is the page of the documentation that says how to do what the note advises, and Paste the arguments that
	// keep it so; "" in other notes, and where there are none.
	Page, Paste string
}

// Lines returns the whole note as text: the second line, if there is one, explains the first.
func (n Note) Lines() []string {
	text := n.Text
	if n.Page != "" {
		text += ": " + n.Page
	}
	if n.Paste == "" {
		return []string{text}
	}
	return []string{text, "  to keep to it: " + n.Paste}
}

// A Fact is a fact about where and how the result was measured; a setting is one about a suite of checks.
type Fact struct{ Name, Value, Suite string }

// New returns the document of a result.
func New(r results.Result) (d Document) {
	switch r := r.(type) {
	case results.Observation:
		return ofObservation(r)
	case results.Calibration:
		return ofCalibration(r)
	case results.File:
		d = ofFile(r)
	case results.Sweep:
		d = ofSweep(sweep{r})
	case results.CountReport:
		d = ofCount(r)
	case results.Comparison:
		d = ofComparison(comparison{r})
	case results.History:
		d = ofHistory(r)
	}
	d.complete()
	return d
}

// AllTables returns the tables, that of the thresholds first.
func (d Document) AllTables() []Table { return shown(append([]Table{d.Thresholds}, d.Tables...)...) }

// AllWarnings returns the warnings of all tables, and those about the whole.
func (d Document) AllWarnings() (all []Warning) {
	for _, t := range d.Tables {
		all = append(all, t.Warnings...)
	}
	return append(all, d.Warnings...)
}

// Headline returns the first finding, or the note that there is none because the command was ended early.
func (d Document) Headline() string { return append(slices.Clone(d.Findings), d.Interrupted)[0] }

// Decision returns the verdict and its reason in one sentence, "" if the findings say it.
func (d Document) Decision() string {
	if d.Reason == "" {
		return ""
	}
	return strings.ToUpper(string(d.Verdict)) + ": " + d.Reason
}

// complete adds a check that the command was completed, if it was not or if nothing was checked.
func (d *Document) complete() {
	if d.Interrupted != "" || len(d.Checks) == 0 {
		d.Checks = append(d.Checks, Check{Suite: "stampede", Recipe: "stampede", Form: "command", Group: "command", Name: "completed",
			Verdict: results.Invalid, Why: cmp.Or(d.Interrupted, d.Headline())})
	}
}

// note adds notes without a verdict.
func (d *Document) note(lines ...string) {
	for _, line := range lines {
		d.Notes = append(d.Notes, Note{Text: line})
	}
}

// fact adds a fact, unless it is not known.
func (d *Document) fact(name, value string) {
	if value != "" {
		d.Facts = append(d.Facts, Fact{Name: name, Value: value})
	}
}

// begin sets what results of all kinds have.
func (d *Document) begin(head results.Head) {
	started, t, h := head.Started, head.Tool, head.Host
	d.ID, d.Started, d.Command = head.ID, started, CommandLine(head.Command)
	d.fact("id", d.ID)
	d.fact("marks", strings.Join(head.Marks.Words(), ", "))
	if !started.IsZero() {
		d.fact("started", started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	switch {
	case head.Took >= time.Minute:
		d.fact("took", units.Age(head.Took)) // "1h20m10s", not "4 810 s"
	case head.Took > 0:
		d.fact("took", units.Duration(head.Took))
	}
	if head.Seed > 0 {
		d.fact("seed", fmt.Sprint(head.Seed))
	}
	d.fact("stampede", strings.TrimSpace(t.Version+" "+t.Commit))
	d.fact("go", t.Go)
	d.fact("cpu", h.CPU)
	if h.Cores > 0 {
		d.fact("cores", fmt.Sprint(h.Cores))
	}
	if h.MemoryBytes > 0 {
		d.fact("memory", units.Bytes(h.MemoryBytes))
	}
	d.fact("system", strings.TrimSpace(h.OS+" "+h.Kernel))
}

// service adds a fact about a service, once.
func (d *Document) service(b results.Backend) {
	about := []string{serverName(b) + " at " + b.URL, b.Started, b.Durability}
	if b.Client != "" {
		about = append(about, "client "+b.Client)
	}
	if b.Reads != "" {
		about = append(about, b.Reads+" reads")
	}
	if b.Members != "" {
		about = append(about, membersText(b))
	}
	f := Fact{Name: "service", Value: strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), ", ")}
	if !slices.Contains(d.Facts, f) {
		d.Facts = append(d.Facts, f)
	}
}

// set adds the settings of a suite's first run. The other runs differ in clients and form, which are in the
// names of the checks.
func (d *Document) set(suite, prefix string, r results.Run) {
	if prefix == "" && slices.ContainsFunc(d.Settings, func(s Fact) bool { return s.Suite == suite }) {
		return
	}
	for _, f := range SettingsOf(r) {
		d.Settings = append(d.Settings, Fact{prefix + f.Name, f.Value, suite})
	}
}

// SettingsOf returns the settings of a run that can change its figures, and the traits of its service,
// sorted by name. Those without a value are left out.
func SettingsOf(r results.Run) (all []Fact) {
	conditions := r.Conditions()
	for _, name := range sortedKeys(conditions) {
		if conditions[name] != "" {
			all = append(all, Fact{Name: name, Value: conditions[name]})
		}
	}
	return all
}

// CommandLine quotes a command for a shell.
func CommandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if a == "" || strings.ContainsFunc(a, special) {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// special reports whether the character may be special to a shell.
func special(r rune) bool {
	return !strings.ContainsRune("%+,-./:=@_", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// oneLine replaces line breaks with spaces. One in the text could otherwise start a line that is mistaken for other
// output. What else a terminal acts on is escaped when the document is shown.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }

// warningsFrom returns the warnings of a result, each once, for a document.
func warningsFrom(all []results.Warning) (lines []Warning) {
	for _, w := range all {
		lines = append(lines, Warning{w.Code + w.Agent(), w.Text})
	}
	return lines
}

// signed formats a number with a minus sign in place of a hyphen.
func signed(format string, v float64) string {
	return strings.ReplaceAll(fmt.Sprintf(format, v), "-", "−")
}

func prefixed(prefix string, lines []string) (all []string) {
	for _, line := range lines {
		all = append(all, prefix+line)
	}
	return all
}
