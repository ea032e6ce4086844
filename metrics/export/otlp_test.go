package export_test

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	v1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/metrics/export"
)

func bound(scale, index int32) float64 {
	return math.Pow(2, float64(index)/math.Pow(2, float64(scale)))
}

// Close sends the current metrics to the destination that the environment defines.
func TestPushSendsWhatThereIs(t *testing.T) {
	received := make(chan *collector.ExportMetricsServiceRequest, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request := new(collector.ExportMetricsServiceRequest)
		if err := proto.Unmarshal(body, request); err != nil || r.URL.Path != "/v1/metrics" {
			t.Errorf("%s: %v", r.URL, err)
		}
		received <- request
	}))
	defer s.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	var c export.Collector
	p, err := export.Push(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	c.Begin(one, &soFar{recorded(7)})
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	about := (<-received).ResourceMetrics[0]
	if service := about.Resource.Attributes[0]; service.Key != "service.name" || service.Value.GetStringValue() != "stampede" {
		t.Errorf("comes from %v", service)
	}
	sent := about.ScopeMetrics[0].Metrics
	if !slices.ContainsFunc(sent, func(m *v1.Metric) bool {
		return m.Name == "stampede.rounds" && m.GetSum().DataPoints[0].GetAsDouble() == 7
	}) {
		t.Errorf("no 7 rounds among %v", sent)
	}
}

func TestPushIsOffUnlessAskedFor(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
		{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
	} {
		for _, name := range []string{"OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_SDK_DISABLED"} {
			t.Setenv(name, env[name])
		}
		p, err := export.Push(t.Context(), new(export.Collector))
		if p != nil || err != nil {
			t.Errorf("%v: %v, %v", env, p, err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestPushKnowsItsProtocols(t *testing.T) {
	t.Setenv("OTEL_METRICS_EXPORTER", "otlp")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "carrier-pigeon")
	_, err := export.Push(t.Context(), new(export.Collector))
	if want := `OTEL_EXPORTER_OTLP_PROTOCOL "carrier-pigeon": want grpc or http/protobuf`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
