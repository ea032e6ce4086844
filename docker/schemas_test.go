package docker

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// published is a module that has the OpenAPI documents of Kubernetes' releases among its files, and the folder
// of a release. No package of it is used.
const published, release = "sigs.k8s.io/kubectl-validate@v0.0.4", "pkg/openapiclient/builtins/1.30"

// schemas returns the folder with the OpenAPI documents of a release of Kubernetes, one file for each group
// and version. The test is skipped if they cannot be had.
func schemas(t *testing.T) string {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", published)
	download.Dir = t.TempDir() // so that this module is left alone
	out, err := download.Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(out, &module) != nil {
		t.Skipf("the schemas of Kubernetes cannot be downloaded: %v: %s", err, out)
	}
	return filepath.Join(module.Dir, filepath.FromSlash(release))
}

// schemaOf compiles the schema of a kind, such as Job of batch/v1.
func schemaOf(t *testing.T, dir, version, kind string) *jsonschema.Schema {
	t.Helper()
	file := filepath.Join(dir, "apis", version+".json")
	group := strings.ReplaceAll(version, "/", ".")
	if version == "v1" {
		file, group = filepath.Join(dir, "api", "v1.json"), "core.v1"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("openapi.json#/components/schemas/io.k8s.api." + group + "." + kind)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestKubernetesAcceptsTheObjects validates the manifest against the schemas that Kubernetes publishes: of
// the fields that strict decoding knows, the required ones are there and all have values of their type. It
// also validates objects with an error each, which must be found.
func TestKubernetesAcceptsTheObjects(t *testing.T) {
	testenv.SkipIfShort(t)
	dir := schemas(t)
	text, err := os.ReadFile("kubernetes/agents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	errors := map[string]string{"port: 2379}]": "port: many}]", "selector:\n": "selectors:\n", "backoffLimit: 0": "backoffLimit: none"}
	found := 0
	for i, d := range bytes.Split(text, []byte("\n---\n")) {
		var is struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
		}
		if err := yaml.Unmarshal(d, &is); err != nil {
			t.Fatal(err)
		}
		s := schemaOf(t, dir, is.APIVersion, is.Kind)
		if err := s.Validate(valueOf(t, d)); err != nil {
			t.Errorf("object %d, %s: %v", i+1, is.Kind, err)
		}
		for was, wrong := range errors {
			changed := bytes.Replace(d, []byte(was), []byte(wrong), 1)
			if bytes.Equal(changed, d) {
				continue
			}
			if found++; s.Validate(valueOf(t, changed)) == nil {
				t.Errorf("object %d, %s: %q is accepted", i+1, is.Kind, wrong)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d errors were made, want 4", found)
	}
}

// valueOf returns the value of a document in YAML.
func valueOf(t *testing.T, document []byte) any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(document, &object); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
