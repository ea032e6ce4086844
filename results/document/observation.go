package document

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/pathname"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/observed"
	"github.com/stampede-bench/stampede/results/units"
)

func ofObservation(o results.Observation) (d Document) {
	seen, all := o.Observed, o.Losses()
	d.begin(o.Head)
	d.fact("observed", units.Duration(seen.Duration))
	d.fact("service", o.Backend)
	d.Heading = fmt.Sprintf("stampede observe · %s by %s · %s · %s · %s", o.Backend, o.Source, units.Duration(seen.Duration),
		observed.Clients(seen), units.CountOf(seen.Traffic.Requests, "request"))
	d.Verdict = o.Verdict
	if len(o.Gates) > 0 {
		d.Reason = reason(results.File{Gates: o.Gates}, o.Verdict)
	}
	for _, g := range o.Gates {
		d.Checks = append(d.Checks, Check{Suite: "stampede observe", Recipe: "observe", Form: thresholds, About: g.Subject}.threshold(g))
	}
	d.judge("at", o.Gates, func(g results.Gate) string { return g.Subject }, func(results.Gate) bool { return false })
	d.Findings = observed.Findings(o)
	d.Tables = []Table{pathTable(seen.Places), largestChanges(seen), requestTable(seen.Places), pollTable(seen.Places),
		rearmingTable(seen.Rearming), churnTable(seen.Churn, seen.Duration), standingTable(seen.Standing)}
	d.Tables = append(d.Tables, projectionTable(o.Projected, seen.Places))
	elide(d.Tables)
	d.Tables = slices.Insert(d.Tables, 1, largestEvents(seen)) // its first column has sentences
	if o.Recovery != nil {
		d.Tables = append([]Table{comebackTable(*o.Recovery), probeTable(*o.Recovery), missingTable(*o.Recovery)}, d.Tables...)
	}
	d.Tables = shown(append(d.Tables, clientTable(seen.Clients), operationTable(seen.Operations))...)
	for _, text := range append(o.Unreachable(), all...) {
		d.Warnings = append(d.Warnings, Warning{Text: text})
	}
	for _, a := range observed.Advise(seen) {
		n := Note{Text: fmt.Sprintf("%s could take the form %s of the recipe %s", a.Path, a.Form, a.Recipe), Page: fmt.Sprintf("docs/recipes/%s.md#%s", a.Recipe, a.Form)}
		if a.Threshold != "" {
			n.Paste = CommandLine([]string{"--threshold", a.Threshold})
		}
		d.Notes = append(d.Notes, n)
	}
	if len(all) == 0 && seen.Traffic.Requests > 0 {
		d.note(allSeen)
	}
	if rest := observed.AtRest(seen); rest != "" {
		d.note(rest)
	}
	if ended := o.Ending(); ended != "" {
		d.note(ended)
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

func pathTable(places []observation.Place) Table {
	t := Table{Title: "paths", Columns: columns(0, "<path", "watched by", "changes", "woken p50", "max", "wasted", "reads", "lost", "settled p90", "<form recognised")}
	places = slices.DeleteFunc(slices.Clone(places), func(p observation.Place) bool { return !p.Watched() && p.Form == nil && !p.Polled() || p.Own() })
	still := len(places)
	places = slices.DeleteFunc(places, unchanged)
	still -= len(places)
	for _, p := range places[:min(len(places), maxRows)] {
		form := "unknown"
		if p.Form != nil {
			form = p.Form.Name
		}
		t.Rows = append(t.Rows, []string{
			p.Path, units.Count(int64(p.Sessions)), units.Count(p.Changes), units.Count(p.FanoutP50), units.Count(p.FanoutMax),
			observed.WastedShare(p), observed.JoinedCount(p, p.ReadsAfter), observed.JoinedCount(p, p.LostAfter), nanoseconds(p.SettledP90), form,
		})
	}
	if n := len(places) - maxRows; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %s, in the file that -o json=PATH writes", units.Plural(n, "more place")))
	}
	if still > 0 {
		t.Notes = append(t.Notes, "no change was seen of "+units.Plural(still, "more watched path"))
	}
	return t
}

// unchanged reports whether nothing happened at a watched place.
func unchanged(p observation.Place) bool {
	return p.Changes == 0 && !p.Polled() && *cmp.Or(p.Missed, new(int64)) == 0 && p.Unproven == 0
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
	names := pathname.Elide(slices.Compact(paths), longestPath)
	for _, t := range tables {
		for _, row := range t.Rows {
			row[0] = cmp.Or(names[row[0]], row[0])
		}
	}
}

// maxAsked is how many places the table of requests shows.
const maxAsked = 5

// requestTable shows the places with most requests, whether they are watched or not, and those at which
// most writes failed.
func requestTable(places []observation.Place) Table {
	t := Table{Title: "requests to", Columns: columns(0, "<requests to", "asked by", "requests", "reads", "writes", "failed writes", "watches armed")}
	most := slices.SortedStableFunc(slices.Values(places), func(x, y observation.Place) int { return cmp.Compare(y.Requests, x.Requests) })
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

func nanoseconds(n *int64) string {
	if n == nil {
		return units.Absent
	}
	return units.Duration(time.Duration(*n))
}

// maxEvents is how many events the table shows; the file has more.
const maxEvents = 5

// largestEvents shows the events that are more than a change of one path.
func largestEvents(r observation.Report) Table {
	t := Table{Title: "largest events", Columns: columns(0, "<largest events", "times", "notifications", "woken", "reads", "writes",
		"lost", "until rest")}
	if r.Traffic.Unjoined > 0 {
		return t
	}
	events := slices.DeleteFunc(slices.Clone(r.Events.Largest), func(e causality.Event) bool { return !e.Several })
	for _, e := range events[:min(len(events), maxEvents)] {
		t.Rows = append(t.Rows, []string{observed.Cause(e), units.Count(e.Times), units.Count(e.Notifications),
			units.Count(e.Woke), units.Count(e.Reads), units.Count(e.Writes), units.Count(e.FailedWrites), units.Duration(e.Lasted)})
	}
	return t
}

func largestChanges(r observation.Report) Table {
	changes := r.Largest
	changes = changes[:min(len(changes), 3)]
	heads := []string{"<largest changes", "<operation", "woken", "notifications", "waited again", "reads", "lost", "settled", "<written by"}
	if !slices.ContainsFunc(changes, func(c observation.Change) bool { return c.Notifications > c.Woke }) {
		heads = slices.Delete(heads, 3, 4) // one for each session that was woken
	}
	t := Table{Title: "largest changes", Columns: columns(0, heads...)}
	if len(changes) == 0 || changes[0].Woke < 2 || r.Traffic.Unjoined > 0 {
		return t
	}
	for _, c := range changes {
		op, by := c.Op, observed.Name(c.Process, c.Writer)
		if op == "" {
			op, by = "unseen", units.Absent
		}
		row := []string{c.Path, op, units.Count(c.Woke), units.Count(c.Notifications), units.Count(c.Waited), units.Count(c.Reads),
			units.Count(c.Lost), units.Duration(c.Settled), by}
		if len(heads) < len(row) {
			row = slices.Delete(row, 3, 4)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func operationTable(all []observation.Operation) Table {
	t := Table{Title: "operations", Columns: columns(0, "<operation", "answered", "p50", "p99")}
	for _, o := range all {
		t.Rows = append(t.Rows, []string{o.Name, units.Count(o.Requests), nanoseconds(o.P50), nanoseconds(o.P99)})
	}
	return t
}

// projection returns what a change would cost with n clients, for the places that were recognised.
func projectionTable(n int, places []observation.Place) Table {
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

func pollTable(places []observation.Place) Table {
	t := Table{Title: "polled paths", Columns: columns(0, "<polled path", "requests", "unchanged", "interval p50")}
	for _, p := range places {
		if p.PolledByReads() {
			t.Rows = append(t.Rows, []string{p.Path, units.Count(p.Requests), units.Count(p.PollsSame), nanoseconds(p.PollEvery)})
		}
	}
	return t
}

func rearmingTable(a client.Rearming) Table {
	t := Table{Title: "armed again", Columns: columns(0, "<armed again", "sessions", "watches")}
	if a.Storm() {
		t.Rows = [][]string{
			{"most in one second", units.Count(a.MostReconnects), units.Count(a.MostWatches)},
			{"after all reconnects", units.Count(a.Reconnects), units.Count(a.Watches)},
		}
	}
	return t
}

func churnTable(c client.Churn, length time.Duration) Table {
	t := Table{Title: "sessions", Columns: columns(0, "<sessions", "opened", "closed", "before their time-out", "most at once")}
	if c.Heavy(length) {
		t.Rows = [][]string{{"all", units.Count(c.Opened), units.Count(c.Closed), units.Count(c.ShortLived), units.Count(c.MostAtOnce)}}
	}
	return t
}

// comebackTable has a row for each fault that was injected.
func comebackTable(r recovery.Report) Table {
	t := Table{Title: "faults", Columns: columns(0, "<fault", "<program", "sessions", "nodes", "watches", "twice", "nodes p99", "watches p99", "reconnects/s")}
	for i, over := range map[int]string{2: "back", 6: "until back"} {
		t.Columns[i].Over, t.Columns[i].Gap = over, 3
	}
	of := func(n, all int64) string {
		if all == 0 {
			return units.Absent
		}
		return units.Count(n) + " of " + units.Count(all)
	}
	names := r.FaultNames()
	for i, o := range r.Outcomes {
		twice := units.Count(o.Nodes.Duplicated + o.Repeated)
		if o.Verdict == recovery.NotApplicable {
			twice = units.Absent
		}
		if o.Unjudged > 0 && o.Unjudged < o.Sessions {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s not judged: %s", names[i], units.CountOf(o.Unjudged, "more session"), o.WhyUnjudged()))
		}
		t.Rows = append(t.Rows, []string{names[i], string(o.Verdict), of(o.Recovered, o.Judged()), of(o.Nodes.Back, o.Nodes.Had), of(o.Watches.Back, o.Watches.Had),
			twice, timeBack(o.Registered), timeBack(o.Watching), units.Count(o.Reconnects.Second)})
	}
	if len(t.Rows) > 0 {
		t.Notes = append([]string{"reconnects/s: connections in the busiest second after the fault"}, t.Notes...)
	}
	return t
}

// timeBack says how long 99 % of the sessions took, or how long at least.
func timeBack(t recovery.Times) string {
	switch {
	case t.Sessions+t.NotBack == 0, t.NotBack > 0 && t.P99 == 0: // the fault was not over
		return units.Absent
	case t.AtLeast(99):
		return "> " + units.Duration(t.P99)
	}
	return units.Duration(t.P99)
}

// probeTable has the changes that were made to see who notices them.
func probeTable(r recovery.Report) Table {
	t := Table{Title: "changed by --probe", Columns: columns(0, "<changed by --probe", "noticed by", "missed by", "noticed p99", "<after")}
	names := r.FaultNames()
	for i, o := range r.Outcomes {
		if p := o.Probe; p != nil && o.Verdict != recovery.NotApplicable {
			t.Rows = append(t.Rows, []string{p.Path, units.Count(p.Noticed), units.Count(p.Missed), timeBack(p.Within), names[i]})
		}
	}
	return t
}

// missingTable has the paths of what is not back.
func missingTable(r recovery.Report) Table {
	t := Table{Title: "not back", Columns: columns(0, "<not back", "<of", "sessions", "<after")}
	names := r.FaultNames()
	for i, o := range r.Outcomes {
		for _, m := range append(slices.Clone(o.Nodes.Missing), o.Watches.Missing...) {
			t.Rows = append(t.Rows, []string{m.Path, cmp.Or(m.Watch, "node"), units.Count(m.Times), names[i]})
		}
	}
	return t
}

func standingTable(all []observation.Standing) Table {
	t := Table{Title: "standing watches", Columns: columns(0, "<standing watches", "watches", "age p50", "oldest")}
	for _, s := range all {
		if s.Many() {
			t.Rows = append(t.Rows, []string{s.Path, units.Count(s.Watches), units.Age(s.AgeP50), units.Age(s.Oldest)})
		}
	}
	return t
}
