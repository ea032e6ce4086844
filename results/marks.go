package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Marks name a result for a history. Both are left out if nothing was given.
type Marks struct {
	// Subject is the program that was measured or observed, as --subject names it: for example a commit.
	Subject string `json:"subject,omitempty"`
	// Tags have the values that --tag gives to names, such as main to branch.
	Tags map[string]string `json:"tags,omitempty"`
}

// MarksOf returns the marks of a result.
func MarksOf(r Result) Marks {
	switch r := r.(type) {
	case File:
		return r.Marks
	case Sweep:
		return r.File.Marks
	case CountReport:
		return r.Marks
	case Comparison:
		return r.Marks
	case Observation:
		return r.Marks
	}
	return Marks{}
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
