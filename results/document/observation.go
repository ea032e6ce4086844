package document

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

func ofObservation(o results.Observation) (d Document) {
	seen, all := o.Observed, o.Losses()
	d.begin(o.Head)
	d.fact("observed", units.Duration(seen.Duration))
	d.fact("service", o.Backend)
	d.Heading = fmt.Sprintf("stampede observe · %s by %s · %s · %s, %s · %s requests", o.Backend, o.Source, units.Duration(seen.Duration),
		units.Plural(int(seen.Traffic.Sessions), "session"), units.Plural(seen.Traffic.Clients, "client host"), units.Count(seen.Traffic.Requests))
	d.Verdict = o.Verdict
	if len(o.Gates) > 0 {
		d.Reason = reason(results.File{Gates: o.Gates}, o.Verdict)
	}
	for _, g := range o.Gates {
		d.Checks = append(d.Checks, Check{Suite: "stampede observe", Recipe: "observe", Form: thresholds, About: g.Subject}.threshold(g))
	}
	d.judge("at", o.Gates, func(g results.Gate) string { return g.Subject }, func(results.Gate) bool { return false })
	d.Findings = herds(seen)
	d.Tables = []Table{pathTable(seen.Places), largestChanges(seen.Largest), operationTable(seen.Operations)}
	for _, find := range []func(observe.Report) ([]string, Table){polling, rearming, churn, standing} {
		found, t := find(seen)
		d.Findings, d.Tables = append(d.Findings, found...), append(d.Tables, t)
	}
	d.Findings = append(d.Findings, unknownForms(seen)...)
	if len(d.Findings) == 0 {
		d.Findings = []string{noHerd(seen.Traffic, o.Incomplete())}
	}
	d.Tables = shown(append(d.Tables, projectionTable(o.Projected, seen.Places))...)
	for _, text := range all {
		d.Warnings = append(d.Warnings, Warning{Text: text})
	}
	if len(all) == 0 && seen.Traffic.Requests > 0 {
		d.note(allSeen)
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

// herds returns sentences for each herd.
func herds(r observe.Report) (all []string) {
	for _, p := range r.Places {
		if p.Form == nil || !p.Form.Herd || p.FanoutMax < 2 {
			continue
		}
		all = append(all, fmt.Sprintf("HERD: one change of %s wakes up to %s of %s.", p.Path,
			units.Count(p.FanoutMax), units.Plural(p.Sessions, "session")),
			fmt.Sprintf("  %s: %s.", p.Form.Name, p.Form.Evidence))
		if p.Form.Wakes > 0 {
			all = append(all, fmt.Sprintf("  With the form %q a change would wake %s.", p.Form.Instead, units.Count(p.Form.Wakes)))
		}
	}
	return all
}

// unknownForms returns a sentence for each path whose form is not known and whose changes wake many.
func unknownForms(r observe.Report) (all []string) {
	for _, p := range r.Places {
		if p.Form == nil && p.FanoutMax > 1 && 2*p.FanoutMax >= int64(p.Sessions) {
			all = append(all, fmt.Sprintf("NOT KNOWN: one change of %s wakes up to %s of %s; its form is not recognised.",
				p.Path, units.Count(p.FanoutMax), units.Plural(p.Sessions, "session")))
		}
	}
	return all
}

// noHerd says what was seen if there is nothing to find, and claims nothing about what was not analysed.
func noHerd(t observe.Traffic, incomplete string) string {
	switch {
	case t.Requests == 0:
		return "No request was " + map[bool]string{true: "observed.", false: "decoded."}[incomplete == ""]
	case incomplete != "":
		return "No herd in what was analysed, which is not all."
	case t.Changes == 0:
		return "No change woke a session."
	}
	return fmt.Sprintf("No herd: a change wakes %s at the median and at most %s.", units.Plural(int(t.FanoutP50), "session"), units.Count(t.FanoutMax))
}

// maxRows is how many places the table shows; the file has all.
const maxRows = 20

func pathTable(places []observe.Place) Table {
	t := Table{Title: "paths", Columns: columns(0, "<path", "watched by", "changes", "woken p50", "max", "wasted", "reads", "lost", "settled p90", "<form recognised")}
	for _, p := range places[:min(len(places), maxRows)] {
		form := "unknown"
		if p.Form != nil {
			form = p.Form.Name
		}
		t.Rows = append(t.Rows, []string{
			shortened(p.Path), units.Count(int64(p.Sessions)), units.Count(p.Changes), units.Count(p.FanoutP50), units.Count(p.FanoutMax),
			wastedShare(p), units.Count(p.ReadsAfter), units.Count(p.LostAfter), nanoseconds(p.SettledP90), form,
		})
	}
	if n := len(places) - maxRows; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %s, in the file that -o json=PATH writes", units.Plural(n, "more place")))
	}
	return t
}

// longestPath is the number of characters of a path in a table.
const longestPath = 32

func shortened(p string) string {
	if r := []rune(p); len(r) > longestPath {
		return "…" + string(r[len(r)-longestPath+1:])
	}
	return p
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

func largestChanges(changes []observe.Change) Table {
	t := Table{Title: "largest changes", Columns: columns(0, "<largest changes", "<operation", "woken", "waited again", "reads", "lost", "settled", "<written by")}
	if len(changes) == 0 || changes[0].Woke < 2 {
		return t
	}
	for _, c := range changes[:min(len(changes), 3)] {
		op, by := c.Op, c.Writer
		if op == "" {
			op, by = "unseen", units.Absent
		}
		t.Rows = append(t.Rows, []string{shortened(c.Path), op, units.Count(c.Woke), units.Count(c.Waited), units.Count(c.Reads),
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
			t.Rows = append(t.Rows, []string{shortened(p.Path), units.Count(now), units.Count(then), time, p.Form.Name})
		}
	}
	t.Notes = []string{fmt.Sprintf("It is assumed that as large a share of %s watches, and that the time to settle grows with the number woken.", units.Clients(n))}
	if len(t.Rows) == 0 {
		t.Notes = []string{"no projection: no form was recognised whose changes were seen"}
	}
	return t
}

// These find what costs servers besides herds. Each returns its findings and a table of their numbers, which
// has no rows if there is nothing to find.

// minPolls is the smallest number of reads that are called polling, if they are more than half of
// the requests for a path: a client that reads a node a few times at its start polls nothing.
const minPolls = 10

func polling(r observe.Report) (found []string, t Table) {
	t = Table{Title: "polled paths", Columns: columns(0, "<polled path", "requests", "unchanged", "interval p50")}
	for _, p := range r.Places {
		if p.PollsSame < minPolls || p.PollsSame*2 <= p.Requests {
			continue
		}
		every := ""
		if p.PollEvery != nil {
			every = fmt.Sprintf(", %s after it at the median", duration(*p.PollEvery))
		}
		found = append(found, fmt.Sprintf("POLLING: %s of %s requests for %s repeat a read that returned the same as before%s.",
			units.Count(p.PollsSame), units.Count(p.Requests), p.Path, every))
		t.Rows = append(t.Rows, []string{shortened(p.Path), units.Count(p.Requests), units.Count(p.PollsSame), nanoseconds(p.PollEvery)})
	}
	return found, t
}

// Fewer reconnects in a second than minReconnects are clients that lose their connections one by one;
// fewer watches than minRearmed are set again with a packet or two.
const (
	minReconnects = 10
	minRearmed    = 1000
)

func rearming(r observe.Report) (found []string, t Table) {
	t = Table{Title: "armed again", Columns: columns(0, "<armed again", "sessions", "watches")}
	if a := r.Rearming; a.MostReconnects >= minReconnects && a.MostWatches >= minRearmed {
		found = []string{fmt.Sprintf("RE-ARM STORM: within one second %s armed %s watches again.",
			units.Plural(int(a.MostReconnects), "reconnected session"), units.Count(a.MostWatches))}
		t.Rows = [][]string{
			{"most in one second", units.Count(a.MostReconnects), units.Count(a.MostWatches)},
			{"after all reconnects", units.Count(a.Reconnects), units.Count(a.Watches)},
		}
	}
	return found, t
}

// Short sessions matter if clients replace them again and again: more than half are closed before
// their time-out has passed once, and turnover times as many were opened as were open at once. A
// program that opens many sessions and ends opens each once. Fewer than minOpened cost little.
const (
	minOpened = 20
	turnover  = 4
)

func churn(r observe.Report) (found []string, t Table) {
	t = Table{Title: "sessions", Columns: columns(0, "<sessions", "opened", "closed", "before their time-out", "most at once")}
	c, rates := r.Churn, ""
	if c.Opened < minOpened || c.Opened < turnover*c.MostAtOnce || c.ShortLived*2 <= c.Closed {
		return nil, t
	}
	if s := r.Duration.Seconds(); s > 0 {
		rates = fmt.Sprintf(" (%.1f and %.1f per second)", float64(c.Opened)/s, float64(c.Closed)/s)
	}
	t.Rows = [][]string{{"all", units.Count(c.Opened), units.Count(c.Closed), units.Count(c.ShortLived), units.Count(c.MostAtOnce)}}
	return []string{
		fmt.Sprintf("SESSION CHURN: %s were opened and %s closed%s, and at most %s were open at once.",
			units.Plural(int(c.Opened), "session"), units.Count(c.Closed), rates, units.Count(c.MostAtOnce)),
		fmt.Sprintf("  %s of those closed lived shorter than their time-out. Each open and close is a write.", units.Percent(c.ShortLived, c.Closed)),
	}, t
}

// Fewer watches than minStanding cost a server little memory, and younger ones than minAge may be
// those of clients that wait for their turn.
const (
	minStanding = 1000
	minAge      = time.Minute
)

func standing(r observe.Report) (found []string, t Table) {
	t = Table{Title: "standing watches", Columns: columns(0, "<standing watches", "watches", "age p50", "oldest")}
	age := func(d time.Duration) string { return d.Round(time.Second).String() } // it may be hours
	for _, s := range r.Standing {
		if s.Watches < minStanding || s.AgeP50 < minAge {
			continue
		}
		found = append(found, fmt.Sprintf("STANDING WATCHES: %s watches on %s were armed %s ago at the median, the oldest %s ago, and have not fired.",
			units.Count(s.Watches), s.Path, age(s.AgeP50), age(s.Oldest)))
		t.Rows = append(t.Rows, []string{shortened(s.Path), units.Count(s.Watches), age(s.AgeP50), age(s.Oldest)})
	}
	return found, t
}
