package docker

import (
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A composition is what compose.yaml says.
type composition struct{ Services map[string]service }

// A service is one of them.
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

// Each thing that a service must have is missed.
func TestFaultsOfAServiceAreFound(t *testing.T) {
	const kept = `{image: 'a:1.2.3', mem_limit: 1g, healthcheck: {test: [CMD, "true"]}, `
	for text, want := range map[string]string{
		`image: 'a:latest'}`:  "image a:latest is not pinned",
		`image: a}`:           "image a is not pinned",
		`mem_limit: ""}`:      "has no limit of memory",
		`healthcheck: {}}`:    "nobody can tell whether it is healthy",
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

// pinned images have a version in full, or are built here.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+\.\d+$`)

// faults are what is wrong with a service.
func faults(name string, s service) (all []string) {
	if !pinned.MatchString(s.Image) && s.Build.Dockerfile == "" {
		all = append(all, "image "+s.Image+" is not pinned")
	}
	if s.MemLimit == "" {
		all = append(all, "has no limit of memory")
	}
	if len(s.Healthcheck.Test) == 0 && !s.Healthcheck.Disable {
		all = append(all, "nobody can tell whether it is healthy")
	}
	for _, p := range s.Ports {
		if !strings.HasPrefix(p, "127.0.0.1:") {
			all = append(all, "port "+p+" is open to all")
		}
	}
	for _, v := range s.Volumes {
		from, to, _ := strings.Cut(v, ":")
		if !strings.HasPrefix(from, ".") {
			continue // it is kept by the engine
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

// Only what ends by itself has no check of its health.
func TestOnlyTheScenarioHasNoHealth(t *testing.T) {
	for name, s := range compose(t).Services {
		if s.Healthcheck.Disable != (name == "stampede") {
			t.Errorf("%s: health is checked: %v", name, !s.Healthcheck.Disable)
		}
	}
}

// Whatever is named by an address is a service, and waits where it is looked for.
func TestAddressesAreThoseOfServices(t *testing.T) {
	c := compose(t)
	for where, addrs := range map[string][]string{"lab.yaml": backends(t), "prometheus.yml": targets(t), "grafana-datasource.yml": {datasource(t)}} {
		if len(addrs) == 0 {
			t.Errorf("%s names no address", where)
		}
		for _, addr := range addrs {
			host, port, err := net.SplitHostPort(addr)
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			if s, ok := c.Services[host]; !ok || !listens(s, port) {
				t.Errorf("%s: no service of the laboratory is at %s", where, addr)
			}
		}
	}
	if zk := c.Services["zk1"]; listens(zk, "21819") {
		t.Error("a port that is nowhere is taken for one that is listened at")
	}
}

// listens tells whether a service says that it is at the port: in its own
// variables or words, or by publishing it.
func listens(s service, port string) bool {
	at := regexp.MustCompile(`[:;]` + port + `\b`)
	said := slices.Concat(s.Command, s.Ports, slices.Collect(maps.Values(s.Environment)))
	return slices.ContainsFunc(said, at.MatchString)
}

// backends are the addresses of the scenario's.
func backends(t *testing.T) (addrs []string) {
	t.Helper()
	var scenario struct{ Backend []string }
	read(t, "lab.yaml", &scenario)
	for _, b := range scenario.Backend {
		_, after, _ := strings.Cut(b, "://")
		hosts, _, _ := strings.Cut(after, "/")
		addrs = append(addrs, strings.Split(hosts, ",")...)
	}
	if len(addrs) != 7 {
		t.Errorf("the scenario goes to %q, want to seven servers", addrs)
	}
	return addrs
}

// A scrape is Prometheus's own file.
type scrape struct {
	RuleFiles     []string `yaml:"rule_files"`
	ScrapeConfigs []struct {
		JobName       string                       `yaml:"job_name"`
		StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
	} `yaml:"scrape_configs"`
}

func targets(t *testing.T) (addrs []string) {
	t.Helper()
	var s scrape
	read(t, "prometheus.yml", &s)
	for _, job := range s.ScrapeConfigs {
		for _, static := range job.StaticConfigs {
			addrs = append(addrs, static.Targets...)
		}
	}
	return addrs
}

func datasource(t *testing.T) (addr string) {
	t.Helper()
	var d struct{ Datasources []struct{ URL string } }
	read(t, "grafana-datasource.yml", &d)
	u, err := url.Parse(d.Datasources[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// The laboratory's Prometheus and Grafana are those of the dashboards but for the
// addresses, and the rules are where Prometheus looks for them.
func TestOnlyAddressesDifferFromTheDashboards(t *testing.T) {
	for ours, theirs := range map[string]string{"prometheus.yml": "prometheus/prometheus.yml", "grafana-datasource.yml": "grafana/provisioning/datasources/prometheus.yml"} {
		var a, b any
		read(t, ours, &a)
		read(t, filepath.Join("../dashboards", theirs), &b)
		if got, want := elsewhere(t, a), elsewhere(t, b); got != want {
			t.Errorf("%s differs from that of the dashboards:\n%s\n%s", ours, got, want)
		}
	}
	rules := "../dashboards/prometheus/rules.yml:/etc/prometheus/rules.yml:ro"
	if volumes := compose(t).Services["prometheus"].Volumes; !slices.Contains(volumes, rules) {
		t.Errorf("the rules are not mounted: %q", volumes)
	}
}

// elsewhere is the document with every address the same.
func elsewhere(t *testing.T, document any) string {
	t.Helper()
	text, err := yaml.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`[a-z0-9.]+:\d{4,5}`).ReplaceAllString(string(text), "ADDRESS")
}
