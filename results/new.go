package results

import (
	"fmt"
	"strings"
	"time"
)

// New starts the file of a command that runs the recipes.
func New(tool Tool, command, recipes []string, seed uint64) File {
	now := time.Now().UTC()
	return File{
		Schema:  Schema,
		ID:      id(now, recipes),
		Started: now,
		Tool:    tool,
		Host:    ThisHost(),
		Command: command,
		Seed:    seed,
		Runs:    []Run{},
	}
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
