package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/results/view"
)

func ofFile(f results.File) page {
	p := ofRuns(f)
	v := view.Of(f)
	p.Heading, p.Findings, p.Tables = v.Heading(), v.Findings(), v.Tables()
	return p
}

func ofSweep(s results.Sweep) page {
	p := ofRuns(s.File)
	v := view.Of(s)
	p.Heading, p.Findings, p.Tables = v.Heading(), v.Findings(), v.Tables()
	return p
}

// ofRuns returns the parts that pages of files and sweeps have in common.
func ofRuns(f results.File) page {
	p := page{
		Title: cmp.Or(f.ID, "stampede"), Verdict: decided(f), Key: key(f.Runs), Trust: trust(f), Gates: gates(f),
		Facts: append(measuredOn(f.Tool, f.Host, f.Started, f.Took), fact{"Seed", fmt.Sprint(f.Seed)}),
		Notes: f.Skipped, Command: view.CommandLine(f.Command), Backends: backends(f.Runs),
	}
	return p
}

func ofCount(r results.CountReport) page {
	v := view.Of(r)
	p := page{
		Title: "stampede count", Heading: v.Heading(), Findings: v.Findings(), Command: view.CommandLine(r.Command), Verdict: badgeOf(results.Pass),
		Tables: v.Tables(), Notes: r.Skipped, Facts: measuredOn(r.Tool, results.Host{}, r.Started, 0),
	}
	var runs []results.Run
	for _, s := range r.Settled {
		runs = append(runs, results.Run{Recipe: s.Recipe, Form: s.Form, Family: s.Family, Backend: s.Backend})
		switch {
		case s.Safety.Violations > 0:
			p.Verdict = badgeOf(results.Fail)
		case s.Differs() && p.Verdict.Kind == "good":
			p.Verdict = badgeOf(results.Regression)
		}
	}
	p.Key, p.Backends = key(runs), backends(runs)
	return p
}

// key explains the family of each form, for readers of the charts.
func key(runs []results.Run) (lines []string) {
	for _, family := range []struct{ name, one, many string }{
		{"recipe", "is the recipe, which avoids the herd", "are recipes, which avoid the herd"},
		{"library", "is the form of the client library", "are forms of client libraries"},
		{"naive", "is the naive form, which causes it", "are naive forms, which cause it"},
	} {
		var forms []string
		for _, r := range runs {
			if r.Family == family.name && !slices.Contains(forms, r.Form) {
				forms = append(forms, r.Form)
			}
		}
		switch len(forms) {
		case 0:
		case 1:
			lines = append(lines, forms[0]+" "+family.one)
		default:
			lines = append(lines, strings.Join(forms, ", ")+" "+family.many)
		}
	}
	return lines
}

func measuredOn(t results.Tool, h results.Host, started time.Time, took time.Duration) (all []fact) {
	add := func(name, value string) {
		if value != "" {
			all = append(all, fact{name, value})
		}
	}
	add("Started", started.UTC().Format("2006-01-02 15:04:05 UTC"))
	if took > 0 {
		add("Took", units.Duration(took))
	}
	add("Processor", h.CPU)
	if h.Cores > 0 {
		add("Cores", fmt.Sprint(h.Cores))
	}
	if h.MemoryBytes > 0 {
		add("Memory", units.Bytes(h.MemoryBytes))
	}
	add("System", strings.TrimSpace(h.OS+" "+h.Kernel))
	add("Tool", strings.TrimSpace("stampede "+t.Version+" "+t.Commit))
	add("Go", t.Go)
	return all
}

func backends(runs []results.Run) (all []results.Backend) {
	for _, r := range runs {
		if !slices.Contains(all, r.Backend) {
			all = append(all, r.Backend)
		}
	}
	return all
}
