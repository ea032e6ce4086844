package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// kindScenario is the kind of file that stampede schema describes besides results.
const kindScenario = "scenario"

// A jsonSchema holds the keywords of JSON Schema that scenario files need.
type jsonSchema struct {
	Dialect              string                 `json:"$schema,omitempty"`
	Title                string                 `json:"title,omitempty"`
	Description          string                 `json:"description,omitempty"`
	AnyOf                []*jsonSchema          `json:"anyOf,omitempty"`
	Type                 any                    `json:"type,omitempty"` // one or several
	Enum                 []any                  `json:"enum,omitempty"`
	Pattern              string                 `json:"pattern,omitempty"`
	MinLength            int                    `json:"minLength,omitempty"`
	Minimum              *float64               `json:"minimum,omitempty"`
	Maximum              *float64               `json:"maximum,omitempty"`
	Items                *jsonSchema            `json:"items,omitempty"`
	MinItems             int                    `json:"minItems,omitempty"`
	Properties           map[string]*jsonSchema `json:"properties,omitempty"`
	PropertyNames        *jsonSchema            `json:"propertyNames,omitempty"`
	AdditionalProperties any                    `json:"additionalProperties,omitempty"` // a schema, or false
	Required             []string               `json:"required,omitempty"`
	MinProperties        int                    `json:"minProperties,omitempty"`
	MaxProperties        int                    `json:"maxProperties,omitempty"`
}

// scenarioSchema returns the JSON Schema of scenario files, for editors. It accepts every file that stampede
// accepts, and rejects keys and types that stampede rejects; which settings fit together only stampede validate
// knows.
func (a *app) scenarioSchema() []byte {
	own, shared := a.settingSchemas(), a.settingSchemas()
	thresholds := oneOrMore(text("a condition that runs must meet: stampede help thresholds"))
	thresholds.Description = "conditions that runs must meet: stampede help thresholds"
	own["thresholds"] = thresholds
	shared["version"] = &jsonSchema{Description: "version of the format", Enum: []any{json.Number(scenario.Version), scenario.Version}}
	shared["about"] = text("the file in one line")
	shared["seed"] = wholeNumber("seed of every random choice; default: a new one, which is shown")
	shared["thresholds"] = thresholds
	shared["reference"] = referenceSchema()
	shared["incident"] = incidentSchema()
	shared["scenarios"] = &jsonSchema{Description: "named groups of runs, each with its settings", Type: "object", MinProperties: 1,
		PropertyNames:        &jsonSchema{Pattern: "^[a-z0-9-]+$"},
		AdditionalProperties: &jsonSchema{Type: "object", Properties: own, AdditionalProperties: false}}
	top := &jsonSchema{Dialect: "https://json-schema.org/draft/2020-12/schema", Title: "A scenario file of stampede",
		Description: "Runs that belong together. A setting beside the scenarios is for all of them; a setting of a scenario replaces it.",
		Type:        "object", Properties: shared, AdditionalProperties: false, Required: []string{"version", "scenarios"}}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	cli.Must(e.Encode(top))
	return b.Bytes()
}

// settingSchemas returns the schemas of all settings, by key.
func (a *app) settingSchemas() map[string]*jsonSchema {
	all := map[string]*jsonSchema{}
	_, flags := spec.Defaults(a.forms)
	for _, key := range a.scenarioKeys() {
		var one *jsonSchema
		if key.Name == "recipe" {
			one = text("recipe to run; default: lock")
			for _, name := range append(catalog.Recipes(a.forms), catalog.All) {
				one.Enum = append(one.Enum, name)
			}
		} else {
			one = settingSchema(flags.Lookup(key.Name))
		}
		if key.List {
			about := one.Description
			one = oneOrMore(one)
			one.Description = about
		}
		all[key.Name] = one
	}
	return all
}

// settingSchema returns the schema of one value of a flag.
func settingSchema(f *pflag.Flag) *jsonSchema {
	_, about := pflag.UnquoteUsage(f)
	about = strings.TrimSpace(about)
	switch f.Value.Type() {
	case "bool":
		return &jsonSchema{Description: about, Enum: []any{true, false, "true", "false"}}
	case "duration":
		return &jsonSchema{Description: about, Type: []string{"string", "integer"}, Minimum: new(float64), Maximum: new(float64),
			Pattern: `^\+?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`}
	case "int", "int64", "uint64":
		return wholeNumber(about)
	case "intSlice":
		return &jsonSchema{Description: about, Type: []string{"integer", "string"}, Pattern: `^[0-9]+(,[0-9]+)*$`, Minimum: new(float64)}
	case "float64":
		return &jsonSchema{Description: about, Type: []string{"number", "string"}}
	}
	if f.Name == "backend" { // native: without quotes is a key without a value
		unquoted := &jsonSchema{Type: "object", MinProperties: 1, MaxProperties: 1, AdditionalProperties: &jsonSchema{Type: "null"}}
		return &jsonSchema{Description: about, AnyOf: []*jsonSchema{text(""), unquoted}}
	}
	return text(about)
}

// text returns the schema of a text, which may look like a number.
func text(about string) *jsonSchema {
	return &jsonSchema{Description: about, Type: []string{"string", "number", "boolean"}, MinLength: 1}
}

func wholeNumber(about string) *jsonSchema {
	return &jsonSchema{Description: about, Type: []string{"integer", "string"}, Pattern: "^[0-9]+$", Minimum: new(float64)}
}

// oneOrMore returns the schema of a value or a list of them.
func oneOrMore(one *jsonSchema) *jsonSchema {
	one.Description = ""
	return &jsonSchema{AnyOf: []*jsonSchema{one, list(one)}}
}

func list(of *jsonSchema) *jsonSchema { return &jsonSchema{Type: "array", Items: of, MinItems: 1} }

// incidentSchema returns the schema of a report of a failure.
func incidentSchema() *jsonSchema {
	parts := map[string]*jsonSchema{
		"happened":   text("what happened"),
		"source":     text("the URL of the report, https://…"),
		"reported":   text("figures of the report"),
		"symptom":    text("a threshold that the runs of the scenario symptom meet, and those of the scenario fixed do not"),
		"shows":      text("what the threshold's figure says, with {} in place of it: a release wakes {} clients"),
		"fixed":      text("how the fixed form avoids it"),
		"reproduced": list(text("")),
	}
	parts["reproduced"].Description = "versions of servers on which the symptom was seen, and not in the fixed form"
	return &jsonSchema{Description: "a public report of a failure, whose symptom the runs of the scenario symptom show, and those of the scenario fixed do not",
		Type: "object", AdditionalProperties: false, Required: slices.Sorted(maps.Keys(parts)), Properties: parts}
}

// referenceSchema returns the schema of published figures.
func referenceSchema() *jsonSchema {
	words := func(about string, all []string) *jsonSchema {
		s := &jsonSchema{Description: about}
		for _, word := range all {
			s.Enum = append(s.Enum, word)
		}
		return s
	}
	with := func(about string, s *jsonSchema) *jsonSchema { s.Description = about; return s }
	return &jsonSchema{Description: "published figures to show beside those of the runs", Type: "object", AdditionalProperties: false,
		Required: []string{"source", "figure", "across", "columns", "rows"},
		Properties: map[string]*jsonSchema{
			"source":  text("where the figures were published"),
			"figure":  words("what they are", results.Figures()),
			"across":  words("what the columns are", results.Across()),
			"columns": with("a value or a scenario for each column", list(text(""))),
			"differs": with("how the published measurement differs from this one", &jsonSchema{Type: "array", Items: text("")}),
			"rows": {Description: "a label for each row, and a figure for each column", Type: "object", MinProperties: 1,
				AdditionalProperties: list(&jsonSchema{Type: []string{"number", "string"}})},
		}}
}
