package document

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
)

// A percentile that is known from when the work was due may be unknown from the call: arrivals that no
// client served count in the former only. A finding does not say 0 of a time that is not known.
func TestOfferCitesWhatIsKnown(t *testing.T) {
	p50 := int64(141e6)
	r := results.Run{Loop: "open", Open: &results.Open{Rate: "8"}, Clients: 1, Recipe: "lock", Form: "predecessor", OfferedPerS: 8,
		ThroughputPerS: 6.5, DurationNS: 3 * time.Second, Phases: []string{"acquire"}, Generator: results.Generator{Skipped: 3},
		Latency: map[string]results.Latency{"acquire": {Service: &results.Distribution{}, Response: &results.Distribution{P50: &p50}}}}
	runs := []results.Run{r}
	const want = "acquire p50 is 141 ms from when it was due, n/a from the call."
	if line := offer(r, runs, levels.ShownOf(nil, runs)); !strings.HasSuffix(line, want) {
		t.Errorf("%q, want %q", line, want)
	}
	r.Mix, r.ReadRatio, r.Latency = &results.Mix{}, &results.ReadRatio{}, nil
	if lines := mixes([]results.Run{r}, levels.ShownOf(nil, runs)); strings.Contains(lines[0], "due") {
		t.Errorf("%q says from when a time counts that it does not have", lines[0])
	}
}

// A notification that was not delivered as promised comes before what the recipe found because of it. Each check keeps
// its own detail, and why the run ended early comes last.
func TestDeliveryComesFirst(t *testing.T) {
	const cause, consequence = "watch delivery: two notifications for data changed of /node", "client 4 was notified of write 9, which was not made"
	const ended = "the run ended early: client 3: fanout/one-shot: no such node"
	r := results.Run{Recipe: "fanout", Form: "one-shot", Clients: 4, Safety: results.Safety{Checked: 90, Violations: 44, Notifications: 50, Undelivered: 1,
		Details: []string{consequence, "another", cause, "watch delivery: another", ended}}}
	lines := violations([]results.Run{r})
	if len(lines) != 4 || lines[1] != "  "+cause || lines[2] != "  "+consequence || lines[3] != "  "+ended {
		t.Errorf("%q", lines)
	}
	if c := (Check{}).safety(r.Safety, 0); !strings.HasSuffix(c.Why, "void: "+consequence+"; "+ended) {
		t.Errorf("safety: %q", c.Why)
	}
	if c := (Check{}).delivery(r.Safety, 0); !strings.HasSuffix(c.Why, "void: two notifications for data changed of /node") {
		t.Errorf("delivery: %q", c.Why)
	}
	r.Safety.Details = nil // what an older file has
	if c := (Check{}).delivery(r.Safety, 0); !strings.HasSuffix(c.Why, "void") {
		t.Errorf("delivery without details: %q", c.Why)
	}
}

// A service that went away comes first, and nothing after it says that it kept up.
func TestALostServiceComesFirst(t *testing.T) {
	gone := results.Warning{Code: metrics.ServiceLost, Text: "service lost: it last answered 5.00 s after the window opened; 12.0 s later all 4 sessions had ended"}
	for _, open := range []*results.Open{nil, {Rate: "8"}} {
		r := results.Run{Open: open, Clients: 4, Recipe: "lock", Form: "predecessor", OfferedPerS: 8, ThroughputPerS: 8, DurationNS: 17 * time.Second, Rounds: 40,
			Phases: []string{"acquire"}, Cost: results.Cost{PerRound: &results.PerRound{}}, Doubts: []results.Warning{gone}}
		lines := runFindings(results.File{Runs: []results.Run{r}})
		const want = "SERVICE LOST: lock/predecessor with 4 clients: it last answered 5.00 s after the window opened; 12.0 s later all 4 sessions had ended."
		if lines[0] != want || len(lines) < 2 || strings.Contains(strings.Join(lines, " "), "keep") {
			t.Errorf("%q", lines)
		}
	}
}
