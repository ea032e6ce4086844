package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// publishedSchema checks that the schema in the repository, which editors read, is what the command prints.
func publishedSchema(t *testing.T) {
	var printed bytes.Buffer
	a := &app{forms: catalog.Forms(), out: &printed, err: io.Discard}
	if err := a.schema([]string{kindScenario}); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "../../workloads/scenario/scenario.schema.json", printed.Bytes())
}

// scenarioFiles returns the scenario files of the repository: those that come with stampede, and those of tests, which
// may be wrong.
func scenarioFiles(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"the template": scenario.Template()}
	for _, name := range scenario.Names() {
		all[name], _ = scenario.Shipped(name)
	}
	archives, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range archives {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".yaml") && bytes.HasPrefix(f.Data, []byte("version:")) {
				all[path+" "+f.Name] = f.Data
			}
		}
	}
	return all
}

// compiledSchema returns a function that validates YAML against the schema of scenario files.
func compiledSchema(t *testing.T) func(text []byte) error {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader((&app{forms: catalog.Forms()}).scenarioSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("scenario.schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		return compiled.Validate(v)
	}
}

// Every scenario file that stampede accepts is valid by the schema.
func TestScenariosAreValid(t *testing.T) {
	a, validate, accepted := &app{forms: catalog.Forms(), err: io.Discard}, compiledSchema(t), 0
	for name, text := range scenarioFiles(t) {
		file, err := scenario.Parse(name, text, a.scenarioKeys())
		if err == nil {
			_, _, err = a.jobs(file, &pflag.FlagSet{})
		}
		if err != nil {
			continue
		}
		accepted++
		if err := validate(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if shipped := len(scenario.Names()) + 1; accepted < shipped+5 {
		t.Errorf("%d files were checked, want the %d that come with stampede and several of tests", accepted, shipped)
	}
}

// Each of these files differs from a valid one in one line. Neither stampede nor the schema accepts it.
func TestWrongScenariosAreNotValid(t *testing.T) {
	const right = `version: 1
thresholds: ["*.errors == 0"]
clients: [2, 8]
hold: 0
scenarios:
  lock:
    recipe: lock
    backend: [native:, "etcd:"]
    duration: 1.5s
reference:
  source: a paper
  figure: seconds
  across: clients
  columns: [2, 8]
  rows:
    lock: [1, 2]
`
	a, validate := &app{forms: catalog.Forms()}, compiledSchema(t)
	parse := func(text string) error {
		_, err := scenario.Parse("it", []byte(text), a.scenarioKeys())
		return err
	}
	if err := parse(right); err != nil {
		t.Fatal(err)
	}
	if err := validate([]byte(right)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, wrong string }{
		{"version: 1\n", ""},
		{"version: 1\n", "version: 2\n"},
		{"clients: [2, 8]", "client: [2, 8]"},
		{"clients: [2, 8]", "clients: many"},
		{"clients: [2, 8]", "clients: []"},
		{"clients: [2, 8]", "clients:"},
		{"hold: 0", "hold: 5"},
		{"hold: 0", "hold: [0s]"},
		{"hold: 0", "hold: long"},
		{"hold: 0", "quiet: true"},
		{"hold: 0", "seed: -1"},
		{"  lock:\n    recipe", "  Lock:\n    recipe"},
		{"recipe: lock", "recipe: lok"},
		{"recipe: lock", "seed: 1"},
		{"recipe: lock", "scenarios: {}"},
		{"duration: 1.5s", "duration: 1.5"},
		{"figure: seconds", "figure: minutes"},
		{"source: a paper", "sources: a paper"},
		{"lock: [1, 2]", "lock: fast"},
		{`thresholds: ["*.errors == 0"]`, "thresholds: {}"},
	} {
		text := strings.Replace(right, c.line, c.wrong, 1)
		if text == right || parse(text) == nil {
			t.Fatalf("stampede accepts %q", c.wrong)
		}
		if validate([]byte(text)) == nil {
			t.Errorf("the schema accepts %q", c.wrong)
		}
	}
}
