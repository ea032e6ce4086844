package export_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/results/figure"
)

// The table of dashboards/README.md has exactly one row for each metric, with the attribute
// that distinguishes its parts.
func TestEveryMetricIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../dashboards/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var c export.Collector
	c.Begin(one, &soFar{recorded(10)})
	shown := produced(t, &c)
	maps.Copy(shown, produced(t, export.Native(backendtest.Member(t))))
	seen := changed("/config")
	seen.Missed(traffic.Undecoded{Cause: traffic.Late, Bytes: 1})
	maps.Copy(shown, produced(t, export.Observed("native", seen)))
	var want []string
	for _, m := range figure.Exports() {
		want = append(want, fmt.Sprintf("| `%s` | `%s` | %s | %s |", m.Name, m.Unit, parts(shown[m.Name]), m.About))
	}
	got := regexp.MustCompile("(?m)^\\| `stampede\\..*$").FindAllString(string(text), -1)
	if !slices.Equal(got, want) {
		t.Errorf("the rows are not those of the metrics, which are\n%s", strings.Join(want, "\n"))
	}
}

// parts returns the attribute that distinguishes the data points of one run or server, with its
// values. It leaves out the values for a phase and a request, which depend on the recipe
// and on the program.
func parts(data metricdata.Aggregation) string {
	var key attribute.Key
	var values []string
	for _, set := range sets(data) {
		for _, kv := range set.ToSlice() {
			if slices.Contains([]attribute.Key{"stampede.recipe", "stampede.form", "stampede.family", "stampede.backend", "stampede.clients", "stampede.path"}, kv.Key) {
				continue
			}
			key, values = kv.Key, append(values, kv.Value.AsString())
		}
	}
	switch key {
	case "":
		return ""
	case "stampede.phase", "stampede.request", "stampede.cause":
		return fmt.Sprintf("`%s`", key)
	}
	return fmt.Sprintf("`%s`: %s", key, strings.Join(values, ", "))
}

func sets(data metricdata.Aggregation) (all []attribute.Set) {
	switch d := data.(type) {
	case metricdata.Sum[float64]:
		all = setsOf(d.DataPoints)
	case metricdata.Sum[int64]:
		all = setsOf(d.DataPoints)
	case metricdata.Gauge[int64]:
		all = setsOf(d.DataPoints)
	case metricdata.ExponentialHistogram[float64]:
		for _, p := range d.DataPoints {
			all = append(all, p.Attributes)
		}
	}
	return all
}

func setsOf[V int64 | float64](points []metricdata.DataPoint[V]) (all []attribute.Set) {
	for _, p := range points {
		all = append(all, p.Attributes)
	}
	return all
}
