package export_test

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/results/figure"
)

// A soFar is a run whose measurements the test sets.
type soFar struct{ metrics.Record }

func (s *soFar) SoFar() metrics.Record { return s.Record }

// recorded returns a run of the given number of rounds, each of which took 1 ms and caused
// three notifications.
func recorded(rounds int64) metrics.Record {
	took := hdrhistogram.New(1, int64(time.Hour), 3)
	_ = took.RecordValues(int64(time.Millisecond), rounds)
	return metrics.Record{
		Duration: time.Second, Rounds: rounds,
		Phases: []metrics.Phase{{Name: "acquire", Service: took, Response: took}},
		Counts: metrics.Counts{Reads: 3 * rounds, Writes: 2 * rounds, FailedWrites: rounds, Notifications: 3 * rounds, Useful: rounds, Wasted: 2 * rounds},
		Herd:   metrics.Herd{Fanout: metrics.Tally{3: rounds}},
		Errors: map[string]int64{"session lost": 1},
		Generator: metrics.Generator{CPUCores: 0.5, Machine: &metrics.Machine{Stolen: 0.25}, GCPause: time.Millisecond, Lag: took,
			Offered: rounds, Late: rounds * 6 / 10, Skipped: rounds / 10, Waiting: 7, Behind: 3 * time.Second},
		Background: &metrics.Record{Counts: metrics.Counts{Reads: 9 * rounds, Writes: rounds},
			Phases: []metrics.Phase{{Name: "read", Response: took}}},
	}
}

var one = export.Run{Recipe: "lock", Form: "one-node", Family: "naive", Backend: "native", Clients: 4}

// The measurements of finished runs and of the run in progress are added.
func TestRunsOfOneKindAddUp(t *testing.T) {
	var c export.Collector
	c.Begin(one, &soFar{recorded(60)})
	c.End(one, recorded(100))
	live := &soFar{recorded(10)}
	c.Begin(one, live)
	for _, want := range []struct {
		rounds float64
		n      uint64
	}{{110, 110}, {130, 130}} {
		got := produced(t, &c)
		if v := sum(t, got, "stampede.rounds"); v != want.rounds {
			t.Errorf("%v rounds, want %v", v, want.rounds)
		}
		if v := sum(t, got, "stampede.operations"); v != 5*want.rounds {
			t.Errorf("%v operations, want %v", v, 5*want.rounds)
		}
		h := got["stampede.phase.response.duration"].(metricdata.ExponentialHistogram[float64]).DataPoints[0]
		if h.Count != want.n || h.Sum < 0.99e-3*want.rounds || h.Sum > 1.01e-3*want.rounds {
			t.Errorf("%d passages of %v s in all, want %d of 1 ms each", h.Count, h.Sum, want.n)
		}
		if !slices.Equal(h.PositiveBucket.Counts, []uint64{want.n}) {
			t.Errorf("buckets %v from %d, want all in one", h.PositiveBucket.Counts, h.PositiveBucket.Offset)
		}
		live.Record = recorded(30)
	}
}

// An open loop's arrivals, the background load and the generator have metrics of their own, and
// gauges are 0 when the run is over.
func TestLoadIsToldOfByItself(t *testing.T) {
	var c export.Collector
	c.Begin(one, &soFar{recorded(100)})
	for _, want := range []map[string]float64{
		{"stampede.run.clients": 4, "stampede.arrivals.waiting": 7, "stampede.arrivals.lag": 3},
		{"stampede.run.clients": 0, "stampede.arrivals.waiting": 0, "stampede.arrivals.lag": 0},
	} {
		got := produced(t, &c)
		for name, v := range map[string]float64{"stampede.arrivals": 100, "stampede.background.operations": 1000, "stampede.background.arrivals": 0,
			"stampede.generator.cpu.time": 0.5, "stampede.generator.cpu.steal.time": 0.25, "stampede.generator.gc.pause.time": 1e-3} {
			if now := sum(t, got, name); now != v {
				t.Errorf("%s is %v, want %v", name, now, v)
			}
		}
		for name, v := range want {
			if now := got[name].(metricdata.Gauge[float64]).DataPoints[0].Value; now != v {
				t.Errorf("%s is %v, want %v", name, now, v)
			}
		}
		for _, name := range []string{"stampede.background.response.duration", "stampede.generator.lag.duration"} {
			if p := got[name].(metricdata.ExponentialHistogram[float64]).DataPoints; len(p) != 1 || p[0].Count != 100 {
				t.Errorf("%s: %+v, want 100 values", name, p)
			}
		}
		c.End(one, recorded(100))
	}
}

// Outcomes of arrivals have separate series, and so do the levels of a sweep of rates.
func TestArrivalsAndRatesAreToldApart(t *testing.T) {
	var c export.Collector
	for _, rate := range []string{"", "100/s", "200/s"} {
		r := one
		r.Rate = rate
		c.Begin(r, &soFar{recorded(100)})
	}
	seen := make(map[string]float64)
	for _, p := range produced(t, &c)["stampede.arrivals"].(metricdata.Sum[float64]).DataPoints {
		what, _ := p.Attributes.Value("stampede.arrival")
		rate, _ := p.Attributes.Value("stampede.rate")
		seen[strings.TrimSpace(what.AsString()+" "+rate.AsString())] = p.Value
	}
	want := map[string]float64{"on_time": 40, "late": 50, "skipped": 10, "on_time 100/s": 40, "late 100/s": 50, "skipped 100/s": 10,
		"on_time 200/s": 40, "late 200/s": 50, "skipped 200/s": 10}
	if !maps.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}

// A value is in the bucket whose bounds enclose it.
func TestBucketsHoldWhatIsPutIntoThem(t *testing.T) {
	var c export.Collector
	c.Begin(one, &soFar{recorded(1)})
	got := produced(t, &c)
	for name, value := range map[string]float64{"stampede.phase.response.duration": 1e-3, "stampede.write.fanout": 3} {
		p := got[name].(metricdata.ExponentialHistogram[float64]).DataPoints[0]
		low, high := bound(p.Scale, p.PositiveBucket.Offset), bound(p.Scale, p.PositiveBucket.Offset+1)
		if low > value || high < value*0.999 || high/low > 1.1 {
			t.Errorf("%s: %v lies in (%v, %v]", name, value, low, high)
		}
	}
}

func TestNothingBegunIsNothingShown(t *testing.T) {
	var c export.Collector
	c.End(one, recorded(1))
	if got := produced(t, &c); len(got) != 0 {
		t.Errorf("shows %v", got)
	}
}

// The metrics of runs, of a server and of an observation are exactly those of the table of figures, with its
// units and descriptions.
func TestMetricsAreThoseOfTheTable(t *testing.T) {
	var c export.Collector
	c.Begin(one, &soFar{recorded(1)})
	var got []figure.Exported
	for _, p := range []metric.Producer{&c, export.Native(backendtest.Member(t)), export.Observed("native", changed("/config"))} {
		scopes, err := p.Produce(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scopes {
			for _, m := range s.Metrics {
				got = append(got, figure.Exported{Name: m.Name, Unit: m.Unit, About: m.Description})
			}
		}
	}
	want := figure.Exports()
	for _, m := range want {
		if m.About == "" || m.Unit == "" {
			t.Errorf("%s says neither what it is nor in which unit", m.Name)
		}
	}
	byName := func(x, y figure.Exported) int { return cmp.Compare(x.Name, y.Name) }
	slices.SortFunc(got, byName)
	slices.SortFunc(want, byName)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPrometheusGetsThem(t *testing.T) {
	var c export.Collector
	s, err := export.Serve("127.0.0.1:0", &c)
	if err != nil {
		t.Fatal(err)
	}
	c.Begin(one, &soFar{recorded(7)})
	text := get(t, "http://"+s.Addr+"/metrics")
	about := `{stampede_backend="native",stampede_clients="4",stampede_family="naive",stampede_form="one-node",stampede_recipe="lock"}`
	for _, line := range []string{
		"stampede_rounds_total" + about + " 7",
		"stampede_run_clients" + about + " 4",
		"stampede_phase_response_duration_seconds_count{" + about[1:len(about)-len(`stampede_recipe="lock"}`)] + `stampede_phase="acquire",stampede_recipe="lock"} 7`,
		"# HELP stampede_rounds_total rounds completed",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in:\n%s", line, text)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get("http://" + s.Addr + "/metrics"); err == nil {
		t.Error("answers after it was closed")
	}
}

func TestServeSaysThatItCannot(t *testing.T) {
	var c export.Collector
	s, err := export.Serve("127.0.0.1:0", &c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := export.Serve(s.Addr, &c); err == nil {
		t.Error("two listen at one address")
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
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

func produced(t *testing.T, p metric.Producer) map[string]metricdata.Aggregation {
	t.Helper()
	scopes, err := p.Produce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]metricdata.Aggregation)
	for _, s := range scopes {
		for _, m := range s.Metrics {
			all[m.Name] = m.Data
		}
	}
	return all
}

func sum(t *testing.T, all map[string]metricdata.Aggregation, name string) (v float64) {
	t.Helper()
	for _, p := range all[name].(metricdata.Sum[float64]).DataPoints {
		v += p.Value
	}
	return v
}
