package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// listIncidents lists the scenarios that show a public incident in small.
func (a *app) listIncidents(recipes []string, long bool) error {
	files, err := a.incidentsOf(recipes)
	if err != nil {
		return err
	}
	if long {
		return a.explainIncidents(files)
	}
	lines := [][]string{{"INCIDENT", "SYMPTOM", "WHAT RUNS", "REPORTED IN"}}
	for _, f := range files {
		lines = append(lines, []string{f.Name, f.About, contrasted(f), sourceName(f.Incident.Source)})
	}
	if err := render.WriteColumns(a.out, "", lines); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, "\nstampede run -f INCIDENT runs the form with the symptom, and then the fixed one.")
	return err
}

// incidentsOf returns the incidents whose runs are of one of the recipes, or all.
func (a *app) incidentsOf(recipes []string) (files []scenario.File, err error) {
	if _, err := selectedForms(a.forms, recipes); err != nil {
		return nil, cli.Usage(err)
	}
	for _, name := range scenario.Incidents() {
		file, err := a.parseScenario(name)
		if err != nil {
			return nil, err
		}
		if len(recipes) == 0 || slices.Contains(recipes, file.Scenarios[0].Values("recipe")[0]) {
			files = append(files, file)
		}
	}
	return files, nil
}

// explainIncidents says what happened in each incident, and how the scenario shows it.
func (a *app) explainIncidents(files []scenario.File) error {
	for _, f := range files {
		i := f.Incident
		fmt.Fprintf(a.out, "\n%s · %s\n", f.Name, f.About)
		explain(a.out, "was", i.Happened)
		explain(a.out, "report", i.Reported)
		explain(a.out, "source", i.Source)
		explain(a.out, "runs", contrasted(f))
		explain(a.out, "shows", i.Symptom)
		explain(a.out, "fixed", i.Fixed)
		if _, err := explain(a.out, "seen", strings.Join(i.Reproduced, "; ")); err != nil {
			return err
		}
	}
	return nil
}

// contrasted names what both scenarios of an incident run, and by what the fixed one differs: "lock: one-node,
// predecessor".
func contrasted(f scenario.File) string {
	symptom, fixed := f.Scenarios[0], f.Scenarios[1]
	if symptom.Name != results.SymptomScenario {
		symptom, fixed = fixed, symptom
	}
	text := symptom.Values("recipe")[0] + ":"
	for _, set := range symptom.Settings {
		to := strings.Join(fixed.Values(set.Key), " ")
		if from := strings.Join(set.Values, " "); from != to {
			if set.Key != "form" {
				text += " " + set.Key
			}
			if set.Key == "fault" { // when they strike is in the scenario
				from, to = strings.Join(verbs(set.Values), " and "), "none"
			}
			text += " " + from + ", " + to
		}
	}
	return text
}

// verbs returns what faults do: the second word of each, as in "at=1s drop clients=all".
func verbs(faults []string) (all []string) {
	for _, f := range faults {
		all = append(all, strings.Fields(f)[1])
	}
	return all
}

// sourceName shortens the URL of a report: an issue of GitHub as its authors write it, and otherwise the host.
func sourceName(url string) string {
	path := strings.TrimPrefix(url, "https://")
	host, rest, _ := strings.Cut(path, "/")
	for _, kind := range []string{"/issues/", "/pull/"} {
		if project, number, ok := strings.Cut(rest, kind); ok && host == "github.com" {
			return project + "#" + number
		}
	}
	return host
}
