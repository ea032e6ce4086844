package document

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
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
			"  generator: up to 300 000 requests/s, 75.0 % of the 400 000 that it makes with the client lean of a server that does nothing\n"},
		{[]results.Run{run(100_000, 0)}, ""},
		{nil, ""},
	} {
		var b strings.Builder
		nearness(&b, c.runs)
		if got := strings.ReplaceAll(b.String(), "\u202f", " "); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
