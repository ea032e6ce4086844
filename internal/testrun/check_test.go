package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/golden"
)

// A record has what failed, what passed alone and what was skipped, with reasons.
func TestRecordOfAReport(t *testing.T) {
	events, err := os.ReadFile("testdata/events.json")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := reportOf(t, string(events))
	for _, f := range repeatable(r.failures) {
		r.passedAlone(f)
	}
	done := recordOf(r, "race", state{commit: "0123456789abcdef", changed: true})
	done.Ended, done.Seconds, done.Cores = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 75, 2
	path := filepath.Join(t.TempDir(), "checks.jsonl")
	if err := done.add(path); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/record.json", line)
}

// The table has the newest record of each part, and what failed in it.
func TestListOfChecks(t *testing.T) {
	const older = `{"part":"race","commit":"aaaaaaaaaaaa","ended":"2026-01-01T00:00:00Z","seconds":10,"cores":2,"passed":1,"failed":["a TestA: gone"]}` + "\n"
	const newer = `{"part":"race","commit":"bbbbbbbbbbbb","changed":true,"ended":"2026-01-02T03:04:05Z","seconds":75,"cores":2,"passed":12}` + "\n" +
		`{"part":"etcd","commit":"cccccccccccc","ended":"2026-01-02T03:04:05Z","seconds":75,"cores":2,"passed":12,"failed":["b TestB: 1, want 2"],"flaky":["c TestC: late"],"skipped":{"no Chromium":3}}` + "\n"
	newest, err := newestChecks(strings.NewReader(older + newer))
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	since := func(commit string) string { return map[byte]string{'b': "0", 'c': "n/a"}[commit[0]] }
	if err := printChecks(&page, newest, since); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/checks.txt", []byte(page.String()))

	if _, err := newestChecks(strings.NewReader(older + "{")); err == nil || !strings.HasPrefix(err.Error(), ".ci/checks.jsonl, line 2: ") {
		t.Errorf("half a line: %v", err)
	}
}
