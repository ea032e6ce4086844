package results

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// Schema is the version of the file format. Nothing reads or writes another version: none was in a release.
// Since version 4 each result has a kind, and the settings of a run are complete.
const Schema = 4

// The kinds of results.
const (
	KindRun         = "run"
	KindSweep       = "sweep"
	KindCount       = "count"
	KindComparison  = "comparison"
	KindObservation = "observation"
	KindCalibration = "calibration"
	KindHistory     = "history"
)

// A Head is the part that results of all kinds have in common. Inapplicable fields are left out.
type Head struct {
	Schema  int       `json:"schema"`
	Kind    string    `json:"kind"`
	ID      string    `json:"id,omitempty"`     // start and subject, e.g. "20261121-093105-022871-lock"; ids sort by time
	Started time.Time `json:"started,omitzero"` // UTC
	Marks
	Tool    Tool     `json:"tool"`
	Host    Host     `json:"host,omitzero"`
	Command []string `json:"command,omitempty"` // repeats the measurement; credentials are redacted
	Seed    uint64   `json:"seed,omitempty"`
	// Interrupted says that the command was ended early: the last part may be shorter than requested, and
	// others may be missing. Nothing is decided, and a calibration was not kept.
	Interrupted bool `json:"interrupted,omitempty"`
	// Took is the duration of the whole command.
	Took time.Duration `json:"took_ns,omitempty"`
}

// NewHead returns the head of a result that begins now. The id contains the given words, e.g. the recipes.
func NewHead(kind string, tool Tool, command, words []string, seed uint64) Head {
	now := time.Now().UTC()
	return Head{Schema: Schema, Kind: kind, ID: id(now, words), Started: now, Tool: tool, Host: ThisHost(), Command: command, Seed: seed}
}

// head returns the head of a result of any kind.
func (h Head) head() Head { return h }

// A Result is a result of any kind: a File, a Sweep, a CountReport, a Comparison, an
// Observation, a Calibration or a History.
type Result interface{ head() Head }

// HeadOf returns the head of a result.
func HeadOf(r Result) Head { return r.head() }

// Kinds returns the kinds of results that ReadAny reads. Calibrations and histories are not among them.
func Kinds() []string {
	return []string{KindRun, KindSweep, KindCount, KindComparison, KindObservation}
}

// KindOf returns the kind of a result.
func KindOf(r Result) string {
	switch r.(type) {
	case Sweep:
		return KindSweep
	case CountReport:
		return KindCount
	case Comparison:
		return KindComparison
	case Observation:
		return KindObservation
	case Calibration:
		return KindCalibration
	case History:
		return KindHistory
	}
	return KindRun
}

// New starts the file of a command that runs the recipes.
func New(tool Tool, command, recipes []string, seed uint64) File {
	return File{Head: NewHead(KindRun, tool, command, recipes, seed), Runs: []Run{}}
}

// WriteJSON writes a result of any kind. A head that names another kind than the result has is an error: such
// a file could not be read.
func WriteJSON(w io.Writer, v Result) error {
	if kind := HeadOf(v).Kind; kind != KindOf(v) {
		return fmt.Errorf("a result of kind %s cannot be written as %q", KindOf(v), kind)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// ReadAny reads a result of any of the Kinds. The error is one line.
func ReadAny(r io.Reader) (Result, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read result file: %w", err)
	}
	// The head is checked first: a file of another schema may not fit the types of this one.
	var h struct {
		Schema int
		Kind   string
	}
	switch err := json.Unmarshal(text, &h); {
	case err != nil:
		if what := foreign(text); what != "" {
			return nil, fmt.Errorf("not a result file: it is %s", what)
		}
		return nil, unreadable(err)
	case h.Schema < 1:
		return nil, errors.New("not a result file: it has no schema")
	case h.Schema != Schema:
		return nil, fmt.Errorf("a result file of schema %d: this stampede reads schema %d", h.Schema, Schema)
	}
	switch h.Kind {
	case KindRun:
		v, err := parse[File](text)
		if f, is := v.(File); is && len(f.Runs)+len(f.Skipped) == 0 && !f.Interrupted {
			return nil, errors.New("not the file of a run: it has no runs")
		}
		return v, err
	case KindSweep:
		v, err := parse[Sweep](text)
		if err == nil && !v.(Sweep).complete() {
			return nil, errors.New("not the file of a sweep: it has no axis, or a level has no runs")
		}
		return v, err
	case KindCount:
		return parse[CountReport](text)
	case KindComparison:
		return readComparison(text)
	case KindObservation:
		return parse[Observation](text)
	}
	return nil, fmt.Errorf("a result of kind %q: want one of %s", h.Kind, strings.Join(Kinds(), ", "))
}

// complete reports whether the sweep has an axis, and each level the runs that it names.
func (s Sweep) complete() bool {
	return len(s.Axes) > 0 && !slices.ContainsFunc(s.Levels, func(l Level) bool {
		return len(l.Runs) == 0 || slices.ContainsFunc(l.Runs, func(i int) bool { return i < 0 || i >= len(s.Runs) })
	})
}

// parse decodes the text as a V.
func parse[V Result](text []byte) (Result, error) {
	var v V
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, unreadable(err)
	}
	return v, nil
}

// unreadable describes an error of the decoder in the words of the file, not of our types.
func unreadable(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("not a result file: %s must not be %s", cmp.Or(wrong.Field, "it"), article(wrong.Value))
	}
	return fmt.Errorf("not a result file: %w", err)
}

// article puts the indefinite article before the name of a JSON value.
func article(value string) string {
	if strings.HasPrefix(value, "a") || strings.HasPrefix(value, "o") {
		return "an " + value
	}
	return "a " + value
}

// Read reads the file of a run, or of a sweep as that of its runs. The error is one line.
func Read(r io.Reader) (File, error) {
	v, err := ReadAny(r)
	if err != nil {
		return File{}, err
	}
	return RunsOf(v)
}

// RunsOf returns the file of a run, or that of the runs of a sweep, which is of the kind of a run.
func RunsOf(v Result) (File, error) {
	switch v := v.(type) {
	case File:
		return v, nil
	case Sweep:
		v.File.Kind = KindRun
		return v.File, nil
	}
	return File{}, fmt.Errorf("a result of kind %s: want %s or %s", KindOf(v), KindRun, KindSweep)
}

// A File is the result of one command. Durations are in nanoseconds, sizes in
// bytes, throughput per second, unless a name says otherwise. Inapplicable fields
// are left out; a percentile that too few observations support is null.
type File struct {
	Head
	// Skipped has a line for each part that was left out, with the reason.
	Skipped []string `json:"skipped,omitempty"`
	// Scenario is the scenario file that it was run from, by its name without
	// folder and suffix; left out otherwise.
	Scenario string `json:"scenario,omitempty"`
	// Percentiles are those that tables show and findings cite, where they were
	// chosen.
	Percentiles []float64 `json:"percentiles,omitempty"`
	// Reference is what the scenario file sets beside the runs.
	Reference *Reference `json:"reference,omitempty"`
	// Incident is the report that the scenario file shows in small.
	Incident *Incident `json:"incident,omitempty"`
	// Gates are the judged thresholds, and Verdict follows from all of them; both are left out
	// without thresholds.
	Gates   []Gate  `json:"gates,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
	Runs    []Run   `json:"runs"`
	// Summary has the medians over the repetitions of each form at each number of
	// clients, with their intervals; left out where nothing was repeated.
	Summary []Level `json:"summary,omitempty"`
}

// id returns an identifier that is unique as long as no two commands start in the same microsecond.
// Identifiers sort by start time.
func id(at time.Time, recipes []string) string {
	const many = 3
	about := strings.Join(recipes, "-")
	if len(recipes) > many {
		about = fmt.Sprintf("%d-recipes", len(recipes))
	}
	return strings.ReplaceAll(at.Format("20060102-150405.000000-"), ".", "-") + about
}

// A Tool is the stampede that did it.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// A Host is the machine that the generator ran on.
type Host struct {
	OS          string  `json:"os"`
	Kernel      string  `json:"kernel"`
	CPU         string  `json:"cpu"`
	Cores       float64 `json:"cores"` // that the generator may use
	MemoryBytes int64   `json:"memory_bytes"`
}

// Machine describes the machine for comparisons: its processors and its system, by which times differ. Its
// kernel and its memory may change: what that costs is one of the things that a comparison should reveal.
func (h Host) Machine() string { return fmt.Sprintf("%.4g × %s, %s", h.Cores, h.CPU, h.OS) }

// ThisHost describes this machine. Fields that cannot be determined are empty.
func ThisHost() Host {
	h := Host{OS: runtime.GOOS, Cores: metrics.Cores()}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel = strings.TrimSpace(string(b))
	}
	h.CPU = procField("/proc/cpuinfo", "model name")
	var kib int64
	if _, err := fmt.Sscanf(procField("/proc/meminfo", "MemTotal"), "%d kB", &kib); err == nil {
		h.MemoryBytes = kib << 10
	}
	return h
}

// procField returns the value of the first line "name : value" in a file of /proc.
func procField(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Marks name a result for a history. Both are left out if nothing was given.
type Marks struct {
	// Subject is the program that was measured or observed, as --subject names it: for example a commit.
	Subject string `json:"subject,omitempty"`
	// Tags have the values that --tag gives to names, such as main to branch.
	Tags map[string]string `json:"tags,omitempty"`
}

// ParseTags parses tags NAME=VALUE.
func ParseTags(words []string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	tags := map[string]string{}
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || name == "" || value == "" {
			return nil, fmt.Errorf("%q: want NAME=VALUE", word)
		}
		if _, twice := tags[name]; twice {
			return nil, fmt.Errorf("%q: %s has a value already", word, name)
		}
		tags[name] = value
	}
	return tags, nil
}

// Have reports whether the marks have all the tags.
func (m Marks) Have(tags map[string]string) bool {
	for name, value := range tags {
		if m.Tags[name] != value {
			return false
		}
	}
	return true
}

// Words returns the marks as a reader sees them: the subject, and the tags by their names.
func (m Marks) Words() (words []string) {
	if m.Subject != "" {
		words = append(words, m.Subject)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Tags)) {
		words = append(words, name+"="+m.Tags[name])
	}
	return words
}
