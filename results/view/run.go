package view

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/internal/printable"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// nearness says how close the runs came to the generator's ceiling: it reports the run that used the
// largest share of it. It writes nothing if no ceiling is known.
func nearness(w io.Writer, runs []results.Run) {
	var nearest results.Generator
	client := ""
	for _, r := range runs {
		if g := r.Generator; g.CeilingPerS > 0 && (client == "" || g.RequestsPerS/g.CeilingPerS > nearest.RequestsPerS/nearest.CeilingPerS) {
			nearest, client = g, r.Backend.Client
		}
	}
	if client != "" {
		fmt.Fprintf(w, "  generator: up to %s requests/s, %s of the %s that it makes with the client %s of a server that does nothing\n",
			units.Rate(nearest.RequestsPerS), units.Tenths(nearest.RequestsPerS/nearest.CeilingPerS), units.Rate(nearest.CeilingPerS), client)
	}
}

// Options are options for text output. The zero value is for a pipe.
type Options struct {
	Color bool   // print findings in bold and verdicts in their colours
	Saved string // the path that the file was saved to, "" if it was not saved
}

// WriteTable writes the file for people: the heading, the decision, the finding, the numbers, the
// warnings, and the command that repeats the run.
func (f file) WriteTable(w io.Writer, o Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", f.Heading())
	if f.Interrupted {
		o.Emphasize(&b, interrupted)
		fmt.Fprintln(&b)
	}
	f.judgement(&b, o)
	groups := byBackend(f.Runs)
	for _, line := range f.Findings() {
		o.Emphasize(&b, line)
	}
	for _, runs := range groups {
		fmt.Fprintln(&b)
		if name := runs[0].Scenario; name != "" {
			fmt.Fprintf(&b, "  %s: %s\n", name, strings.Join(settingsOf(runs[0]), " · "))
		}
		table(runs, chosenOf(f.Percentiles, runs)).coloured(o).write(&b)
		if line := repeated(runs); line != "" {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		writeLines(&b, "warning: ", warningsOf(runs))
		writeRecoveries(&b, runs)
	}
	if g, warnings := beside(f.Runs); g != nil {
		fmt.Fprintln(&b)
		g.write(&b)
		writeLines(&b, "warning: ", warnings)
	}
	f.compare(&b)
	foot(&b, f.File, o)
	_, err := w.Write(b.Bytes())
	return err
}

// interrupted is the note on a file whose command was ended early.
const interrupted = "Interrupted: the last run may be partial, and later runs are missing."

// where says which recipe and backend a finding is about, if there are several.
func where(runs []results.Run, r results.Run) string {
	recipes := levels.Distinct(runs, func(r results.Run) string { return subjectOf(r) })
	backends := levels.Distinct(runs, func(r results.Run) string { return serverName(r.Backend) + whereOf(r.Backend) + r.Backend.URL })
	switch {
	case len(recipes) > 1 && len(backends) > 1:
		return fmt.Sprintf("%s on %s: ", subjectOf(r), serverName(r.Backend))
	case len(recipes) > 1:
		return subjectOf(r) + ": "
	case len(backends) > 1:
		return fmt.Sprintf("On %s: ", serverName(r.Backend))
	}
	return ""
}

// Emphasize writes a line of the finding.
func (o Options) Emphasize(w io.Writer, line string) {
	if o.Color {
		line = printable.Bold + line + printable.Plain
	}
	fmt.Fprintf(w, "  %s\n", line)
}

// subjectOf distinguishes the runs of a file: by scenario or recipe, or by both if the scenario does
// not have the name of the recipe.
func subjectOf(r results.Run) string {
	if r.Scenario == "" || r.Scenario == r.Recipe {
		return r.Recipe
	}
	return r.Scenario + ", " + r.Recipe
}

// byBackend groups the runs by scenario, recipe and backend, in the order of the file.
func byBackend(runs []results.Run) (groups [][]results.Run) {
	for _, r := range runs {
		i := slices.IndexFunc(groups, func(g []results.Run) bool {
			return subjectOf(g[0]) == subjectOf(r) && g[0].Backend.SameService(r.Backend)
		})
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// serverName returns the name of the service: product and version, or the backend's name.
func serverName(b results.Backend) string {
	if b.Server != "" {
		return b.Server
	}
	return b.Name
}

// Heading names the recipe, the backend and the duration in one line.
func (f file) Heading() string {
	parts := []string{"stampede run"}
	if f.Scenario != "" {
		parts = append(parts, f.Scenario)
	}
	parts = append(parts, levels.Distinct(f.Runs, func(r results.Run) string { return r.Recipe })...)
	parts = append(parts, levels.Distinct(f.Runs, func(r results.Run) string { return whereOf(r.Backend) })...)
	if len(f.Runs) > 0 && f.Scenario == "" {
		parts = append(parts, settingsOf(f.Runs[0])...)
	}
	parts = append(parts, fmt.Sprintf("seed %d", f.Seed))
	if len(f.Runs) > 0 && f.Scenario == "" {
		rows := levels.Distinct(f.Runs, func(r results.Run) string { return units.Clients(r.Clients) })
		forms := levels.Distinct(f.Runs, func(r results.Run) string { return r.Recipe + "/" + r.Form })
		parts = append(parts, units.Plural(len(rows), "level")+" × "+units.Plural(len(forms), "form")+repeatedTimes(f.Runs))
	}
	if f.Took > 0 {
		parts = append(parts, units.Setting(f.Took.Round(time.Second)))
	}
	return strings.Join(parts, " · ")
}

// settingsOf returns the settings of the run.
func settingsOf(r results.Run) (parts []string) {
	if r.Groups > 1 {
		parts = append(parts, units.Plural(r.Groups, "group"))
	}
	if o := r.Open; o != nil {
		parts = append(parts, o.Rate+"/s "+o.Arrival)
	}
	if r.IsMix() {
		parts = append(parts, aboutMix(*r.Mix), units.Share(r.ReadRatio.Asked)+" reads")
	} else {
		parts = append(parts, "hold "+units.Setting(r.HoldNS))
	}
	if p := r.Preload; p != nil {
		parts = append(parts, "preload "+units.Count(int64(p.Nodes)))
	}
	if b := r.Background; b != nil {
		parts = append(parts, aboutBackground(*b))
	}
	if r.Faults != nil {
		parts = append(parts, units.Plural(len(r.Faults.Schedule), "fault"))
	}
	if r.ThinkNS > 0 {
		parts = append(parts, "think "+units.Setting(r.ThinkNS))
	}
	return parts
}

// whereOf describes the backend for a heading: "native (own process, memory)".
func whereOf(b results.Backend) string {
	about := []string{}
	for _, s := range []string{b.Started, b.Durability} {
		if s != "" && s != "unknown" {
			about = append(about, s)
		}
	}
	if b.Reads != "" && b.Reads != "local" {
		about = append(about, b.Reads+" reads")
	}
	if len(about) == 0 {
		return serverName(b)
	}
	return fmt.Sprintf("%s (%s)", serverName(b), strings.Join(about, ", "))
}

// About says in one line what the file has: forms, backends, numbers of clients.
func About(f results.File) string {
	if len(f.Runs) == 0 {
		return "no run"
	}
	var forms []string
	for _, recipe := range levels.Distinct(f.Runs, func(r results.Run) string { return r.Recipe }) {
		names := levels.Distinct(f.Runs, func(r results.Run) string {
			if r.Recipe != recipe {
				return ""
			}
			return r.Form
		})
		forms = append(forms, recipe+": "+joined(names))
	}
	return strings.Join(forms, "; ") +
		" · " + joined(levels.Distinct(f.Runs, func(r results.Run) string { return r.Backend.URL })) +
		" · " + joined(levels.Distinct(f.Runs, func(r results.Run) string { return units.Count(int64(r.Clients)) })) + " clients"
}

// joined joins the non-empty words: "a, b, c".
func joined(words []string) string {
	var there []string
	for _, w := range words {
		if w != "" {
			there = append(there, w)
		}
	}
	return strings.Join(there, ", ")
}

// Headline returns the first line of the file's finding.
func Headline(f results.File) string {
	groups := byBackend(f.Runs)
	if len(groups) == 0 {
		return nothing
	}
	return where(f.Runs, groups[0][0]) + finding(groups[0], chosenOf(f.Percentiles, groups[0]))[0]
}

// nothing is the finding of a file without runs.
const nothing = "Nothing was measured: no run was begun."
