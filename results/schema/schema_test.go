package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
)

const module = "github.com/stampede-bench/stampede"

// The published definitions match the types.
func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	t.Chdir("../..") // the root, where the generator finds the comments
	golden.Compare(t, "results/schema/"+file, generate(t))
}

// described are the packages whose types the schemas describe.
var described = []string{"results", "metrics/observation", "metrics/recovery", "metrics/client", "metrics/causality", "drivers/traffic"}

// names are the names of the types that a schema describes. Of two types with one name the second also has the name of
// its package: one definition cannot be that of both.
type names map[string]reflect.Type

func (n names) of(typ reflect.Type) string {
	name := typ.Name()
	if first, taken := n[name]; taken && first != typ {
		pkg := path.Base(typ.PkgPath())
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	if name != "" {
		n[name] = typ
	}
	return name
}

func generate(t *testing.T) []byte {
	t.Helper()
	// A newer stampede of the same schema may add properties.
	named := names{}
	r := &jsonschema.Reflector{AllowAdditionalProperties: true, Anonymous: true, Namer: named.of}
	for _, pkg := range described {
		if err := r.AddGoComments(module, pkg, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	for name, comment := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	all := &jsonschema.Schema{Version: jsonschema.Version, Title: "What stampede writes with -o json", Definitions: jsonschema.Definitions{}}
	for _, kind := range Kinds() {
		s := r.ReflectFromType(types[kind])
		allowNull(s.Definitions, named, types[kind], map[reflect.Type]bool{})
		if said := s.Definitions[types[kind].Name()].Properties.Value("kind"); said != nil {
			said.Const, said.Description = kind, ""
		}
		all.AnyOf = append(all.AnyOf, &jsonschema.Schema{Ref: reference(kind)})
		maps.Copy(all.Definitions, s.Definitions)
	}
	for name, of := range all.Definitions {
		for p := of.Properties.Oldest(); p != nil; p = p.Next() {
			if !slices.Contains(signed, name+"."+p.Key) {
				forbidNegative(p.Value)
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
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
func allowNull(of jsonschema.Definitions, named names, typ reflect.Type, seen map[reflect.Type]bool) {
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
		allowNull(of, named, f.Type, seen)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch f.Type.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
		default:
			continue
		}
		if name == "" || name == "-" || strings.Contains(options, "omitempty") {
			continue
		}
		old := of[named.of(typ)].Properties.Value(name)
		about := old.Description
		old.Description = ""
		of[named.of(typ)].Properties.Set(name, &jsonschema.Schema{
			AnyOf: []*jsonschema.Schema{old, {Type: "null"}}, Description: about})
	}
}

// Every published definition has a description, and belongs to the schema of a kind, which lacks none.
func TestSchemasAreDescribed(t *testing.T) {
	var all jsonschema.Schema
	if err := json.Unmarshal(definitions, &all); err != nil {
		t.Fatal(err)
	}
	for name, of := range all.Definitions {
		if of.Description == "" {
			t.Errorf("%s has no description", name)
		}
	}
	for _, kind := range Kinds() {
		text, _ := Text(kind)
		parsed, err := validator.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := validator.NewCompiler()
		if err := c.AddResource("printed.json", parsed); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("printed.json"); err != nil {
			t.Errorf("what is printed for a %s: %v", kind, err)
		}
		for name := range parsed.(map[string]any)["$defs"].(map[string]any) {
			delete(all.Definitions, name)
		}
	}
	for name := range all.Definitions {
		t.Errorf("%s belongs to no kind", name)
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

// A result in which nothing is left out is valid by its schema.
func TestFilledResultsAreValid(t *testing.T) {
	for kind, typ := range types {
		v := reflect.New(typ).Elem()
		fill(v, 0)
		if head := v.FieldByName("Kind"); head.IsValid() {
			head.SetString(kind)
		}
		var b bytes.Buffer
		if err := results.WriteJSON(&b, v.Interface().(results.Result)); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if err := Validate(kind, b.Bytes()); err != nil {
			t.Errorf("a %s in which nothing is left out is not valid: %v", kind, err)
		}
	}
}

// fill sets each field of a value, and one element of each list.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1e9, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if depth < 50 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("a")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		if v.CanInt() {
			v.SetInt(1)
		} else if v.CanUint() {
			v.SetUint(1)
		}
	}
}
