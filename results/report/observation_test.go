package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
)

// hostile is a path that a program under observation has chosen.
const hostile = `/locks/<script>alert("x")</script>`

func watched() results.Observation {
	measured, limit := 23.0, 5.0
	o := results.NewObservation(results.Tool{Version: "1.2.3"})
	o.Backend, o.Source = "native:", "proxy"
	o.Observed = observe.Report{
		Duration: 41 * time.Second,
		Traffic:  observe.Traffic{Clients: 3, Sessions: 24, Requests: 18203, Changes: 46, FanoutP50: 1, FanoutMax: 23},
		Places: []observe.Place{{Path: hostile, Sessions: 24, Changes: 6, FanoutP50: 23, FanoutMax: 23,
			Form: &observe.Form{Name: "lock or election, one node", Herd: true, Instead: "predecessor", Wakes: 1, Evidence: "24 sessions watch " + hostile}}},
		Operations: []observe.Operation{{Name: "create", Requests: 140}},
	}
	o.Gates = []results.Gate{{Text: "fanout.max <= 5", Subject: hostile, Op: "<=", Measured: &measured, Limit: &limit, Verdict: results.Fail}}
	o.Verdict = results.Fail
	return o
}

// The page of an observation has its finding, thresholds and tables, and shows what programs have
// chosen as text.
func TestObservation(t *testing.T) {
	page, _ := written(t, watched())
	for _, want := range []string{"HERD: one change of /locks/", "<code>fanout.max &lt;= 5</code>", "≤ 5", ">Paths</caption>", ">Operations</caption>",
		"All traffic was seen and analysed.", "&lt;script&gt;alert"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, "<script>alert") {
		t.Error("a path became a script")
	}
	lossy := watched()
	lossy.PacketsDropped, lossy.Dropped = 7, 3000
	page, _ = written(t, lossy)
	if !strings.Contains(page, "The kernel dropped 7 packets") || strings.Contains(page, "All traffic was seen") {
		t.Error("the page does not say that packets were dropped")
	}
}
