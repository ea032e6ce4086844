package docker

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A composition is the content of compose.yaml.
type composition struct{ Services map[string]service }

// A service is a service of a composition.
type service struct {
	Image       string
	Build       struct{ Context, Dockerfile string }
	Command     []string
	Environment map[string]string
	Volumes     []string
	Ports       []string
	MemLimit    string             `yaml:"mem_limit"`
	DependsOn   map[string]depends `yaml:"depends_on"`
	Healthcheck struct {
		Test    []string
		Disable bool
	}
}

type depends struct{ Condition string }

func read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func compose(t *testing.T) composition {
	t.Helper()
	var c composition
	read(t, "compose.yaml", &c)
	if len(c.Services) != 10 {
		t.Fatalf("%d services, want three ZooKeepers, three etcds, native, Prometheus, Grafana and stampede", len(c.Services))
	}
	return c
}

func TestServicesOfTheLaboratoryAreWellKept(t *testing.T) {
	for name, s := range compose(t).Services {
		for _, fault := range faults(name, s) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// TestFaultsOfAServiceAreFound checks that every missing property of a service is reported.
func TestFaultsOfAServiceAreFound(t *testing.T) {
	const kept = `{image: 'a:1.2.3', mem_limit: 1g, healthcheck: {test: [CMD, "true"]}, `
	for text, want := range map[string]string{
		`image: 'a:latest'}`:  "image a:latest is not pinned",
		`image: a}`:           "image a is not pinned",
		`mem_limit: ""}`:      "has no memory limit",
		`healthcheck: {}}`:    "has no health check",
		`ports: ['8080:80']}`: "port 8080:80 is open to all",
		`volumes: ['./nowhere.yml:/etc/a.yml:ro']}`:      "./nowhere.yml is mounted and not there",
		`volumes: ['./lab.yaml:/etc/a.yml']}`:            "./lab.yaml can be written",
		`depends_on: {b: {condition: service_started}}}`: "does not wait until b is healthy",
	} {
		var m map[string]any
		if err := yaml.Unmarshal([]byte(kept+"}"), &m); err != nil {
			t.Fatal(err)
		}
		var over map[string]any
		if err := yaml.Unmarshal([]byte("{"+text), &over); err != nil {
			t.Fatal(err)
		}
		maps.Copy(m, over)
		merged, err := yaml.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var s service
		if err := yaml.Unmarshal(merged, &s); err != nil {
			t.Fatal(err)
		}
		if got := faults("a", s); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// pinned matches the name of an image with a full version. Images that are built here need none.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+\.\d+$`)

// faults returns what is wrong with a service.
func faults(name string, s service) (all []string) {
	if !pinned.MatchString(s.Image) && s.Build.Dockerfile == "" {
		all = append(all, "image "+s.Image+" is not pinned")
	}
	if s.MemLimit == "" {
		all = append(all, "has no memory limit")
	}
	if len(s.Healthcheck.Test) == 0 && !s.Healthcheck.Disable {
		all = append(all, "has no health check")
	}
	for _, p := range s.Ports {
		if !strings.HasPrefix(p, "127.0.0.1:") {
			all = append(all, "port "+p+" is open to all")
		}
	}
	for _, v := range s.Volumes {
		from, to, _ := strings.Cut(v, ":")
		if !strings.HasPrefix(from, ".") {
			continue // a named volume, which the engine keeps
		}
		if _, err := os.Stat(from); err != nil {
			all = append(all, from+" is mounted and not there")
		}
		if !strings.HasSuffix(to, ":ro") {
			all = append(all, from+" can be written")
		}
	}
	for other, d := range s.DependsOn {
		if d.Condition != "service_healthy" {
			all = append(all, "does not wait until "+other+" is healthy")
		}
	}
	return all
}

// TestMembersOfTheEnsembleAreWellKept checks what any service must have, and that the members differ in their numbers alone.
func TestMembersOfTheEnsembleAreWellKept(t *testing.T) {
	var c composition
	read(t, "compose.ensemble.yaml", &c)
	first := c.Services["member1"]
	for i, name := range []string{"member1", "member2", "member3"} {
		s := c.Services[name]
		for _, fault := range faults(name, s) {
			t.Errorf("%s: %s", name, fault)
		}
		want := slices.Clone(first.Command)
		want[slices.Index(want, "--id")+1] = strconv.Itoa(i + 1)
		if !slices.Equal(s.Command, want) || !slices.Equal(s.Volumes, []string{name + ":/home/stampede/.stampede"}) {
			t.Errorf("%s: command %q, volumes %q", name, s.Command, s.Volumes)
		}
	}
}

// TestOnlyTheScenarioHasNoHealth checks that only stampede, which ends by itself, has no health
// check.
func TestOnlyTheScenarioHasNoHealth(t *testing.T) {
	for name, s := range compose(t).Services {
		if s.Healthcheck.Disable != (name == "stampede") {
			t.Errorf("%s: health is checked: %v", name, !s.Healthcheck.Disable)
		}
	}
}
