package scenario

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// Version is the version of the format. A file states it with the key version.
const Version = "1"

// A File is a valid scenario file: every setting exists and has a valid value.
type File struct {
	Name      string // used in errors
	About     string // a one-line description, "" if there is none
	Seed      string // of all scenarios, "" if there is none
	Scenarios []Scenario
	// Thresholds apply to all scenarios; this package does not interpret them.
	Thresholds []ThresholdText
	Reference  *results.Reference // nil if there is none
	Incident   *results.Incident  // nil if there is none
	// IncidentLine is the line of the incident's symptom.
	IncidentLine int
}

// A ThresholdText is the text of a threshold, as written.
type ThresholdText struct {
	Text string
	Line int
}

// A Scenario is a named group of runs in a file.
type Scenario struct {
	Name     string
	Line     int
	Settings []Setting // its own, and those of the file that it does not replace
	// Thresholds apply to this scenario's runs only.
	Thresholds []ThresholdText
}

// A Setting is a key with one or more values, as written.
type Setting struct {
	Key    string
	Values []string
	Line   int
	Shared bool // set beside the scenarios, for all of them
}

// A Key describes a setting that a file may have.
type Key struct {
	Name string
	List bool // may have several values
	// Instead is an alternative key for the same thing: a scenario that sets one of the two
	// replaces the other in the file's settings. It is "" if there is none.
	Instead string
	// Check returns an error for an invalid value. The error's text follows the key's name.
	Check func(value string) error
}

// Values returns the values of the key, or none if it is not set.
func (s Scenario) Values(key string) []string {
	if i := s.index(key); i >= 0 {
		return s.Settings[i].Values
	}
	return nil
}

// LineOf returns the line of the key, or the scenario's line if the key is not set.
func (s Scenario) LineOf(key string) int {
	if i := s.index(key); i >= 0 {
		return s.Settings[i].Line
	}
	return s.Line
}

// WithoutKey returns the scenario without the key.
func (s Scenario) WithoutKey(key string) Scenario {
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(set Setting) bool { return set.Key == key })
	return s
}

func (s Scenario) index(key string) int {
	return slices.IndexFunc(s.Settings, func(set Setting) bool { return set.Key == key })
}

//go:embed template.yaml
var template []byte

// Template returns a file that explains in comments what a scenario file can contain.
func Template() []byte { return template }

//go:embed shipped/*.yaml
var shipped embed.FS

const suffix = ".yaml"

// Names returns the names of the files that come with stampede.
func Names() (names []string) {
	entries, err := shipped.ReadDir("shipped")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	return names
}

// incidentPrefix begins the names of the files that show an incident.
const incidentPrefix = "incident-"

// Incidents returns the names of the files that come with stampede and show an incident.
func Incidents() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return !IsIncident(name) })
}

// IsIncident reports whether the file of that name, which comes with stampede, shows an incident.
func IsIncident(name string) bool { return strings.HasPrefix(name, incidentPrefix) }

// Shipped returns the text of the file with that name that comes with stampede.
func Shipped(name string) (text []byte, ok bool) {
	text, err := shipped.ReadFile(path.Join("shipped", name+suffix))
	return text, err == nil
}

// A Fault is one error in a file.
type Fault struct {
	Line int // from 1
	Text string
}

// Faults holds all errors in a file. It is an error with a line for each.
type Faults struct {
	Name string // of the file
	All  []Fault
}

// most is the number of faults that are reported for one file.
const most = 10

// oneLine writes the line breaks of a value as a reader of YAML would type them.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// Add adds a fault, once: a setting of the whole file would repeat its fault for every scenario.
// A value may have several lines; its fault has one.
func (f *Faults) Add(line int, format string, args ...any) {
	text := oneLine.Replace(fmt.Sprintf(format, args...))
	if fault := (Fault{max(line, 1), text}); !slices.Contains(f.All, fault) {
		f.All = append(f.All, fault)
	}
}

// Err returns the faults as an error, nil if there are none.
func (f *Faults) Err() error {
	if len(f.All) == 0 {
		return nil
	}
	return f
}

// Error returns "FILE:LINE: what is wrong" for each fault, sorted by line.
func (f *Faults) Error() string {
	all := slices.Clone(f.All)
	slices.SortStableFunc(all, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	var lines []string
	for _, fault := range all[:min(len(all), most)] {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", f.Name, fault.Line, fault.Text))
	}
	if more := len(all) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", f.Name, more))
	}
	return strings.Join(lines, "\n")
}
