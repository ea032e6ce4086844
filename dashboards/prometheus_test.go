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
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/child"
)

// A prom is a real Prometheus that this test started.
type prom struct {
	t    *testing.T
	addr string
}

// startPrometheus starts one with the rules and the scrape configuration of this
// folder, but for the addresses. Without one installed the test is skipped, unless
// every backend is required.
func startPrometheus(t *testing.T, runs, server string) *prom {
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
		moved := strings.NewReplacer("127.0.0.1:9464", runs, "127.0.0.1:9465", server, "interval: 1s", "interval: 200ms").Replace(string(text))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(moved), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	addr, err := child.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--enable-feature=native-histograms", "--log.level=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := &prom{t, addr}
	p.await("it answers", func() bool { return p.get("/-/ready", nil, nil) == nil })
	return p
}

// await asks again until something is so.
func (p *prom) await(what string, is func() bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			p.t.Fatalf("waited in vain until %s", what)
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

// An answer is what a query gave.
type answer struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
			Value  []any
		}
	}
}

// values are those of the series that a query finds, as they are written.
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
