package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/units"
)

// Rows matches the runs of the base with those of the candidate, in the order of the latter, and warns about
// their differences. Runs match if they have the same recipe, form, backend URL and number of clients, and
// the same values of settings that vary within base or candidate. If there is no match, Rows compares the
// name of the backend instead of its URL. If there is still no match and each variant has only one kind of
// run, Rows compares these with each other.
func Rows(base, other []results.File) (rows []Subject, warnings []results.Warning) {
	namer := func(service func(results.Backend) string) func(results.Run) string {
		return results.Namer(service, runsOf(base), runsOf(other))
	}
	exactly := namer(func(b results.Backend) string { return b.URL })
	rows, warnings = match(base, other, exactly)
	if len(rows) == 0 {
		rows, warnings = match(base, other, namer(func(b results.Backend) string { return b.Name }))
	}
	if len(rows) == 0 && (len(byKind(base, exactly)) != 1 || len(byKind(other, exactly)) != 1) {
		return nil, append([]results.Warning{warning(results.NothingInCommon, nil)}, hosts(base, other)...)
	}
	if len(rows) == 0 {
		rows, warnings = match(base, other, func(results.Run) string { return "" })
	}
	if len(rows) == 1 {
		rows[0].Name = ""
	}
	for _, r := range rows {
		for _, names := range unlike(r.Base, r.New) {
			if r.Name != "" {
				names["subject"] = r.Name
			}
			warnings = append(warnings, warning(results.DifferentSettings, names))
		}
	}
	return rows, append(warnings, hosts(base, other)...)
}

// warning returns a warning that has names and no numbers.
func warning(code string, names metrics.Names) results.Warning {
	return results.WarningOf(metrics.Warning{Code: code, Names: names})
}

// match pairs the runs with the same name, and warns about runs without a match.
func match(base, other []results.File, name func(results.Run) string) (rows []Subject, warnings []results.Warning) {
	old, fresh := byKind(base, name), byKind(other, name)
	for _, k := range fresh {
		i := slices.IndexFunc(old, func(o kind) bool { return o.name == k.name })
		if i < 0 {
			warnings = append(warnings, warning(results.OneVariantOnly, metrics.Names{"side": "NEW", "subject": k.name}))
			continue
		}
		rows = append(rows, Subject{Name: k.name, Base: old[i].runs, New: k.runs,
			Sequence: sequence(old[i].started, k.started)})
	}
	for _, k := range old {
		if !slices.ContainsFunc(fresh, func(o kind) bool { return o.name == k.name }) {
			warnings = append(warnings, warning(results.OneVariantOnly, metrics.Names{"side": "OLD", "subject": k.name}))
		}
	}
	return rows, warnings
}

// A kind is the runs that have the same name, in the order of their time.
type kind struct {
	name    string
	runs    []results.Run
	started []time.Time // those of their files
}

// sequence returns in the order of their time which results are of the other side. Those of one side are in
// that order already.
func sequence(base, other []time.Time) (of []bool) {
	for len(base)+len(other) > 0 {
		if len(other) == 0 || len(base) > 0 && !base[0].After(other[0]) {
			base, of = base[1:], append(of, false)
		} else {
			other, of = other[1:], append(of, true)
		}
	}
	return of
}

// inTime returns the results in the order of their time.
func inTime[R results.Result](all []R) []R {
	return slices.SortedStableFunc(slices.Values(all), func(a, b R) int {
		return results.HeadOf(a).Started.Compare(results.HeadOf(b).Started)
	})
}

// byKind groups the runs of the files by name, in the order of their time.
func byKind(files []results.File, name func(results.Run) string) (all []kind) {
	for _, f := range inTime(files) {
		for _, r := range runsOf([]results.File{f}) {
			is := name(r)
			i := slices.IndexFunc(all, func(k kind) bool { return k.name == is })
			if i < 0 {
				i = len(all)
				all = append(all, kind{name: is})
			}
			all[i].runs, all[i].started = append(all[i].runs, r), append(all[i].started, f.Started)
		}
	}
	return all
}

// runsOf returns the runs of the files, those of each file in the order of their time. It omits the last run
// of an interrupted file, which may be partial.
func runsOf(files []results.File) (all []results.Run) {
	for _, f := range files {
		runs := slices.Clone(f.Runs)
		if f.Interrupted && len(runs) > 0 {
			runs = runs[:len(runs)-1]
		}
		slices.SortStableFunc(runs, func(a, b results.Run) int { return cmp.Compare(a.Order, b.Order) })
		all = append(all, runs...)
	}
	return all
}

// unlike returns the settings in which base and candidate differ, with both values.
func unlike(base, other []results.Run) (all []metrics.Names) {
	for _, s := range []struct {
		name string
		of   func(results.Run) string
	}{
		{"form", func(r results.Run) string { return r.Recipe + "/" + r.Form }},
		{"clients", func(r results.Run) string { return fmt.Sprint(r.Clients) }},
		{"backend", func(r results.Run) string { return r.Backend.Address() }},
	} {
		if a, b := distinct(base, s.of), distinct(other, s.of); a != b {
			all = append(all, metrics.Names{"setting": s.name, "base": a, "new": b})
		}
	}
	for _, d := range results.Differences(base, other) {
		all = append(all, metrics.Names{"setting": d.Name, "base": d.Base, "new": d.New})
	}
	return all
}

// distinct lists the distinct values of the items.
func distinct[V any](items []V, of func(V) string) string {
	var all []string
	for _, r := range items {
		if v := cmp.Or(of(r), "unknown"); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// hosts warns if the results of base and candidate are from different machines, or from one machine with
// another kernel or another amount of memory.
func hosts[R results.Result](base, other []R) (lines []results.Warning) {
	described := func(of []R, by func(results.Host) string) string {
		var all []string
		for _, r := range of {
			all = append(all, by(results.HeadOf(r).Host))
		}
		slices.Sort(all)
		return strings.Join(slices.Compact(all), "; ")
	}
	differ := func(code string, names metrics.Names, by func(results.Host) string) {
		if a, b := described(base, by), described(other, by); a != b {
			names["base"], names["new"] = a, b
			lines = append(lines, warning(code, names))
		}
	}
	differ(results.DifferentMachines, metrics.Names{}, results.Host.Machine)
	differ(results.DifferentSettings, metrics.Names{"setting": "kernel"}, func(h results.Host) string { return h.Kernel })
	differ(results.DifferentSettings, metrics.Names{"setting": "memory"}, func(h results.Host) string { return units.Bytes(h.MemoryBytes) })
	return lines
}

// Label lists the ids of the results.
func Label[R results.Result](all []R) string {
	var ids []string
	for _, r := range all {
		ids = append(ids, results.HeadOf(r).ID)
	}
	return strings.Join(ids, ", ")
}

// compareExactly decides a figure that a formula fixes by its values, without a test: one run of each side is
// enough. It is a regression if each run of the candidate is worse than each run of the base by the minimum
// effect, and a pass if no run of the candidate is worse than any run of the base by that much. Such a figure
// leaves the set of figures that are tested together, so it does not make their differences harder to show.
func (c *change) compareExactly(base, others []float64) {
	least, most := slices.Min(others), slices.Max(others)
	from, to := slices.Min(base), slices.Max(base)
	var worse, within, better bool
	if c.better == figure.More {
		limit := 1 - min(c.Minimum, 1)
		worse, within, better = most < from && most <= from*limit, least >= to || least > to*limit, least > to
	} else {
		limit := 1 + c.Minimum
		worse, within, better = least > to && least >= to*limit, most <= from || most < from*limit, most < from
	}
	switch {
	case worse:
		c.Verdict = results.Regression
	case within && better:
		c.Verdict = results.Improvement
	case within:
		c.Verdict = results.Pass
	default:
		c.Verdict = results.Inconclusive
	}
	c.Exact, c.P, c.Why = true, nil, ""
}

// Regressed returns the gated figures with a regression, which is what a confirmation checks.
func Regressed(all []results.Change) []results.Change {
	return slices.DeleteFunc(slices.Clone(all), func(c results.Change) bool { return !c.Gated || c.Verdict != results.Regression })
}

// Confirm changes a regression to inconclusive if the second set of pairs, judged on its own, does not
// show it again.
func Confirm(first, again []results.Change) []results.Change {
	confirmed := slices.Clone(first)
	for i, c := range confirmed {
		at := slices.IndexFunc(again, func(a results.Change) bool { return a.Subject == c.Subject && a.Figure == c.Figure })
		if c.Verdict != results.Regression || at < 0 || again[at].Verdict == results.Regression {
			continue
		}
		confirmed[i].Verdict = results.Inconclusive
		confirmed[i].Why = fmt.Sprintf("not found again: %s", again[at].Verdict)
	}
	return confirmed
}
