package results_test

import (
	"bytes"
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

// In older files a warning was only its text, and a doubt had a kind.
func TestWarningsOfOlderFilesAreRead(t *testing.T) {
	const old = `{"schema": 1, "runs": [{"warnings": ["late", "lost"],
		"doubts": [{"kind": "starved", "text": "late"}, {"kind": "skipped", "text": "lost"}]}]}`
	f, err := results.Read(strings.NewReader(old))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]results.Warning{{Code: "", Text: "late"}, {Code: "", Text: "lost"}}, f.Runs[0].Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	doubts := []results.Warning{{Code: metrics.Starved, Text: "late"}, {Code: metrics.Skipped, Text: "lost"}}
	if diff := cmp.Diff(doubts, f.Runs[0].Doubts); diff != "" {
		t.Errorf("doubts (-want +got):\n%s", diff)
	}
	var b bytes.Buffer
	if err := f.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if again, err := results.Read(&b); err != nil || !cmp.Equal(again.Runs[0].Doubts, doubts) {
		t.Errorf("written and read again: %v, %v", again.Runs, err)
	}
	for _, bad := range []string{`{"schema": 2, "runs": [{"warnings": [7]}]}`, `{"schema": 2, "runs": [{"warnings": [{"text": 7}]}]}`} {
		if _, err := results.Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
