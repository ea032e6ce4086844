package results

import (
	"strings"
	"time"
)

// New begins the file of a command over the recipes.
func New(tool Tool, command, recipes []string, seed uint64) File {
	now := time.Now().UTC()
	return File{
		Schema:  Schema,
		ID:      now.Format("20060102-1504-") + strings.Join(recipes, "-"),
		Started: now,
		Tool:    tool,
		Host:    ThisHost(),
		Command: command,
		Seed:    seed,
		Runs:    []Run{},
	}
}
