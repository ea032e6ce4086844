package scenario

import (
	"slices"

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
	Thresholds []Threshold
	Reference  *results.Reference // nil if there is none
}

// A Threshold is the text of a threshold, as written.
type Threshold struct {
	Text string
	Line int
}

// A Scenario is a named group of runs in a file.
type Scenario struct {
	Name     string
	Line     int
	Settings []Setting // its own, and those of the file that it does not replace
	// Thresholds apply to this scenario's runs only.
	Thresholds []Threshold
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

// Without returns the scenario without the key.
func (s Scenario) Without(key string) Scenario {
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(set Setting) bool { return set.Key == key })
	return s
}

func (s Scenario) index(key string) int {
	return slices.IndexFunc(s.Settings, func(set Setting) bool { return set.Key == key })
}
