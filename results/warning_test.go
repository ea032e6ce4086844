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
	const want = `[{"code":"cpu-starved","text":"generator short of CPU: latencies are too high by up to 20.0 ms (timers late, p99); acquire p99 is 31.0 ms",` +
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

// A warning that nodes remain has the command that removes them.
func TestRemainingNodes(t *testing.T) {
	names := metrics.Names{"path": "/other/2fcd24ea948f", "why": "context deadline exceeded", "backend": "zookeeper://zk1:2181?client=lean", "namespace": "/other"}
	got := results.WarningOf(metrics.Warning{Code: metrics.NodesRemain, Names: names}).Text
	const want = "nodes may remain below /other/2fcd24ea948f (context deadline exceeded): " +
		"remove them with stampede clean --backend 'zookeeper://zk1:2181?client=lean' --namespace '/other'"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	names["namespace"] = "/stampede"
	if got := results.WarningOf(metrics.Warning{Code: metrics.NodesRemain, Names: names}).Text; !strings.HasSuffix(got, "client=lean'") {
		t.Errorf("default namespace: %s", got)
	}
}
