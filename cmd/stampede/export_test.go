package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	v1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestMetricsAreSentToWhereTheEnvironmentSays checks that the metrics of runs and sweeps are pushed
// when they end, if the environment says where, and that a collector that rejects them does not
// make the command fail.
func TestMetricsAreSentToWhereTheEnvironmentSays(t *testing.T) {
	testenv.SkipIfShort(t)
	for command, rate := range map[string]string{"run": "", "sweep": "", "run --rate 200": "200/s"} {
		t.Run(command, func(t *testing.T) {
			var sent *collector.ExportMetricsServiceRequest // the last
			c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = new(collector.ExportMetricsServiceRequest)
				if err := proto.Unmarshal(body, sent); err != nil {
					t.Error(err)
				}
				w.WriteHeader(http.StatusBadRequest)
			}))
			args := append(strings.Fields(command), "lock", "--clients", "2,3", "--duration", "50ms", "--warmup", "0", "--quiet")
			run := exec.CommandContext(t.Context(), "stampede", args...)
			run.Dir = t.TempDir()
			run.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			c.Close()
			if sent == nil {
				t.Fatal("nothing was sent")
			}
			forms := map[string]float64{}
			for _, m := range sent.ResourceMetrics[0].ScopeMetrics[0].Metrics {
				if m.Name == "stampede.rounds" {
					add(forms, m.GetSum().DataPoints)
					if got := rateOf(m.GetSum().DataPoints[0]); got != rate {
						t.Errorf("rate %q, want %q", got, rate)
					}
				}
			}
			if len(forms) != 2 || forms["predecessor"] == 0 || forms["one-node"] == 0 {
				t.Errorf("rounds %v, want some of both forms", forms)
			}
		})
	}
}

// rateOf returns the arrival rate, "" in a closed loop.
func rateOf(p *v1.NumberDataPoint) string {
	for _, a := range p.Attributes {
		if a.Key == "stampede.rate" {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func add(forms map[string]float64, points []*v1.NumberDataPoint) {
	for _, p := range points {
		for _, a := range p.Attributes {
			if a.Key == "stampede.form" {
				forms[a.Value.GetStringValue()] += p.GetAsDouble()
			}
		}
	}
}
