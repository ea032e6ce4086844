// Package workflow writes the workflow commands by which a step of GitHub Actions annotates a change.
package workflow

import (
	"fmt"
	"strings"
)

// Command returns the line that shows a message: level is error, warning or notice. Invalid bytes
// are replaced.
func Command(level, title, text string) string {
	return fmt.Sprintf("::%s title=%s::%s\n", level, property(title), data(text))
}

// data escapes text for a workflow command.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(Valid(text))
}

// Valid replaces each invalid byte of the text with a replacement character.
func Valid(text string) string { return strings.Map(func(r rune) rune { return r }, text) }

// property escapes text for a property of a workflow command.
func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}
