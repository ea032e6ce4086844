// Package schema contains the published JSON Schemas of results: the format of the output of -o json that
// programs can rely on, and that saved results are checked against.
package schema

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/stampede-bench/stampede/results"
)

// The schemas are generated from the types in results, including their comments: go test ./results/schema
// -update.
//
//go:embed *.schema.json
var schemas embed.FS

// Kinds returns the kinds of results that have a schema: those that are saved, and histories.
func Kinds() []string { return append(results.Kinds(), results.KindHistory) }

// Text returns the schema of results of the kind, false if there is no such kind.
func Text(kind string) (text []byte, ok bool) {
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

// ErrInvalid says that a result does not conform to its schema.
var ErrInvalid = errors.New("not a valid result")

// Validate checks a result, as JSON, against the schema of its kind. The error is one line that names the
// first fault.
func Validate(kind string, text []byte) error {
	compile, known := validators[kind]
	if !known {
		return fmt.Errorf("no schema of kind %q", kind)
	}
	of, err := compile()
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var invalid *jsonschema.ValidationError
	switch err := of.Validate(v); {
	case errors.As(err, &invalid):
		for len(invalid.Causes) > 0 {
			invalid = invalid.Causes[0]
		}
		why := invalid.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		if place := strings.Join(invalid.InstanceLocation, "."); place != "" {
			why = place + ": " + why
		}
		return fmt.Errorf("%w: %s", ErrInvalid, why)
	default:
		return err
	}
}

// validators compile the schema of each kind when it is first used: that takes longer than to read a result.
var validators = func() map[string]func() (*jsonschema.Schema, error) {
	all := map[string]func() (*jsonschema.Schema, error){}
	for _, kind := range Kinds() {
		all[kind] = sync.OnceValues(func() (*jsonschema.Schema, error) {
			text, _ := Text(kind)
			parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				return nil, err
			}
			c := jsonschema.NewCompiler()
			if err := c.AddResource(File(kind), parsed); err != nil {
				return nil, err
			}
			return c.Compile(File(kind))
		})
	}
	return all
}()
