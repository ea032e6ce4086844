package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/golden"
)

// The output of go test for packages that pass, fail, do not compile, end early, come from the
// cache or have no tests becomes a readable report.
func TestReport(t *testing.T) {
	events, err := os.Open("testdata/events.json")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	var page strings.Builder
	r := newReport(&page)
	if err := r.read(events); err != nil {
		t.Fatal(err)
	}
	r.finish(75 * time.Second)
	golden.Compare(t, "testdata/report.txt", []byte(page.String()))
}

func TestReason(t *testing.T) {
	for _, c := range []struct {
		output []string
		want   string
	}{
		{[]string{"=== RUN   TestA\n", "    a_test.go:7: no Docker engine: it is not installed\n", "--- SKIP: TestA (0.00s)\n"}, "no Docker engine: it is not installed"},
		{[]string{"    testscript.go:597: # a script (0.000s)\n", "        > [short] skip 'long test'\n", "--- SKIP: TestA/b (0.00s)\n"}, "long test"},
		{[]string{"=== RUN   TestA\n", "--- SKIP: TestA (0.00s)\n"}, "no reason given"},
	} {
		if got := reason(c.output); got != c.want {
			t.Errorf("reason %q, want %q", got, c.want)
		}
	}
}
