package scenario

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
)

// Version is that of the format, which a file begins with.
const Version = "1"

// A File is a scenario file whose every setting is one there is and has a value
// that it can have.
type File struct {
	Name      string // as errors call it
	About     string // in a line, "" if it does not say
	Seed      string // of all scenarios, "" if it does not say
	Scenarios []Scenario
	// Thresholds are of all scenarios; what they mean is not looked into here.
	Thresholds []Threshold
	Reference  *results.Reference // nil if it has none
}

// A Threshold is what is asked of the runs, as it was written.
type Threshold struct {
	Text string
	Line int
}

// A Scenario is some runs of one file.
type Scenario struct {
	Name     string
	Line     int
	Settings []Setting // its own, and those of the file that it does not replace
	// Thresholds are about its own runs alone.
	Thresholds []Threshold
}

// A Setting is a value, or several, as they were written.
type Setting struct {
	Key    string
	Values []string
	Line   int
	Shared bool // it stands beside the scenarios, for all of them
}

// A Key is a setting that there is.
type Key struct {
	Name string
	List bool // may have several values
	// Instead is the key that means the same thing in another way: who sets one
	// of the two for a scenario replaces the other of the file. "" if there is
	// none.
	Instead string
	// Check says what is wrong with a value, in words that follow the key's.
	Check func(value string) error
}

// Values are those of the key; none if it is not set.
func (s Scenario) Values(key string) []string {
	if i := s.index(key); i >= 0 {
		return s.Settings[i].Values
	}
	return nil
}

// LineOf is the line of the key, or that of the scenario.
func (s Scenario) LineOf(key string) int {
	if i := s.index(key); i >= 0 {
		return s.Settings[i].Line
	}
	return s.Line
}

// Without is the scenario without the key.
func (s Scenario) Without(key string) Scenario {
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(set Setting) bool { return set.Key == key })
	return s
}

func (s Scenario) index(key string) int {
	return slices.IndexFunc(s.Settings, func(set Setting) bool { return set.Key == key })
}
