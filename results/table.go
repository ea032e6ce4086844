package results

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// TableOptions are options for text output. The zero value is for a pipe.
type TableOptions struct {
	Bold  bool   // print the finding in bold, for a terminal
	Saved string // the path that the file was saved to, "" if it was not saved
}

// WriteTable writes the file for people: what was run, the decision, the finding, the numbers, the
// warnings, and the command that repeats the run.
func (f File) WriteTable(w io.Writer, o TableOptions) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", heading(f))
	if f.Interrupted {
		o.emphasize(&b, interrupted)
		fmt.Fprintln(&b)
	}
	f.judgement(&b, o)
	groups := byBackend(f.Runs)
	for _, line := range f.Findings() {
		o.emphasize(&b, line)
	}
	for _, runs := range groups {
		fmt.Fprintln(&b)
		if name := runs[0].Scenario; name != "" {
			fmt.Fprintf(&b, "  %s: %s\n", name, strings.Join(runs[0].settings(), " · "))
		}
		table(runs, chosenOf(f.Percentiles, runs)).write(&b)
		if line := repeated(runs); line != "" {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		warn(&b, runs)
		writeRecoveries(&b, runs)
	}
	beside(&b, f.Runs)
	f.compare(&b)
	foot(&b, f, o)
	_, err := w.Write(b.Bytes())
	return err
}

// interrupted is the note on a file whose command was ended early.
const interrupted = "Ended early: the last run may be partial, and runs that were to follow are missing."

// where says which recipe and backend a finding is about, if there are several.
func where(runs []Run, r Run) string {
	recipes := distinct(runs, func(r Run) string { return r.subject() })
	backends := distinct(runs, func(r Run) string { return r.Backend.title() + r.Backend.where() + r.Backend.URL })
	switch {
	case len(recipes) > 1 && len(backends) > 1:
		return fmt.Sprintf("%s on %s: ", r.subject(), r.Backend.title())
	case len(recipes) > 1:
		return r.subject() + ": "
	case len(backends) > 1:
		return fmt.Sprintf("On %s: ", r.Backend.title())
	}
	return ""
}

func (o TableOptions) emphasize(w io.Writer, line string) {
	if o.Bold {
		line = "\x1b[1m" + line + "\x1b[0m"
	}
	fmt.Fprintf(w, "  %s\n", line)
}

// subject distinguishes the runs of a file: by scenario or recipe, or by both if the scenario does
// not have the name of the recipe.
func (r Run) subject() string {
	if r.Scenario == "" || r.Scenario == r.Recipe {
		return r.Recipe
	}
	return r.Scenario + ", " + r.Recipe
}

// byBackend groups the runs by scenario, recipe and backend, in the order of the file.
func byBackend(runs []Run) (groups [][]Run) {
	for _, r := range runs {
		i := slices.IndexFunc(groups, func(g []Run) bool { return g[0].subject() == r.subject() && g[0].Backend == r.Backend })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// title returns the name of the service: product and version, or the backend's name.
func (b Backend) title() string {
	if b.Server != "" {
		return b.Server
	}
	return b.Name
}

// heading says in one line what was run.
func heading(f File) string {
	parts := []string{"stampede run"}
	if f.Scenario != "" {
		parts = append(parts, f.Scenario)
	}
	parts = append(parts, distinct(f.Runs, func(r Run) string { return r.Recipe })...)
	parts = append(parts, distinct(f.Runs, func(r Run) string { return r.Backend.where() })...)
	if len(f.Runs) > 0 && f.Scenario == "" {
		parts = append(parts, f.Runs[0].settings()...)
	}
	parts = append(parts, fmt.Sprintf("seed %d", f.Seed))
	if len(f.Runs) > 0 && f.Scenario == "" {
		levels := distinct(f.Runs, func(r Run) string { return Clients(r.Clients) })
		forms := distinct(f.Runs, func(r Run) string { return r.Recipe + "/" + r.Form })
		parts = append(parts, plural(len(levels), "level")+" × "+plural(len(forms), "form")+repeatedTimes(f.Runs))
	}
	if f.Took > 0 {
		parts = append(parts, setting(f.Took.Round(time.Second)))
	}
	return strings.Join(parts, " · ")
}

// settings returns the settings of the run.
func (r Run) settings() (parts []string) {
	if r.Groups > 1 {
		parts = append(parts, plural(r.Groups, "group"))
	}
	if o := r.Open; o != nil {
		parts = append(parts, o.Rate+"/s "+o.Arrival)
	}
	if r.isMix() {
		parts = append(parts, r.Mix.about(), share(r.ReadRatio.Asked)+" reads")
	} else {
		parts = append(parts, "hold "+setting(r.HoldNS))
	}
	if p := r.Preload; p != nil {
		parts = append(parts, "preload "+Count(int64(p.Nodes)))
	}
	if b := r.Background; b != nil {
		parts = append(parts, b.about())
	}
	if r.Faults != nil {
		parts = append(parts, plural(len(r.Faults.Schedule), "fault"))
	}
	if r.ThinkNS > 0 {
		parts = append(parts, "think "+setting(r.ThinkNS))
	}
	return parts
}

// where describes the backend for a heading: "native (own process, memory)".
func (b Backend) where() string {
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
		return b.title()
	}
	return fmt.Sprintf("%s (%s)", b.title(), strings.Join(about, ", "))
}

func distinct(runs []Run, of func(Run) string) (all []string) {
	for _, r := range runs {
		if s := of(r); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
