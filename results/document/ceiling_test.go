package document_test

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
)

// nearness reports the run closest to its ceiling, and nothing if no run has a ceiling.
func TestNearnessToTheCeiling(t *testing.T) {
	run := func(requests, ceiling float64) results.Run {
		return results.Run{Backend: results.Backend{Client: "lean"}, Generator: results.Generator{RequestsPerS: requests, CeilingPerS: ceiling}}
	}
	for _, c := range []struct {
		runs []results.Run
		want string
	}{
		{[]results.Run{run(100_000, 400_000), run(300_000, 400_000), run(500_000, 0)},
			"generator: up to 300 000 requests/s, 75.0 % of the 400 000 that it makes with the client lean of a server that does nothing"},
		{[]results.Run{run(100_000, 0)}, ""},
		{nil, ""},
	} {
		got := ""
		for _, n := range document.New(results.File{Runs: c.runs}).Notes {
			if strings.HasPrefix(n.Text, "generator") {
				got = strings.ReplaceAll(n.Text, "\u202f", " ")
			}
		}
		if got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
