// Package docs is the JSON Schemas of results, as they are published: what a
// program can rely on that reads what -o json writes.
package docs

import (
	"embed"

	"github.com/stampede-bench/stampede/results"
)

// The schemas are generated from the types in results, comments included: go test
// ./docs -update.
//
//go:embed *.schema.json
var schemas embed.FS

// Schema is that of results of the kind; false says that there is no such kind.
func Schema(kind string) (text []byte, ok bool) {
	text, err := schemas.ReadFile(File(kind))
	return text, err == nil
}

// File is the name of the schema of the kind.
func File(kind string) string {
	if kind == results.KindRun {
		kind = "result" // it is what the others have in common
	}
	return kind + ".schema.json"
}
