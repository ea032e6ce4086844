package results_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// Programs act on the code of a warning, so each warning has one.
func TestWarningsHaveCodes(t *testing.T) {
	starved := metrics.Warning{Code: metrics.Starved, Names: metrics.Names{"phase": "acquire"}, Numbers: metrics.Numbers{"late_p99_ns": 20.04e6, "phase_p99_ns": 31e6}}
	run := results.FromRecord(results.Setting{}, &metrics.Record{Warnings: []metrics.Warning{starved}, Doubts: []metrics.Warning{starved}})
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"code":"cpu-starved","text":"load generator short of CPU: 1 % of its timers fired 20.0 ms late or later, so latencies are overstated by up to that much; the 99th percentile of acquire is 31.0 ms",` +
		`"numbers":{"late_p99_ns":20040000,"phase_p99_ns":31000000},"names":{"phase":"acquire"}}]`
	for _, field := range []string{`"warnings":`, `"doubts":`} {
		if !strings.Contains(string(text), field+want) {
			t.Errorf("no %s%s in %s", field, want, text)
		}
	}
	var again results.Run
	if err := json.Unmarshal(text, &again); err != nil || !cmp.Equal(again.Warnings, run.Warnings) {
		t.Errorf("written and read again: %v, %v", again.Warnings, err)
	}
}
