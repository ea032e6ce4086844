package document_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
)

// costly is an observation at all thresholds of the findings.
func costly() observation.Report {
	return observation.Report{
		Duration: 10 * time.Second,
		Traffic:  observation.Traffic{Requests: 100, Changes: 1, FanoutP50: 1, FanoutMax: 1, Lost: 2},
		Places: []observation.Place{{Path: "/members", Askers: 64, Requests: 100, Writes: 100, FailedWrites: 51}, {Path: "/half", Requests: 100, Writes: 100, FailedWrites: 50, Missed: new(int64(1)), Unasked: new(int64(2))}, {Path: "/flag", Requests: 19, Polls: 12, PollsSame: 10, PollEvery: new(int64(2e9))},
			{Path: "/line/n-#", Requests: 59, Writes: 40, Rounds: observation.Rounds{Times: 10, Requests: 30, Behind: 10, Asked: 2e6, Held: 4e6}}},
		Rearming: client.Rearming{Reconnects: 12, Watches: 1200, MostReconnects: 10, MostWatches: 1000},
		Churn:    client.Churn{Opened: 100, Closed: 75, ShortLived: 60, MostAtOnce: 25},
		Standing: []observation.Standing{{Path: "/item/#", Watches: 1000, AgeP50: time.Minute, Oldest: time.Hour}},
	}
}

func TestFindingsInWords(t *testing.T) {
	want := []string{
		"No herd: a change wakes 1 session at the median and at most 1.",
		"NOT TOLD: changes of /half passed 1 watch without a notification.",
		"TOLD TWICE: 2 notifications of /half belong to no watch.",
		"FAILED WRITES: 51 of 100 writes of /members failed.",
		"EXPIRED: 2 sessions had no connection for longer than the time-out.",
		"POLLING: 10 of 19 requests for /flag repeat a read that returned the same as before, 2.00 s after it at the median.",
		"POLLING: 30 of 59 requests for /line/n-# create a node in a line, list that without a watch and delete the node again, as the same session had done before; in 10 of 10 rounds it was not the first.",
		"RE-ARM STORM: within one second 10 reconnected sessions armed 1\u202f000 watches again.",
		"SESSION CHURN: 100 sessions were opened and 75 closed (10.0 and 7.5 per second), and at most 25 were open at once.",
		"  80 % of those closed lived shorter than their time-out. Each open and close is a write.",
		"STANDING WATCHES: 1\u202f000 watches on /item/# were armed 1m0s ago at the median, the oldest 1h0m0s ago, and have not fired.",
	}
	if got := document.New(results.Observation{Observed: costly()}).Findings; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var titles []string
	for _, table := range document.New(results.Observation{Observed: costly()}).Tables {
		titles = append(titles, table.Title)
	}
	if want := []string{"paths", "requests to", "polled paths", "armed again", "sessions", "standing watches"}; !slices.Equal(titles, want) {
		t.Errorf("got the tables %q, want %q", titles, want)
	}
}

// TestEventsInWords checks how the table of events names causes, and that it leaves out those that are one
// change of one path.
func TestEventsInWords(t *testing.T) {
	several := func(op string, paths ...string) causality.Event {
		return causality.Event{Op: op, Paths: paths, Several: true}
	}
	long := "/services/" + strings.Repeat("orders-", 8) + "members"
	r := observation.Report{Events: causality.Events{Count: 5, AtRest: 10, AtRestPerS: 2, Largest: []causality.Event{
		several("expire", "/app/leader", "/app/members/n#"), several("close", "/a/b"),
		several("multi", "/a", "/b", "/c"), several("", long),
		{Op: "set", Paths: []string{"/alone"}}, several("set", "/config"), several("delete", "/sixth")}}}
	r.Duration, r.Traffic.Requests = 5*time.Second, 100
	d := document.New(results.Observation{Observed: r})
	want := []string{"session expired: /app/leader, …/members/n#", "session closed: /a/b",
		"transaction: /a and 2 more",
		"unseen change of /services/ord…orders-members", "set /config"}
	var got []string
	for _, row := range d.Tables[0].Rows {
		got = append(got, row[0])
	}
	if d.Tables[0].Title != "largest events" || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	all, rest := notes(results.Observation{Observed: r}), "at rest, apart from 5 events: 10 of 100 requests, 2.00 /s over 5.00 s"
	if !strings.Contains(all, rest) {
		t.Errorf("got %q, want %q", all, rest)
	}
	r.Events.Largest = []causality.Event{{Op: "set", Paths: []string{"/alone"}}}
	if d := document.New(results.Observation{Observed: r}); len(d.Tables) > 0 {
		t.Errorf("got %+v, want no table", d.Tables)
	}
}

// TestWarningsSayWhatWasLeftOut checks that there is a warning for each count of what was lost or is beyond the
// limits, and that the document says that all was seen otherwise.
func TestWarningsSayWhatWasLeftOut(t *testing.T) {
	r := costly()
	if d := document.New(results.Observation{Observed: r}); len(d.Warnings) > 0 || notes(results.Observation{Observed: r}) != "all traffic was seen and analysed" {
		t.Errorf("nothing was left out, got %q, %q", d.Warnings, d.Notes)
	}
	r.Traffic.Undecoded = []traffic.Undecoded{
		{Cause: traffic.Late, Bytes: 3000, Connections: 2}, {Cause: traffic.Dropped, Packets: 7},
		{Cause: traffic.Bypass, Connections: 1, Names: []string{"zk1:2181", "zk2:2181"}},
		{Cause: traffic.Words, Bytes: 8, Connections: 1}, // counts no
	}
	r.Traffic.Joined, r.Traffic.Unfollowed = 8, 9
	r.Traffic.Beyond = observation.Beyond{Connections: 1, Sessions: 2, Nodes: 3, Requests: 4, Early: 5, Paths: 6}
	o := results.Observation{Observed: r}
	var got []string
	for _, w := range document.New(o).Warnings {
		got = append(got, w.Text)
	}
	want := []string{
		"counts may be too low, as not all traffic was analysed: 2.93 KiB of 2 connections: the analysis was late; " +
			"7 packets: dropped by the kernel, because the capture was late; " +
			"1 connection: a client asked for the list of members, whose addresses are not observed: zk1:2181, zk2:2181",
		"9 watches were not followed: it is not known what they caused",
		"8 connections joined in the middle: what came before was not seen",
		"1 connection not followed: more than are kept", "2 sessions not followed: more than are kept", "3 nodes not followed: more than are kept",
		"4 requests not followed: more than are kept", "5 changes or notifications decided early",
	}
	if !slices.Equal(got, want) || notes(o) != "" {
		t.Errorf("got %q and %q, want %q", got, notes(o), want)
	}
}

// TestNothingIsFoundBelowAThreshold spoils one condition of each finding after the other.
func TestNothingIsFoundBelowAThreshold(t *testing.T) {
	for name, c := range map[string]struct {
		gone, table string
		spoil       func(*observation.Report)
	}{
		"few polls":      {"repeat a read", "polled paths", func(r *observation.Report) { r.Places[2].PollsSame = 9 }},
		"small share":    {"repeat a read", "polled paths", func(r *observation.Report) { r.Places[2].Requests = 20 }},
		"few met":        {"create a node in a line", "", func(r *observation.Report) { r.Places[3].Rounds.Behind = 9 }},
		"most met none":  {"create a node in a line", "", func(r *observation.Report) { r.Places[3].Rounds.Times = 41 }},
		"nodes are held": {"create a node in a line", "", func(r *observation.Report) { r.Places[3].Rounds.Held++ }},
		"few in rounds":  {"create a node in a line", "", func(r *observation.Report) { r.Places[3].Requests = 60 }},
		"half failed":    {"FAILED", "", func(r *observation.Report) { r.Places[0].FailedWrites = 50 }},
		"few failed":     {"FAILED", "", func(r *observation.Report) { r.Places[0].Writes, r.Places[0].FailedWrites = 49, 49 }},
		"none expired":   {"EXPIRED", "", func(r *observation.Report) { r.Traffic.Lost = 0 }},
		"few reconnects": {"RE-ARM", "armed again", func(r *observation.Report) { r.Rearming.MostReconnects = 9 }},
		"few watches":    {"RE-ARM", "armed again", func(r *observation.Report) { r.Rearming.MostWatches = 999 }},
		"few sessions":   {"CHURN", "sessions", func(r *observation.Report) { r.Churn.Opened, r.Churn.MostAtOnce, r.Duration = 19, 1, time.Second }},
		"few a second":   {"CHURN", "sessions", func(r *observation.Report) { r.Duration += time.Millisecond }},
		"many at once":   {"CHURN", "sessions", func(r *observation.Report) { r.Churn.MostAtOnce = 26 }},
		"long sessions":  {"CHURN", "sessions", func(r *observation.Report) { r.Churn.ShortLived = 37 }},
		"few standing":   {"STANDING", "standing watches", func(r *observation.Report) { r.Standing[0].Watches = 999 }},
		"young watches":  {"STANDING", "standing watches", func(r *observation.Report) { r.Standing[0].AgeP50 = 59 * time.Second }},
	} {
		r := costly()
		c.spoil(&r)
		f := results.Observation{Observed: r}
		found := document.New(f).Findings
		if len(found) < 3 || strings.Contains(strings.Join(found, "\n"), c.gone) {
			t.Errorf("%s: got %q, want all findings but %s", name, found, c.gone)
		}
		for _, table := range document.New(f).Tables {
			if table.Title == c.table {
				t.Errorf("%s: there is a table %q", name, c.table)
			}
		}
	}
}
