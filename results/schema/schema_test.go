package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
)

const module = "github.com/stampede-bench/stampede"

// types returns the types that the schemas describe.
func types() map[string]reflect.Type {
	return map[string]reflect.Type{
		results.KindRun:        reflect.TypeFor[results.File](),
		results.KindSweep:      reflect.TypeFor[results.Sweep](),
		results.KindCount:      reflect.TypeFor[results.CountReport](),
		results.KindComparison: reflect.TypeFor[results.Comparison](),

		results.KindObservation: reflect.TypeFor[results.Observation](),
		results.KindHistory:     reflect.TypeFor[results.History](),
	}
}

// The published schemas match the types.
func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	t.Chdir("../..") // the root, where the generator finds the comments
	for _, kind := range Kinds() {
		got, path := generate(t, kind), "results/schema/"+File(kind)
		golden.Compare(t, path, got)
	}
}

// described are the packages whose types the schemas describe.
var described = []string{"results", "metrics/observation", "metrics/client", "metrics/causality", "drivers/traffic"}

func generate(t *testing.T, kind string) []byte {
	t.Helper()
	// A newer stampede of the same schema may add properties.
	r := &jsonschema.Reflector{AllowAdditionalProperties: true, Anonymous: true}
	for _, pkg := range described {
		if err := r.AddGoComments(module, pkg, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	for name, comment := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	s := r.ReflectFromType(types()[kind])
	s.Title = "What stampede writes with -o json: " + kind
	allowNull(s.Definitions, types()[kind], map[reflect.Type]bool{})
	for name, of := range s.Definitions {
		for p := of.Properties.Oldest(); p != nil; p = p.Next() {
			if !slices.Contains(signed, name+"."+p.Key) {
				forbidNegative(p.Value)
			}
		}
	}
	if said := s.Definitions[types()[kind].Name()].Properties.Value("kind"); said != nil {
		said.Const, said.Description = kind, ""
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// signed are the whole numbers that may be below zero; no count, size or duration is.
var signed = []string{"Timeline.from_ns", "Gate.run", "Signed.min", "Signed.p50", "Signed.p99", "Signed.max"}

// forbidNegative sets the minimum of a whole number, or of the whole numbers of a list.
func forbidNegative(s *jsonschema.Schema) {
	if s.Type == "integer" {
		s.Minimum = "0"
	}
	for _, part := range append(s.AnyOf, s.Items) {
		if part != nil {
			forbidNegative(part)
		}
	}
}

// allowNull allows null for fields that are written as null when they are empty. The generator does not
// do so.
func allowNull(of jsonschema.Definitions, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || seen[typ] || !slices.Contains(described, strings.TrimPrefix(typ.PkgPath(), module+"/")) {
		return
	}
	seen[typ] = true
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous { // VisibleFields includes its fields
			continue
		}
		allowNull(of, f.Type, seen)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch f.Type.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
		default:
			continue
		}
		if name == "" || name == "-" || strings.Contains(options, "omitempty") {
			continue
		}
		old := of[typ.Name()].Properties.Value(name)
		about := old.Description
		old.Description = ""
		of[typ.Name()].Properties.Set(name, &jsonschema.Schema{
			AnyOf: []*jsonschema.Schema{old, {Type: "null"}}, Description: about})
	}
}

// Every published definition has a description.
func TestSchemasAreDescribed(t *testing.T) {
	for _, kind := range Kinds() {
		text, _ := Text(kind)
		var s jsonschema.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		for name, of := range s.Definitions {
			if of.Description == "" {
				t.Errorf("%s: %s has no description", File(kind), name)
			}
		}
	}
}

// Each kind of result is valid by its own schema, and by no other except that of a run, which is part of
// a sweep.
func TestResultsAreValid(t *testing.T) {
	for _, v := range []results.Result{
		results.New(results.Tool{}, []string{"stampede"}, []string{"lock"}, 1),
		results.Sweep{File: results.File{Head: results.NewHead(results.KindSweep, results.Tool{}, nil, nil, 1), Runs: []results.Run{}}},
		results.CountReport{Head: results.NewHead(results.KindCount, results.Tool{}, nil, nil, 0), Settled: []results.Settled{}},
		results.Comparison{Head: results.Head{Schema: results.Schema, Kind: results.KindComparison}},
		results.Observation{Head: results.NewHead(results.KindObservation, results.Tool{}, nil, []string{"observe"}, 0)},
		results.History{Head: results.Head{Schema: results.Schema, Kind: results.KindHistory}},
	} {
		var b bytes.Buffer
		if err := results.WriteJSON(&b, v); err != nil {
			t.Fatal(err)
		}
		if err := Validate(results.KindOf(v), b.Bytes()); err != nil {
			t.Errorf("a %s is not valid: %v", results.KindOf(v), err)
		}
		for _, other := range Kinds()[1:] {
			if other != results.KindOf(v) && Validate(other, b.Bytes()) == nil {
				t.Errorf("a %s is valid as a %s", results.KindOf(v), other)
			}
		}
	}
}

// A schema must reject invalid results.
func TestSchemasReject(t *testing.T) {
	for name, text := range map[string]string{
		"nothing in it":    `{}`,
		"runs of no kind":  `{"schema": 1, "runs": 3}`,
		"a word as a time": `{"schema": 1, "took_ns": "long"}`,
	} {
		for _, kind := range Kinds() {
			if Validate(kind, []byte(text)) == nil {
				t.Errorf("%s is valid as a %s", name, kind)
			}
		}
	}
}
