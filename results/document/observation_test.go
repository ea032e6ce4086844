package document_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// observed is an observation of a lock on one node and of a queue.
func observed() observation.Report { return resulttest.Observation().Observed }

func TestText(t *testing.T) {
	f := results.Observation{Backend: "zookeeper://zk1:2181", Source: "proxy", Observed: observed(), Projected: 1000}
	f.Gates, f.Verdict = resulttest.JudgePaths(t, "/controller: fanout.max <= 5")
	program, exit := "go", 0
	f.Program, f.Exit = &program, &exit
	wantText(t, f, render.Options{}, "observation.txt")
}

// On a terminal findings are bold, and verdicts of thresholds have their colours.
func TestTextInColour(t *testing.T) {
	f := results.Observation{Observed: observed()}
	f.Gates, f.Verdict = resulttest.JudgePaths(t, "fanout.max <= 23", "fanout.max <= 22", "/controler: fanout.max <= 5")
	text := textOf(t, f, render.Options{Color: true})
	for _, want := range []string{
		"\x1b[1mHERD: one change of /controller wakes up to 23 of 24 sessions.\x1b[0m\n",
		" \x1b[1;32mpass\x1b[0m\n", " \x1b[1;31mfail\x1b[0m\n", " \x1b[1;33minvalid\x1b[0m\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestUnrecognisedFormsAreNotCalledHarmless checks that a large fan-out of an unknown form is
// reported as not known.
func TestUnrecognisedFormsAreNotCalledHarmless(t *testing.T) {
	r := observed()
	r.Places[0].Form, r.Places[0].Useful, r.Places[0].Wasted = nil, nil, nil
	got := strings.Join(document.New(results.Observation{Observed: r}).Findings, "\n")
	if want := "NOT KNOWN: one change of /controller wakes up to 23 of 24 sessions; its form is not recognised."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestClientsAreShown checks the heading, which says by what sessions were told apart and of how many
// clients they were, and the table of clients, which has those with most requests if there are several.
func TestClientsAreShown(t *testing.T) {
	of := func(pid int, requests, sessions int64) client.Row {
		r := client.Row{Address: "10.0.0.5", Connections: 2, Sessions: sessions, Requests: requests, Notifications: 3}
		if pid > 0 {
			r.Process = &client.Process{ID: pid, Name: "python3"}
		}
		return r
	}
	others := of(0, 2, 1)
	others.Address = ""
	for name, c := range map[string]struct {
		by   client.Counts
		rows []client.Row
		head string
		want []string // the names in the table
		note string
	}{
		"one process": {client.Counts{Numbered: 8}, []client.Row{of(7, 8, 8)}, "8 sessions, 1 process", nil, ""},
		"one address": {client.Counts{Numbered: 1}, []client.Row{of(0, 8, 1)}, "1 session, 1 client host", nil, ""},
		"both": {
			client.Counts{Leased: 2, Connections: 1}, []client.Row{of(7, 8, 2), of(0, 4, 1)},
			"3 sessions by lease and connection, 1 process and 1 client host", []string{"python3 (7)", "10.0.0.5"}, "",
		},
		"one is idle": {
			client.Counts{Processes: 2}, []client.Row{of(7, 8, 2), of(8, 0, 0)}, "2 sessions by process, 1 process", nil, "",
		},
		"too many": {
			client.Counts{Leased: 7},
			[]client.Row{of(1, 9, 1), of(2, 8, 1), of(3, 7, 1), of(4, 6, 1), of(5, 5, 1), of(6, 4, 1), others},
			"7 sessions by lease, 6 processes and 1 client host",
			[]string{"python3 (1)", "python3 (2)", "python3 (3)", "python3 (4)", "python3 (5)"},
			"and 2 more clients, in the file that -o json=PATH writes",
		},
		"beyond": {
			client.Counts{Leased: 1, Connections: 1}, []client.Row{of(1, 9, 1), others},
			"2 sessions by lease and connection, 1 process and 1 client host", []string{"python3 (1)", "others"}, "",
		},
		"nothing seen": {client.Counts{}, nil, "0 sessions, 0 client hosts", nil, ""},
	} {
		busy := 0
		for _, r := range c.rows {
			if !r.Idle() {
				busy++
			}
		}
		r := observation.Report{Clients: c.rows, Traffic: observation.Traffic{ToldApart: c.by, Sessions: c.by.Total(), Clients: busy}}
		d := document.New(results.Observation{Observed: r})
		if !strings.Contains(d.Heading, " · "+c.head+" · ") {
			t.Errorf("%s: heading %q, want %q", name, d.Heading, c.head)
		}
		var got, notes []string
		for _, table := range d.Tables {
			if table.Title == "clients" {
				notes = table.Notes
				for _, row := range table.Rows {
					got = append(got, row[0])
				}
			}
		}
		if !slices.Equal(got, c.want) || strings.Join(notes, "") != c.note {
			t.Errorf("%s: the table has %q, %q; want %q, %q", name, got, notes, c.want, c.note)
		}
	}
	change := observation.Change{Op: "set", Writer: "127.0.0.1:9", Process: &client.Process{ID: 7, Name: "java"}, Woke: 2}
	d := document.New(results.Observation{Observed: observation.Report{Largest: []observation.Change{change}}})
	if row := d.Tables[0].Rows[0]; row[len(row)-1] != "java (7)" {
		t.Errorf("the change was written by %q, want java (7)", row[len(row)-1])
	}
}

// A watched path without a change is not listed, unless its sessions poll it or were not told.
func TestPathsWithoutAChange(t *testing.T) {
	missed := int64(1)
	o := results.Observation{}
	o.Observed.Places = []observation.Place{{Path: "/job", Sessions: 2, Changes: 1, FanoutMax: 2}, {Path: "/still", Sessions: 3}, {Path: "/quiet", Sessions: 1},
		{Path: "/polled", Sessions: 1, Requests: 12, PollsSame: 11}, {Path: "/missed", Sessions: 1, Missed: &missed}}
	paths := document.New(o).Tables[0]
	var listed []string
	for _, row := range paths.Rows {
		listed = append(listed, row[0])
	}
	if want := []string{"/job", "/polled", "/missed"}; !slices.Equal(listed, want) {
		t.Errorf("listed %q, want %q", listed, want)
	}
	if want := []string{"no change was seen of 2 more watched paths"}; !slices.Equal(paths.Notes, want) {
		t.Errorf("noted %q, want %q", paths.Notes, want)
	}
}

// TestRecovery shows a percentile that falls on a session that did not come back as a lower bound, and does not count a session
// that had nothing among those that should be back.
func TestRecovery(t *testing.T) {
	f := results.Observation{Source: "proxy", Observed: observed(), Recovery: &recovery.Report{Outcomes: []recovery.Outcome{{
		Fault: recovery.Fault{What: "expire 2 of 2 clients", Kind: recovery.Expired}, Verdict: recovery.Recovers, Sessions: 2, Recovered: 1, Unjudged: 1,
		Nodes: recovery.Things{Had: 1, Back: 1}, Registered: recovery.Times{Sessions: 1, P99: time.Second}, Watching: recovery.Times{NotBack: 1, P99: 2 * time.Second},
		Probe: &recovery.Probed{Path: "/config", Missed: 1},
		Rows:  []recovery.Session{{Verdict: recovery.NotApplicable, Reason: recovery.NothingHad}},
	}, {
		Fault: recovery.Fault{What: "cut 1 of 1 clients", Kind: recovery.Disconnected}, Verdict: recovery.NotApplicable, Reason: recovery.TooSoon, Sessions: 1, Unjudged: 1,
		Probe: &recovery.Probed{Path: "/unjudged"},
	}, {
		Fault: recovery.Fault{What: "cut 1 of 1 clients", Kind: recovery.Disconnected}, Verdict: recovery.NotRecovered, Sessions: 1, Not: 1,
		Watches: recovery.Things{Had: 1, Missing: []recovery.Missing{{Path: "/config", Watch: "data", Times: 1}}},
	}}}}
	text := textOf(t, f, render.Options{})
	for _, want := range []string{
		"expire 2 of 2 clients recovers 1 of 1 1 of 1 n/a 0 1.00 s > 2.00 s 0",
		"expire 2 of 2 clients: 1 more session not judged: nothing was registered or watched before the fault",
		"/config 0 1 n/a expire 2 of 2 clients",
		"cut 1 of 1 clients #1 n/a n/a n/a n/a n/a n/a n/a 0",
		"cut 1 of 1 clients #2 does not recover 0 of 1 n/a 0 of 1 0 n/a n/a 0",
		"/config data 1 cut 1 of 1 clients #2",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "/unjudged") {
		t.Errorf("a change after a fault without a verdict:\n%s", text)
	}
}

// TestLargestChangesShowTheirNotifications checks that the number of notifications stands beside that of the sessions
// where a session got several, and only there.
func TestLargestChangesShowTheirNotifications(t *testing.T) {
	o := resulttest.Observation()
	change := observation.Change{Op: "close", Path: "/providers", Woke: 6, Notifications: 6, Waited: 5, Reads: 7}
	for notifications, want := range map[int64][]string{6: {"6", "5", "7"}, 120: {"6", "120", "5", "7"}} {
		change.Notifications = notifications
		o.Observed.Largest = []observation.Change{change}
		tables := document.New(o).Tables
		i := slices.IndexFunc(tables, func(t document.Table) bool { return t.Title == "largest changes" })
		if i < 0 {
			t.Fatal("there is no table of the largest changes")
		}
		row := tables[i].Rows[0]
		if got := row[2 : 2+len(want)]; !slices.Equal(got, want) || len(row) != len(tables[i].Columns) {
			t.Errorf("%d notifications: the row has %q in %d columns, want %q", notifications, got, len(tables[i].Columns), want)
		}
	}
}
