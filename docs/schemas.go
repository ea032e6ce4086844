// Package docs contains the published JSON Schemas of results: the format of the output of -o json that
// programs can rely on.
package docs

import (
	"embed"

	"github.com/stampede-bench/stampede/results"
)

// The schemas are generated from the types in results, including their comments: go test ./docs -update.
//
//go:embed *.schema.json
var schemas embed.FS

// Kinds returns the kinds of results that have a schema: those that are saved, and histories.
func Kinds() []string { return append(results.Kinds(), results.KindHistory) }

// Schema returns the schema of results of the kind, false if there is no such kind.
func Schema(kind string) (text []byte, ok bool) {
	text, err := schemas.ReadFile(File(kind))
	return text, err == nil
}

// File returns the file name of the kind's schema.
func File(kind string) string {
	if kind == results.KindRun {
		kind = "result" // the schema of a plain result
	}
	return kind + ".schema.json"
}
