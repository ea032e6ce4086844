package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A summary of a result of any size is one line of less than 2 KB, which begins with the verdict and ends with the
// number of warnings.
func TestSummaryIsShort(t *testing.T) {
	large := resulttest.Gated()
	large.Runs, large.Gates = nil, nil
	for i := range 100 {
		scenario := fmt.Sprintf("scenario-%d-of-many-%s", i, strings.Repeat("é", 50))
		for _, r := range []results.Run{resulttest.Predecessor(128), resulttest.OneNode(128)} {
			r.Scenario = scenario
			r.Warnings = []results.Warning{{Code: "cpu-client-bound", Text: "the clients kept all cores busy"}}
			large.Runs = append(large.Runs, r)
		}
		failed := resulttest.Gated().Gates[0]
		failed.Subject, failed.Run = scenario, 2*i
		large.Gates = append(large.Gates, failed)
	}
	d := document.New(large)
	var b bytes.Buffer
	if err := writeSummary(&b, d, Options{}); err != nil {
		t.Fatal(err)
	}
	line := b.String()
	if len(line) >= 2048 || strings.Count(line, "\n") != 1 || !utf8.ValidString(line) {
		t.Errorf("%d bytes, %d lines, valid %v:\n%s", len(line), strings.Count(line, "\n"), utf8.ValidString(line), line)
	}
	if !strings.HasPrefix(line, d.Decision()) || !strings.HasSuffix(line, "… (200 warnings)\n") {
		t.Errorf("the verdict or the number of warnings is missing:\n%s", line)
	}
}
