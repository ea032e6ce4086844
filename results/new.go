package results

import (
	"fmt"
	"strings"
	"time"
)

// New begins the file of a command over the recipes.
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

// id is of its own as long as no two commands begin in one microsecond, and ids
// sort by when they were given.
func id(at time.Time, recipes []string) string {
	const many = 3
	about := strings.Join(recipes, "-")
	if len(recipes) > many {
		about = fmt.Sprintf("%d-recipes", len(recipes))
	}
	return strings.ReplaceAll(at.Format("20060102-150405.000000-"), ".", "-") + about
}
