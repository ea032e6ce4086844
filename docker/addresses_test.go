package docker

import (
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestAddressesAreThoseOfServices checks that every address names a service that listens on the
// port.
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

// listens reports whether a service's definition has the port: in its variables, its command or its
// published ports.
func listens(s service, port string) bool {
	at := regexp.MustCompile(`[:;]` + port + `\b`)
	said := slices.Concat(s.Command, s.Ports, slices.Collect(maps.Values(s.Environment)))
	return slices.ContainsFunc(said, at.MatchString)
}

// backends returns the addresses of the scenario's backends.
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

// A scrape is the configuration file of Prometheus.
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

// dropJob removes the job from a configuration of Prometheus.
func dropJob(configuration any, name string) {
	c := configuration.(map[string]any)
	if jobs, ok := c["scrape_configs"].([]any); ok {
		c["scrape_configs"] = slices.DeleteFunc(jobs, func(job any) bool { return job.(map[string]any)["job_name"] == name })
	}
}

// TestOnlyAddressesDifferFromTheDashboards checks that the laboratory's configuration of Prometheus
// and Grafana is that of the dashboards, with other addresses and without the job of stampede observe,
// which it does not run, and that the rules are at the path where Prometheus looks for them.
func TestOnlyAddressesDifferFromTheDashboards(t *testing.T) {
	for ours, theirs := range map[string]string{"prometheus.yml": "prometheus/prometheus.yml", "grafana-datasource.yml": "grafana/provisioning/datasources/prometheus.yml"} {
		var a, b any
		read(t, ours, &a)
		read(t, filepath.Join("../dashboards", theirs), &b)
		dropJob(b, "stampede-observe")
		if got, want := elsewhere(t, a), elsewhere(t, b); got != want {
			t.Errorf("%s differs from that of the dashboards:\n%s\n%s", ours, got, want)
		}
	}
	rules := "../dashboards/prometheus/rules.yml:/etc/prometheus/rules.yml:ro"
	if volumes := compose(t).Services["prometheus"].Volumes; !slices.Contains(volumes, rules) {
		t.Errorf("the rules are not mounted: %q", volumes)
	}
}

// elsewhere returns the document with the same placeholder for every address.
func elsewhere(t *testing.T, document any) string {
	t.Helper()
	text, err := yaml.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`[a-z0-9.]+:\d{4,5}`).ReplaceAllString(string(text), "ADDRESS")
}
