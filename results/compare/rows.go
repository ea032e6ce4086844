package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
)

// Rows matches the runs of the base with those of the candidate, in the order of the latter, and warns about
// their differences. Runs match if they have the same recipe, form, backend URL and number of clients.
// If there is no match, Rows compares the name of the backend instead of its URL. If there is still no
// match and each variant has only one kind of run, Rows compares these with each other.
func Rows(base, other []results.File) (rows []Subject, warnings []results.Warning) {
	for _, name := range []func(results.Run) string{exactly, byName, anything} {
		if rows, warnings = match(base, other, tellApart(name, base, other)); len(rows) > 0 {
			break
		}
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

func exactly(r results.Run) string { return described(r, r.Backend.URL) }

func byName(r results.Run) string { return described(r, r.Backend.Name) }

func anything(results.Run) string { return "" }

func described(r results.Run, backend string) string {
	parts := []string{fmt.Sprintf("%s/%s on %s, %d clients", r.Recipe, r.Form, backend, r.Clients)}
	if r.Scenario != "" {
		parts = append(parts, r.Scenario)
	}
	if r.Groups > 1 {
		parts = append(parts, fmt.Sprintf("%d groups", r.Groups))
	}
	if r.Open != nil {
		parts = append(parts, r.Open.Rate+"/s")
	}
	if r.ReadRatio != nil {
		parts = append(parts, fmt.Sprintf("%v reads", r.ReadRatio.Asked))
	}
	return strings.Join(parts, ", ")
}

// tellApart extends the name function: it also distinguishes runs of the same name by the settings that
// vary within a variant. A setting that differs only between base and candidate is not part of the name: such runs
// are compared, with a warning.
func tellApart(name func(results.Run) string, base, other []results.File) func(results.Run) string {
	if name(results.Run{}) == "" {
		return name
	}
	vary := map[string][]string{} // the settings, by name
	for _, variant := range [][]results.File{base, other} {
		for _, k := range byKind(variant, name) {
			vary[k.name] = append(vary[k.name], varying(k.runs)...)
		}
	}
	return func(r results.Run) string {
		is, chosen := name(r), r.Chosen()
		text := is
		slices.Sort(vary[is])
		for _, setting := range slices.Compact(vary[is]) {
			if value, known := chosen[setting]; known {
				text += fmt.Sprintf(", %s %s", setting, cmp.Or(value, "none"))
			}
		}
		return text
	}
}

// varying returns the settings that have several values among the runs, except for those that described
// includes.
func varying(runs []results.Run) (names []string) {
	first := map[string]string{}
	for _, r := range runs {
		for name, value := range r.Chosen() {
			was, seen := first[name]
			if !seen {
				first[name] = value
			}
			if seen && was != value && !slices.Contains([]string{"groups", "rate", "reads"}, name) {
				names = append(names, name)
			}
		}
	}
	return names
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
	if name(results.Run{}) == "" && (kinds(base) != 1 || kinds(other) != 1) {
		return nil, []results.Warning{warning(results.NothingInCommon, nil)}
	}
	return rows, warnings
}

func kinds(files []results.File) int { return len(byKind(files, exactly)) }

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

// byKind groups the runs of the files by name. It omits the last run of an interrupted file, which may
// be partial.
func byKind(files []results.File, name func(results.Run) string) (all []kind) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b results.File) int { return a.Started.Compare(b.Started) })
	for _, f := range files {
		runs := slices.Clone(f.Runs)
		if f.Interrupted && len(runs) > 0 {
			runs = runs[:len(runs)-1]
		}
		slices.SortStableFunc(runs, func(a, b results.Run) int { return cmp.Compare(a.Order, b.Order) })
		for _, r := range runs {
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

// unlike returns the settings in which base and candidate differ, with both values, and the settings that
// one of them does not record.
func unlike(base, other []results.Run) (all []metrics.Names) {
	for _, s := range []struct {
		name string
		of   func(results.Run) string
	}{
		{"form", func(r results.Run) string { return r.Recipe + "/" + r.Form }},
		{"clients", func(r results.Run) string { return fmt.Sprint(r.Clients) }},
		{"backend", func(r results.Run) string { return r.Backend.URL }},
	} {
		if a, b := distinct(base, s.of), distinct(other, s.of); a != b {
			all = append(all, metrics.Names{"setting": s.name, "base": a, "new": b})
		}
	}
	differences, unrecorded := results.Differences(base, other)
	for _, d := range differences {
		all = append(all, metrics.Names{"setting": d.Name, "base": d.Base, "new": d.New})
	}
	for i, variant := range []string{"OLD", "NEW"} {
		if len(unrecorded[i]) > 0 {
			all = append(all, metrics.Names{"side": variant, "not_recorded": strings.Join(unrecorded[i], ", ")})
		}
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

// hosts warns if the files of base and candidate are from different machines.
func hosts(base, other []results.File) (lines []results.Warning) {
	values := func(files []results.File, of func(results.File) string) string {
		var all []string
		for _, f := range files {
			if v := of(f); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		slices.Sort(all)
		return strings.Join(all, "; ")
	}
	host := func(f results.File) string {
		h := f.Host
		return fmt.Sprintf("%d × %s, %d MiB, %s %s", h.Cores, h.CPU, h.MemoryBytes>>20, h.OS, h.Kernel)
	}
	if a, b := values(base, host), values(other, host); a != b {
		lines = append(lines, warning(results.DifferentMachines, metrics.Names{"base": a, "new": b}))
	}
	return lines
}

// Label lists the ids of the files.
func Label(files []results.File) string {
	var ids []string
	for _, f := range files {
		ids = append(ids, f.ID)
	}
	return strings.Join(ids, ", ")
}

// Quantiles returns the quantiles of each phase's latency in base and candidate, over the merged histograms of
// each variant's runs. It returns nil for subjects with enough runs for a test.
func Quantiles(s Subject) (all []results.Quantile) {
	if min(len(s.Base), len(s.New)) >= stats.FewestRuns {
		return nil
	}
	for _, phase := range s.Base[0].Phases {
		base, other := merged(s.Base, phase), merged(s.New, phase)
		if base == nil || other == nil {
			continue
		}
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
			if least := min(base.TotalCount(), other.TotalCount()); !metrics.Supports(least, 100*q) {
				continue
			}
			all = append(all, results.Quantile{Subject: s.Name, Phase: phase, Quantile: q,
				BaseNS: base.ValueAtQuantile(100 * q), NewNS: other.ValueAtQuantile(100 * q)})
		}
	}
	return all
}

// merged merges the runs' histograms of a phase: of response times, or of service times if there are no
// response times. It returns nil if a run has no readable histogram.
func merged(runs []results.Run, phase string) (all *hdrhistogram.Histogram) {
	for _, r := range runs {
		d := r.Latency[phase].Response
		if d == nil {
			d = r.Latency[phase].Service
		}
		if d == nil {
			return nil
		}
		h, err := hdrhistogram.Decode([]byte(d.HDR))
		if err != nil {
			return nil
		}
		if all == nil {
			all = h
		} else {
			all.Merge(h)
		}
	}
	return all
}
