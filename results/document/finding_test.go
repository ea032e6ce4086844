package document

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/results"
)

// A form keeps up if no more arrivals are missing at the end than Little's law puts in progress. A
// form whose queue grows does not keep up, even if all arrivals are served later.
func TestKeepsUp(t *testing.T) {
	for name, c := range map[string]struct {
		offered, ended float64 // per second, in five seconds
		service        time.Duration
		keepsUp        bool
	}{
		"all done":              {800, 800, 10 * time.Millisecond, true},
		"one in progress":       {2, 1.8, 100 * time.Millisecond, true},
		"as many as usual":      {800, 745, 300 * time.Millisecond, true},
		"a queue that grows":    {150, 100, 830 * time.Millisecond, false},
		"ten percent are short": {800, 720, 10 * time.Millisecond, false},
		"an eighth":             {1500, 188, 5 * time.Millisecond, false},
	} {
		r := results.Run{Loop: "open", OfferedPerS: c.offered, ThroughputPerS: c.ended, DurationNS: 5 * time.Second, Phases: []string{"acquire"},
			Latency: map[string]results.Latency{"acquire": {Service: &results.Distribution{Mean: float64(c.service)}, Response: &results.Distribution{Mean: 3e9}}}}
		if line := keepsUp(r); strings.Contains(line, "keeps up") != c.keepsUp {
			t.Errorf("%s: %q", name, line)
		}
	}
}
