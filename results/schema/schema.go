// Package schema contains the published JSON Schemas of results: the format of the output of -o json that
// programs can rely on, and that saved results are checked against.
package schema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/stampede-bench/stampede/results"
)

// types are the types of the kinds of results that have a schema: those that are saved, and histories.
var types = map[string]reflect.Type{
	results.KindRun:         reflect.TypeFor[results.File](),
	results.KindSweep:       reflect.TypeFor[results.Sweep](),
	results.KindCount:       reflect.TypeFor[results.CountReport](),
	results.KindComparison:  reflect.TypeFor[results.Comparison](),
	results.KindObservation: reflect.TypeFor[results.Observation](),
	results.KindHistory:     reflect.TypeFor[results.History](),
}

// file has the definitions of all kinds. It is generated from their types, including their comments: go test
// ./results/schema -update.
const file = "results.schema.json"

//go:embed results.schema.json
var definitions []byte

// Kinds returns the kinds of results that have a schema.
func Kinds() []string { return append(results.Kinds(), results.KindHistory) }

// reference returns the reference to the definition of a kind.
func reference(kind string) string { return "#/$defs/" + types[kind].Name() }

// references matches the definitions to which one refers.
var references = regexp.MustCompile(`"#/\$defs/(\w+)"`)

// Text returns the schema of results of the kind, with the definitions that it needs, or false if there is no such kind.
func Text(kind string) (text []byte, ok bool) {
	if types[kind] == nil {
		return nil, false
	}
	var all, of struct {
		Schema string                     `json:"$schema"`
		Ref    string                     `json:"$ref"`
		Defs   map[string]json.RawMessage `json:"$defs"`
		Title  string                     `json:"title"`
	}
	if err := json.Unmarshal(definitions, &all); err != nil {
		panic(err) // it is part of the program
	}
	of = all
	of.Ref, of.Title, of.Defs = reference(kind), "What stampede writes with -o json: "+kind, map[string]json.RawMessage{}
	var add func(name string)
	add = func(name string) {
		if of.Defs[name] == nil {
			of.Defs[name] = all.Defs[name]
			for _, m := range references.FindAllSubmatch(all.Defs[name], -1) {
				add(string(m[1]))
			}
		}
	}
	add(types[kind].Name())
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(of); err != nil {
		panic(err)
	}
	return b.Bytes(), true
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
			parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(definitions))
			if err != nil {
				return nil, err
			}
			c := jsonschema.NewCompiler()
			if err := c.AddResource(file, parsed); err != nil {
				return nil, err
			}
			return c.Compile(file + reference(kind))
		})
	}
	return all
}()
