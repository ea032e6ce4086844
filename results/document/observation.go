package document

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/observed"
	"github.com/stampede-bench/stampede/results/units"
)

func ofObservation(o results.Observation) (d Document) {
	seen, all := o.Observed, o.Losses()
	d.begin(o.Head)
	d.fact("observed", units.Duration(seen.Duration))
	d.fact("service", o.Backend)
	d.Heading = fmt.Sprintf("stampede observe · %s by %s · %s · %s · %s requests", o.Backend, o.Source, units.Duration(seen.Duration),
		observed.Clients(seen), units.Count(seen.Traffic.Requests))
	d.Verdict = o.Verdict
	if len(o.Gates) > 0 {
		d.Reason = reason(results.File{Gates: o.Gates}, o.Verdict)
	}
	for _, g := range o.Gates {
		d.Checks = append(d.Checks, Check{Suite: "stampede observe", Recipe: "observe", Form: thresholds, About: g.Subject}.threshold(g))
	}
	d.judge("at", o.Gates, func(g results.Gate) string { return g.Subject }, func(results.Gate) bool { return false })
	d.Findings = observed.Findings(o)
	d.Tables = []Table{pathTable(seen.Places), largestChanges(seen.Largest), requestTable(seen.Places), pollTable(seen.Places),
		rearmingTable(seen.Rearming), churnTable(seen.Churn, seen.Duration), standingTable(seen.Standing)}
	d.Tables = append(d.Tables, projectionTable(o.Projected, seen.Places))
	elide(d.Tables)
	d.Tables = slices.Insert(d.Tables, 1, largestEvents(seen.Events.Largest)) // its first column has sentences
	d.Tables = shown(append(d.Tables, clientTable(seen.Clients), operationTable(seen.Operations))...)
	for _, text := range all {
		d.Warnings = append(d.Warnings, Warning{Text: text})
	}
	if len(all) == 0 && seen.Traffic.Requests > 0 {
		d.note(allSeen)
	}
	if rest := observed.AtRest(seen); rest != "" {
		d.note(rest)
	}
	if o.Program != nil {
		d.note(fmt.Sprintf("%s ended with exit code %d", *o.Program, *o.Exit))
	}
	return d
}

// allSeen says that nothing is missing.
const allSeen = "all traffic was seen and analysed"

// SoFar returns the document of an observation in progress. What a capture has lost is known at its end.
func SoFar(o results.Observation) Document {
	d := ofObservation(o)
	for i, n := range d.Notes {
		if o.Source != "proxy" && n.Text == allSeen {
			d.Notes[i].Text = "whether packets were lost is known when the capture ends"
		}
	}
	return d
}

// maxRows is how many places the table shows; the file has all.
const maxRows = 20

func pathTable(places []observe.Place) Table {
	t := Table{Title: "paths", Columns: columns(0, "<path", "watched by", "changes", "woken p50", "max", "wasted", "reads", "lost", "settled p90", "<form recognised")}
	places = slices.DeleteFunc(slices.Clone(places), func(p observe.Place) bool { return !p.Watched() && p.Form == nil && !p.Polled() || p.Own() })
	for _, p := range places[:min(len(places), maxRows)] {
		form := "unknown"
		if p.Form != nil {
			form = p.Form.Name
		}
		t.Rows = append(t.Rows, []string{
			p.Path, units.Count(int64(p.Sessions)), units.Count(p.Changes), units.Count(p.FanoutP50), units.Count(p.FanoutMax),
			wastedShare(p), units.Count(p.ReadsAfter), units.Count(p.LostAfter), nanoseconds(p.SettledP90), form,
		})
	}
	if n := len(places) - maxRows; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %s, in the file that -o json=PATH writes", units.Plural(n, "more place")))
	}
	return t
}

// longestPath is the number of characters of a path in a table, unless it needs more to differ from others.
const longestPath = 32

// elide shortens the paths in the first columns of the tables.
func elide(tables []Table) {
	var paths []string
	for _, t := range tables {
		for _, row := range t.Rows {
			paths = append(paths, row[0])
		}
	}
	slices.Sort(paths)
	names := observe.Elide(slices.Compact(paths), longestPath)
	for _, t := range tables {
		for _, row := range t.Rows {
			row[0] = cmp.Or(names[row[0]], row[0])
		}
	}
}

// maxAsked is how many places the table of requests shows.
const maxAsked = 5

// requestTable shows the places with most requests, whether they are watched or not, and those at which most writes
// failed.
func requestTable(places []observe.Place) Table {
	t := Table{Title: "requests to", Columns: columns(0, "<requests to", "asked by", "requests", "reads", "writes", "failed writes", "watches armed")}
	most := slices.SortedStableFunc(slices.Values(places), func(x, y observe.Place) int { return cmp.Compare(y.Requests, x.Requests) })
	for i, p := range most {
		if p.Requests == 0 || i >= maxAsked && !p.Refused() {
			continue
		}
		t.Rows = append(t.Rows, []string{p.Path, units.Count(int64(p.Askers)), units.Count(p.Requests), units.Count(p.Reads), units.Count(p.Writes),
			units.Count(p.FailedWrites), units.Count(p.Armed)})
	}
	return t
}

// maxClients is how many clients the table shows.
const maxClients = 5

// clientTable shows the clients with most requests, if there are several.
func clientTable(all []client.Row) Table {
	t := Table{Title: "clients", Columns: columns(0, "<clients", "connections", "sessions", "requests", "requests/s", "notifications")}
	if all = slices.DeleteFunc(slices.Clone(all), client.Row.Idle); len(all) < 2 {
		return t
	}
	for _, c := range all[:min(len(all), maxClients)] {
		t.Rows = append(t.Rows, []string{cmp.Or(observed.Name(c.Process, c.Address), "others"), units.Count(c.Connections), units.Count(c.Sessions),
			units.Count(c.Requests), units.Rate(c.RequestsPerS), units.Count(c.Notifications)})
	}
	if n := len(all) - maxClients; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %s, in the file that -o json=PATH writes", units.Plural(n, "more client")))
	}
	return t
}

func wastedShare(p observe.Place) string {
	if p.Wasted == nil || *p.Useful+*p.Wasted == 0 {
		return units.Absent
	}
	return units.Percent(*p.Wasted, *p.Useful+*p.Wasted)
}

func nanoseconds(n *int64) string {
	if n == nil {
		return units.Absent
	}
	return units.Duration(time.Duration(*n))
}

// maxEvents is how many events the table shows; the file has more.
const maxEvents = 5

// largestEvents shows the events that are more than a change of one path.
func largestEvents(events []causality.Event) Table {
	t := Table{Title: "largest events", Columns: columns(0, "<largest events", "times", "notifications", "woken", "reads", "writes",
		"lost", "until rest")}
	events = slices.DeleteFunc(slices.Clone(events), func(e causality.Event) bool { return !e.Several })
	for _, e := range events[:min(len(events), maxEvents)] {
		t.Rows = append(t.Rows, []string{observed.Cause(e), units.Count(e.Times), units.Count(e.Notifications),
			units.Count(e.Woke), units.Count(e.Reads), units.Count(e.Writes), units.Count(e.FailedWrites), units.Duration(e.Lasted)})
	}
	return t
}

func largestChanges(changes []observe.Change) Table {
	t := Table{Title: "largest changes", Columns: columns(0, "<largest changes", "<operation", "woken", "waited again", "reads", "lost", "settled", "<written by")}
	if len(changes) == 0 || changes[0].Woke < 2 {
		return t
	}
	for _, c := range changes[:min(len(changes), 3)] {
		op, by := c.Op, observed.Name(c.Process, c.Writer)
		if op == "" {
			op, by = "unseen", units.Absent
		}
		t.Rows = append(t.Rows, []string{c.Path, op, units.Count(c.Woke), units.Count(c.Waited), units.Count(c.Reads),
			units.Count(c.Lost), units.Duration(c.Settled), by})
	}
	return t
}

func operationTable(all []observe.Operation) Table {
	t := Table{Title: "operations", Columns: columns(0, "<operation", "answered", "p50", "p99")}
	for _, o := range all {
		t.Rows = append(t.Rows, []string{o.Name, units.Count(o.Requests), nanoseconds(o.P50), nanoseconds(o.P99)})
	}
	return t
}

// projection returns what a change would cost with n clients, for the places that were recognised.
func projectionTable(n int, places []observe.Place) Table {
	if n == 0 {
		return Table{}
	}
	t := Table{Title: "with " + units.Clients(n), Columns: columns(0, "<with "+units.Clients(n), "wakes now", "would wake", "would settle in", "<form")}
	for _, p := range places {
		if now, then, settled, ok := p.Project(n); ok {
			time := units.Absent
			if settled > 0 {
				time = "about " + units.Duration(settled)
			}
			t.Rows = append(t.Rows, []string{p.Path, units.Count(now), units.Count(then), time, p.Form.Name})
		}
	}
	t.Notes = []string{fmt.Sprintf("It is assumed that as large a share of %s watches, and that the time to settle grows with the number woken.", units.Clients(n))}
	if len(t.Rows) == 0 {
		t.Notes = []string{"no projection: no form was recognised whose changes were seen"}
	}
	return t
}

// The following tables have the numbers of findings, and no rows where there is nothing to find.

func pollTable(places []observe.Place) Table {
	t := Table{Title: "polled paths", Columns: columns(0, "<polled path", "requests", "unchanged", "interval p50")}
	for _, p := range places {
		if p.Polled() {
			t.Rows = append(t.Rows, []string{p.Path, units.Count(p.Requests), units.Count(p.PollsSame), nanoseconds(p.PollEvery)})
		}
	}
	return t
}

func rearmingTable(a observe.Rearming) Table {
	t := Table{Title: "armed again", Columns: columns(0, "<armed again", "sessions", "watches")}
	if a.Storm() {
		t.Rows = [][]string{
			{"most in one second", units.Count(a.MostReconnects), units.Count(a.MostWatches)},
			{"after all reconnects", units.Count(a.Reconnects), units.Count(a.Watches)},
		}
	}
	return t
}

func churnTable(c observe.Churn, length time.Duration) Table {
	t := Table{Title: "sessions", Columns: columns(0, "<sessions", "opened", "closed", "before their time-out", "most at once")}
	if c.Heavy(length) {
		t.Rows = [][]string{{"all", units.Count(c.Opened), units.Count(c.Closed), units.Count(c.ShortLived), units.Count(c.MostAtOnce)}}
	}
	return t
}

func standingTable(all []observe.Standing) Table {
	t := Table{Title: "standing watches", Columns: columns(0, "<standing watches", "watches", "age p50", "oldest")}
	for _, s := range all {
		if s.Many() {
			t.Rows = append(t.Rows, []string{s.Path, units.Count(s.Watches), units.Age(s.AgeP50), units.Age(s.Oldest)})
		}
	}
	return t
}
