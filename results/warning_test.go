package results

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
)

// Programs act on the code of a warning, so each warning has one.
func TestWarningsHaveCodes(t *testing.T) {
	starved := metrics.Warn(metrics.Starved, "late by %v", 20)
	run := FromRecord(Setting{}, &metrics.Record{Warnings: []metrics.Warning{starved}, Doubts: []metrics.Warning{starved}})
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"warnings":[{"code":"cpu-starved","text":"late by 20"}]`, `"doubts":[{"code":"cpu-starved","text":"late by 20"}]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// In older files a warning was only its text, and a doubt had a kind.
func TestWarningsOfOlderFilesAreRead(t *testing.T) {
	const old = `{"schema": 1, "runs": [{"warnings": ["late", "lost"],
		"doubts": [{"kind": "starved", "text": "late"}, {"kind": "skipped", "text": "lost"}]}]}`
	f, err := Read(strings.NewReader(old))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Warning{{"", "late"}, {"", "lost"}}, f.Runs[0].Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	doubts := []Warning{{metrics.Starved, "late"}, {metrics.Skipped, "lost"}}
	if diff := cmp.Diff(doubts, f.Runs[0].Doubts); diff != "" {
		t.Errorf("doubts (-want +got):\n%s", diff)
	}
	var b bytes.Buffer
	if err := f.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if again, err := Read(&b); err != nil || !cmp.Equal(again.Runs[0].Doubts, doubts) {
		t.Errorf("written and read again: %v, %v", again.Runs, err)
	}
	for _, bad := range []string{`{"schema": 2, "runs": [{"warnings": [7]}]}`, `{"schema": 2, "runs": [{"warnings": [{"text": 7}]}]}`} {
		if _, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
