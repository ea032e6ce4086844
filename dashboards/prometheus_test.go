package dashboards

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

// patience is how long a test waits for Prometheus. Only a defect takes that long, not a busy
// machine.
const patience = 10 * time.Minute

// sooner matches the settings that the test shortens, so that rules are evaluated and alerts fire
// without delay. The scrape interval stays: it also limits how long a scrape may take.
var sooner = regexp.MustCompile(`(evaluation_interval|for): \S+`)

// A prom is a real Prometheus that this test started.
type prom struct {
	t     *testing.T
	addr  string
	ended chan struct{} // closed when the process has ended
}

// startPrometheus starts Prometheus with the rules and the scrape configuration of this folder,
// with other addresses. If Prometheus is not installed, it skips the test, or fails if every
// backend is required.
func startPrometheus(t *testing.T, runs, server, observed string) *prom {
	t.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("REQUIRE_BACKENDS") == "all" {
			t.Fatal("no prometheus: scripts/install-test-deps installs it")
		}
		t.Skip("no prometheus is installed")
	}
	dir := t.TempDir()
	for _, name := range []string{"rules.yml", "prometheus.yml"} {
		text, err := os.ReadFile(filepath.Join("prometheus", name))
		if err != nil {
			t.Fatal(err)
		}
		moved := strings.NewReplacer("127.0.0.1:9464", runs, "127.0.0.1:9465", server, "127.0.0.1:9466", observed).Replace(string(text))
		if err := os.WriteFile(filepath.Join(dir, name), sooner.ReplaceAll([]byte(moved), []byte("$1: 200ms")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	addr, err := reexec.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--enable-feature=native-histograms", "--log.level=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &prom{t, addr, make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
	})
	p.await("it answers", func() bool { return p.get("/-/ready", nil, nil) == nil })
	return p
}

// await polls until the condition holds.
func (p *prom) await(what string, holds func() bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-p.ended:
			p.t.Fatalf("Prometheus ended before %s", what)
		case <-ctx.Done():
			p.t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

func (p *prom) get(path string, query url.Values, into any) error {
	r, err := http.Get("http://" + p.addr + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if into != nil {
		return json.NewDecoder(r.Body).Decode(into)
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", r.Status)
	}
	return nil
}

// A judged is Prometheus's last evaluation of an alert.
type judged struct {
	Name           string
	LastEvaluation time.Time
	Alerts         []struct {
		State  string
		Labels map[string]string
	}
}

// alert returns the last evaluation of an alert, or a zero one before the first.
func (p *prom) alert(name string) (found judged) {
	p.t.Helper()
	var a struct {
		Data struct{ Groups []struct{ Rules []judged } }
	}
	if err := p.get("/api/v1/rules", url.Values{"type": {"alert"}}, &a); err != nil {
		p.t.Fatal(err)
	}
	for _, g := range a.Data.Groups {
		for _, r := range g.Rules {
			if r.Name == name {
				found = r
			}
		}
	}
	return found
}

// firing returns the values of a label of the alerts that fire.
func (j judged) firing(label string) (values []string) {
	for _, a := range j.Alerts {
		if a.State == "firing" {
			values = append(values, a.Labels[label])
		}
	}
	return values
}

// An answer is the response to a query.
type answer struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
			Value  []any
		}
	}
}

// values returns the values of the series that a query finds, as text.
func (p *prom) values(expr string) (values []string, err error) {
	var a answer
	if err := p.get("/api/v1/query", url.Values{"query": {expr}}, &a); err != nil {
		return nil, err
	}
	if a.Status != "success" {
		return nil, fmt.Errorf("%s", a.Error)
	}
	for _, r := range a.Data.Result {
		values = append(values, fmt.Sprint(r.Value[1]))
	}
	return values, nil
}
