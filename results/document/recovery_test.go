package document_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// broken returns runs of both forms with the same faults, and one with fewer clients that never
// recovered.
func broken() []results.Run {
	schedule := []string{"at=10s kill leader for=5s", "at=30s cut clients=all"}
	after := func(seconds float64) *time.Duration {
		d := time.Duration(seconds * float64(time.Second))
		return &d
	}
	run := func(form, family string, clients int, slower float64, notifications int64) results.Run {
		r := resulttest.Sample{Form: form, Family: family, Clients: clients, Rounds: 5000, Notif: 1, Reads: 3, Writes: 2, Handoff: time.Millisecond,
			Acquire: 20 * time.Millisecond, Fanout: 1}.Record()
		r.Disturbed = true
		r.Breaks = []metrics.Break{{At: 10 * time.Second, What: "kill member 2, the leader"}, {At: 15 * time.Second, What: "restart member 2, the leader"},
			{At: 30 * time.Second, What: "cut 32 of 32 clients"}}
		r.Recoveries = []metrics.Recovery{
			{Break: r.Breaks[0], Span: 20 * time.Second, Noticed: after(0.003), Led: after(1.2), Reconnected: after(1.9 * slower),
				Effect: metrics.Outage, Detectable: 45 * time.Millisecond, Pause: after(2.1 * slower),
				Served: after(2.1 * slower), Stall: after(2.3 * slower), LongestStall: after(2.9 * slower), Usual: 40 * time.Millisecond, Back: after(2.4 * slower),
				Before: 650, After: 600, Disconnected: clients, Counts: metrics.Counts{Notifications: notifications, Reads: 3 * notifications, Rearms: int64(clients)}},
			{Break: r.Breaks[2], Span: 10 * time.Second, Noticed: after(0.001), Reconnected: after(0.01), Effect: metrics.NoEffect, Detectable: 45 * time.Millisecond,
				LongestStall: after(0.09), Disconnected: clients, Counts: metrics.Counts{Notifications: 650, Reads: 1950, Rearms: int64(clients)}},
		}
		return results.FromRecord(results.Setting{Recipe: "lock", Form: form, Family: family, Backend: resulttest.Native(), Clients: clients, Hold: time.Millisecond, Faults: schedule}, r)
	}
	never := run("predecessor", "recipe", 2, 1, 5)
	first := &never.Faults.Recovery[0]
	first.LedNS, first.ReconnectedNS, first.ServedNS, first.BackNS, first.PauseNS = nil, nil, nil, nil, after(20)
	return []results.Run{never, run("predecessor", "recipe", 32, 1, 31), run("one-node", "naive", 32, 1.4, 9000)}
}

func TestRecoveryTable(t *testing.T) {
	runs := broken()
	f := results.File{Head: results.Head{Command: []string{"stampede", "run"}, Seed: 42, Took: time.Minute}, Runs: runs}
	wantText(t, f, render.Options{}, "faults.txt")
	if tables := document.New(f).Tables; len(tables) != 2 || len(tables[1].Rows) != 6 {
		t.Errorf("%d tables for other formats, want the runs' and that of the faults", len(tables))
	}
}

// The sentence says what a fault did, and claims nothing that the measurements cannot show.
func TestOutages(t *testing.T) {
	const after = `lock/predecessor: after "kill member 2, the leader" `
	for _, c := range []struct {
		change func(r *results.Recovery)
		want   string
	}{
		{func(*results.Recovery) {}, "no client was served for 2.10 s; after 2.40 s a second saw nine tenths of what was done before."},
		{func(r *results.Recovery) { r.Phase = "write" }, "no write ended for 2.10 s, while other operations did; after 2.40 s a second saw nine tenths of what was done before."},
		{func(r *results.Recovery) { r.BackNS = nil }, "no client was served for 2.10 s; no second until the next fault or the end saw nine tenths of what was done before."},
		{func(r *results.Recovery) { r.ServedNS, r.BackNS = nil, nil }, "no client was served for 2.10 s, until the next fault or the end."},
		{func(r *results.Recovery) { r.Effect, r.PauseNS = "none", nil }, "there was no measurable outage; one longer than 45.0 ms would have been seen."},
		{func(r *results.Recovery) { r.Effect, r.PauseNS = "unclear", nil }, "it is unclear whether there was an outage: too little happened before or after, or one was in progress."},
		{func(r *results.Recovery) { r.Effect, r.PauseNS = "slowdown", nil }, "there was no measurable outage, but fewer than half as many grants a second as before; after 2.40 s a second saw nine tenths of what was done before."},
	} {
		r := broken()[1]
		r.Faults.Recovery = r.Faults.Recovery[:1]
		c.change(&r.Faults.Recovery[0])
		if got := document.New(resulttest.FileOf(r)).Findings; len(got) != 1 || got[0] != after+c.want {
			t.Errorf("got  %q\nwant %q", got, after+c.want)
		}
	}
}

// A client that believed it held while others held is reported, with the token that refuses it.
func TestBeliefs(t *testing.T) {
	r := broken()[1]
	for _, c := range []struct {
		overlaps int64
		tokens   bool
		want     string
	}{
		{0, true, ""},
		{1, true, "lock/predecessor: a holder that was away still believed that it held while another client held: its fencing token is older, so a resource can refuse it."},
		{2, false, "lock/predecessor: 2 holders that were away still believed that they held while another client held: the form has no fencing token, so a resource cannot refuse it."},
	} {
		r.Safety.BeliefOverlaps, r.Safety.Tokens = c.overlaps, c.tokens
		if got := strings.Join(document.New(resulttest.FileOf(r)).Findings[1:], "\n"); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// TestRecoveriesSayHowWellTheirTimesAreKnown has times of several machines.
func TestRecoveriesSayHowWellTheirTimesAreKnown(t *testing.T) {
	run := results.Run{Faults: &results.Breakage{ErrorNS: 40 * time.Microsecond, Recovery: []results.Recovery{{Break: results.Break{AtNS: time.Second, What: "kill member 1"}}}}}
	for said, runs := range map[bool][]results.Run{true: {run}, false: {{Faults: &results.Breakage{}}, {}}} {
		got := ""
		for _, table := range document.New(results.File{Runs: runs}).Tables {
			got += strings.Join(table.Notes, "\n")
		}
		if (got == "several machines noted what the faults did: each time is known within ±40.0 µs") != said {
			t.Errorf("got %q", got)
		}
	}
}
