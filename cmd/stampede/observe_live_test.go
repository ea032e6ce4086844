package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// An inProgress is a stampede observe whose command has ended its work and waits for its standard
// input to end.
type inProgress struct {
	*exec.Cmd
	input  io.Closer
	stderr *bufio.Scanner
	read   bytes.Buffer // of stderr
}

// observing starts stampede observe around a script. The script prints "done", and continues when the
// input is closed.
func observing(t *testing.T, script string, environment []string, flags ...string) *inProgress {
	t.Helper()
	o := &inProgress{Cmd: exec.CommandContext(t.Context(), "stampede", append(append([]string{"observe"}, flags...), "--no-save", "--", "sh", "-c", script+"; echo done >&2; read end || true")...)}
	o.Dir = t.TempDir()
	o.Env = append(os.Environ(), environment...)
	input, err := o.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	o.input = input
	stderr, err := o.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	o.stderr = bufio.NewScanner(stderr)
	if err := o.Start(); err != nil {
		t.Fatal(err)
	}
	for o.stderr.Scan() {
		o.read.WriteString(o.stderr.Text() + "\n")
		if o.stderr.Text() == "done" {
			return o
		}
	}
	t.Fatalf("the script was not done: %v\n%s", o.Wait(), &o.read)
	return nil
}

// url returns the address that stderr names behind the words.
func (o *inProgress) url(t *testing.T, words string) string {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(words) + ` (http://\S+)`).FindStringSubmatch(o.read.String())
	if m == nil {
		t.Fatalf("no address behind %q:\n%s", words, &o.read)
	}
	return m[1]
}

// end lets the script end and waits for the observation to succeed.
func (o *inProgress) end(t *testing.T) {
	t.Helper()
	_ = o.input.Close()
	for o.stderr.Scan() {
		o.read.WriteString(o.stderr.Text() + "\n")
	}
	if err := o.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &o.read)
	}
}

func fetched(t *testing.T, ctx context.Context, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fetchedWith fetches until the answer has the text, for a minute.
func fetchedWith(t *testing.T, url, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		page := fetched(t, ctx, url)
		if strings.Contains(page, text) {
			return page
		}
	}
}

// TestAnObservationIsExportedWithoutSecrets checks that the metrics of an observation are there
// while it lasts, for Prometheus and by OTLP, and that no password that passed by is in them.
func TestAnObservationIsExportedWithoutSecrets(t *testing.T) {
	testenv.SkipIfShort(t)
	var mu sync.Mutex
	var sent bytes.Buffer
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&sent, r.Body)
	}))
	defer c.Close()
	const script = "env -u OTEL_EXPORTER_OTLP_ENDPOINT stampede run lock --form one-node --clients 4 --rounds 20 --backend zookeeper://{address} -q -o json=run.json"
	o := observing(t, script, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "STAMPEDE_USER=planted-user", "STAMPEDE_PASSWORD=planted-secret"},
		"--metrics-addr", "127.0.0.1:0")
	scraped := fetchedWith(t, o.url(t, "metrics at"), `stampede_wakeup="waited_again"`) // the analysis is a moment behind the traffic
	o.end(t)
	for _, name := range []string{"stampede_observed_notifications_total", "stampede_observed_change_fanout_count", `stampede_wakeup="waited_again"`,
		`stampede_request="create"`, "stampede_observed_unanalysed_bytes_total"} {
		if !strings.Contains(scraped, name) {
			t.Errorf("Prometheus gets no %s:\n%s", name, scraped)
		}
	}
	for _, name := range []string{"stampede.observed.notifications", "stampede.observed.change.fanout", "/lock"} {
		if !bytes.Contains(sent.Bytes(), []byte(name)) {
			t.Errorf("the collector gets no %s", name)
		}
	}
	for place, text := range map[string]string{"Prometheus": scraped, "OTLP": sent.String(), "stderr": o.read.String()} {
		if strings.Contains(text, "planted") {
			t.Errorf("%s gets a secret", place)
		}
	}
}

// TestAnObservationIsShownWhileItLasts checks that the page of an observation has the paths, the form and the thresholds
// so far, and no password that passed by.
func TestAnObservationIsShownWhileItLasts(t *testing.T) {
	testenv.SkipIfShort(t)
	const script = "stampede run lock --form one-node --clients 4 --rounds 20 --backend zookeeper://{address} -q -o json=run.json"
	o := observing(t, script, []string{"STAMPEDE_USER=planted-user", "STAMPEDE_PASSWORD=planted-secret"}, "--page", "127.0.0.1:0", "--threshold", "fanout.max <= 1000")
	url := o.url(t, "live page:")
	page := fetchedWith(t, url, "lock or election, one node") // the analysis is a moment behind the traffic
	for _, part := range []string{"The observation is in progress", "native: by proxy", "/lock", "lock or election, one node", "fanout.max &lt;= 1000", `src="refresh.js"`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	if strings.Contains(page, "planted") {
		t.Error("the page has a secret")
	}
	if script := fetched(t, t.Context(), url+"/refresh.js"); !strings.Contains(script, "fetch(") {
		t.Errorf("got %q, want the page's script", script)
	}
	o.end(t)
	if strings.Contains(o.read.String(), "anyone who can reach it") {
		t.Error("a page for this machine alone is announced as one for all")
	}
}
