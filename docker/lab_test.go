package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestTheLaboratoryComesUpAndGoes checks that the laboratory starts, that every service gets the
// scenario, that Prometheus and Grafana show it, and that nothing is left afterwards. It runs make
// lab on this tree's files, except that it uses the host's network and stand-ins for images that
// cannot be pulled.
func TestTheLaboratoryComesUpAndGoes(t *testing.T) {
	testenv.SkipIfShort(t)
	requireEngine(t)
	tree := copyTree(t)
	grafana := elsewhereImages(t, filepath.Join(tree, "docker/compose.yaml"))

	lab := exec.CommandContext(t.Context(), "make", "--no-print-directory", "lab")
	lab.Dir, lab.Env = tree, append(os.Environ(), "COMPOSE_PROJECT_NAME=stampede-lab-test")
	lab.Cancel = func() error { return lab.Process.Signal(os.Interrupt) }
	var out, err bytes.Buffer
	lab.Stdout, lab.Stderr = &out, io.MultiWriter(&err, t.Output())
	if err := lab.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- lab.Wait() }()
	t.Cleanup(func() { engine(t, "image", "rm", "--force", "stampede:lab") })

	seen := awaitSeen(t, over, grafana)
	if !seen {
		t.Errorf("make lab ended before Prometheus had seen runs on every backend:\n%s", err.String())
		return
	}
	if e := <-over; e != nil {
		t.Errorf("make lab: %v\n%s", e, err.String())
	}
	for _, backend := range []string{"native", "zookeeper", "etcd"} {
		if !strings.Contains(out.String(), "lock on "+backend) {
			t.Errorf("no table of %s in:\n%s", backend, out.String())
		}
	}
	for _, what := range []string{"container", "volume"} {
		args := []string{what, "ls", "--quiet", "--filter", "label=com.docker.compose.project=stampede-lab-test"}
		if what == "container" {
			args = append(args, "--all")
		}
		if left := engine(t, args...); left != "" {
			t.Errorf("%ss are left: %q", what, left)
		}
	}
}

// awaitSeen waits until Prometheus has rounds on all three backends and the native server's own
// metrics, and Grafana has the dashboards. It returns false if the laboratory ended first.
func awaitSeen(t *testing.T, over chan error, grafana bool) bool {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case e := <-over:
			over <- e
			return false
		case <-tick.C:
		}
		backends := query("count by (stampede_backend) (stampede_rounds_total > 0)")
		server := query("stampede_server_operations_total > 0")
		if len(backends) == 3 && len(server) > 0 && (!grafana || len(dashboards()) == 2) {
			return true
		}
	}
}

// query returns what Prometheus finds, or nothing if it does not answer.
func query(expr string) []any {
	var answer struct{ Data struct{ Result []any } }
	ask("http://127.0.0.1:9090/api/v1/query?query="+url.QueryEscape(expr), &answer)
	return answer.Data.Result
}

// dashboards returns the dashboards that Grafana has been provisioned with.
func dashboards() (all []any) {
	ask("http://127.0.0.1:3000/api/search?type=dash-db&tag=stampede", &all)
	return all
}

func ask(url string, into any) {
	r, err := http.Get(url)
	if err != nil {
		return
	}
	defer r.Body.Close()
	_ = json.NewDecoder(r.Body).Decode(into)
}

// requireEngine skips the test with a conspicuous message if no Docker engine answers, or fails it
// if REQUIRE_DOCKER is 1.
func requireEngine(t *testing.T) {
	t.Helper()
	out, err := exec.Command("docker", "info", "--format", "{{.ServerVersion}}").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("REQUIRE_DOCKER") == "1" {
		t.Fatalf("no Docker engine answers: %v\n%s", err, out)
	}
	t.Skip("!!!!! no Docker engine answers, so that the laboratory is NOT tested; REQUIRE_DOCKER=1 would fail")
}

// engine runs docker and returns its output.
func engine(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Errorf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// copyTree copies the files of this tree that git tracks, and new ones that it does not ignore.
func copyTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	copying := exec.Command("sh", "-c", `git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$0"`, tree)
	copying.Dir = ".."
	if out, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("copy the tree: %v\n%s", err, out)
	}
	return tree
}

// elsewhereImages makes the services use the host's network, with one another's names in it, and
// stand-ins for images that cannot be pulled. There is no stand-in for Grafana: if its image cannot
// be pulled, the laboratory starts without Grafana and elsewhereImages returns false.
func elsewhereImages(t *testing.T, file string) (grafana bool) {
	t.Helper()
	var c map[string]any
	read(t, file, &c)
	services := c["services"].(map[string]any)
	standIns := false
	if grafana = pulled("grafana/grafana:12.0.2"); !grafana {
		t.Log("!!!!! Grafana's image cannot be pulled: the laboratory is tested WITHOUT Grafana")
		delete(services, "grafana")
	}
	var hosts []string
	for name := range services {
		hosts = append(hosts, name+":127.0.0.1")
	}
	slices.Sort(hosts)
	for _, each := range services {
		s := each.(map[string]any)
		delete(s, "ports")
		s["network_mode"], s["extra_hosts"] = "host", hosts
		if b, ok := s["build"].(map[string]any); ok {
			b["network"] = "host"
			if !pulled("golang:1.26.8") {
				standIns, b["args"] = true, map[string]string{"GO_IMAGE": "standin/golang"}
			}
			continue
		}
		if image := s["image"].(string); !pulled(image) {
			standIns, s["image"] = true, standIn(image)
		}
	}
	if standIns {
		makeStandIns(t)
	}
	text, err := yaml.Marshal(c)
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return grafana
}

// pulled reports whether the engine has the image or can pull it.
func pulled(image string) bool {
	if exec.Command("docker", "image", "inspect", image).Run() == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return exec.CommandContext(ctx, "docker", "pull", "--quiet", image).Run() == nil
}

// standIn returns the name of the stand-in for an image.
func standIn(image string) string {
	name, _, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return "standin/" + name
}

// makeStandIns builds the stand-ins, unless an earlier test has.
func makeStandIns(t *testing.T) {
	t.Helper()
	if exec.Command("docker", "image", "inspect", "standin/golang").Run() == nil {
		return
	}
	build := exec.CommandContext(t.Context(), "testdata/standins/build")
	build.Stdout, build.Stderr = t.Output(), t.Output()
	if err := build.Run(); err != nil {
		t.Fatalf("stand-ins for images that cannot be pulled: %v", err)
	}
}
