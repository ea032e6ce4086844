package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
)

func ofFile(f results.File) page {
	p := ofRuns(f)
	p.Heading, p.Findings, p.Tables = f.Heading(), f.Findings(), f.Tables()
	return p
}

func ofSweep(s results.Sweep) page {
	p := ofRuns(s.File)
	p.Heading, p.Findings, p.Tables, p.Notes = s.Heading(), s.Findings(), s.Tables(), s.Notes()
	return p
}

// ofRuns returns the parts that pages of files and sweeps have in common.
func ofRuns(f results.File) page {
	p := page{
		Title: cmp.Or(f.ID, "stampede"), Verdict: decided(f), Key: key(f.Runs), Trust: trust(f), Gates: gates(f),
		Facts: append(measuredOn(f.Tool, f.Host, f.Started, f.Took), fact{"Seed", fmt.Sprint(f.Seed)}),
		Notes: f.Skipped, Command: results.CommandLine(f.Command), Backends: backends(f.Runs),
	}
	return p
}

func ofCount(r results.CountReport) page {
	p := page{
		Title: "stampede count", Heading: r.Heading(), Findings: r.Findings(), Verdict: badgeOf(results.Pass),
		Tables: r.Tables(), Notes: r.Skipped, Facts: measuredOn(r.Tool, results.Host{}, r.Started, 0),
	}
	var runs []results.Run
	for _, s := range r.Settled {
		runs = append(runs, results.Run{Recipe: s.Recipe, Form: s.Form, Family: s.Family, Backend: s.Backend})
		switch {
		case s.Safety.Violations > 0:
			p.Verdict = badgeOf(results.Violated)
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
		{"library", "is what the client library ships", "are what client libraries ship"},
		{"naive", "is the naive form, which makes it", "are naive forms, which make it"},
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
		add("Took", results.Duration(took))
	}
	add("Processor", h.CPU)
	if h.Cores > 0 {
		add("Cores", fmt.Sprint(h.Cores))
	}
	if h.MemoryBytes > 0 {
		add("Memory", results.Bytes(h.MemoryBytes))
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
