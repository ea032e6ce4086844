package document

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/contrast"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/outage"
	"github.com/stampede-bench/stampede/results/units"
)

// runFindings says what the file shows, one line or two for each recipe and backend.
func runFindings(f results.File) (lines []string) {
	groups := byBackend(f.Runs)
	if len(groups) == 0 {
		return []string{"Nothing was measured: no run was begun."}
	}
	recipes := levels.Distinct(f.Runs, subjectOf)
	backends := levels.Distinct(f.Runs, func(r results.Run) string { return placeName(f.Runs, r.Backend) })
	for _, runs := range groups {
		found := finding(runs, levels.ShownOf(f.Percentiles, runs))
		where := distinctName(f.Runs, runs[0].Backend, serverName, askedOf)
		switch {
		case len(recipes) > 1 && len(backends) > 1:
			found[0] = fmt.Sprintf("%s on %s: %s", subjectOf(runs[0]), where, found[0])
		case len(recipes) > 1:
			found[0] = subjectOf(runs[0]) + ": " + found[0]
		case len(backends) > 1:
			found[0] = fmt.Sprintf("On %s: %s", where, found[0])
		}
		lines = append(lines, found...)
	}
	return lines
}

// finding says in a line or two what the runs on one backend show. For a recipe in a closed loop
// without faults, it compares a naive form with another one, at the largest number of clients
// that has both.
func finding(runs []results.Run, shown levels.Shown) []string {
	if void := violations(runs); len(void) > 0 {
		return void
	}
	return append(lostServices(runs), shownBy(runs, shown)...)
}

// lostServices names the runs that ended since their service went away.
func lostServices(runs []results.Run) (lines []string) {
	for _, r := range runs {
		for _, w := range r.Doubts {
			if w.Code == metrics.ServiceLost {
				lines = append(lines, fmt.Sprintf("SERVICE LOST: %s/%s with %s: %s.", r.Recipe, r.Form, units.Clients(r.Clients), strings.TrimPrefix(w.Text, "service lost: ")))
			}
		}
	}
	return lines
}

// shownBy says what runs without a safety violation show.
func shownBy(runs []results.Run, shown levels.Shown) []string {
	measured := slices.DeleteFunc(slices.Clone(runs), func(r results.Run) bool { return r.Cost.PerRound == nil })
	if len(measured) == 0 {
		return []string{"Nothing was measured: no round was completed."}
	}
	if measured[0].IsMix() {
		return append(mixes(measured, shown), outage.Findings(measured)...)
	}
	if isStorm(measured[0]) {
		return sayOfLargest(measured, stormed)
	}
	if measured[0].Reconnects != nil {
		return append(outage.Returns(largestRuns(levels.Medians(measured))), outage.Findings(measured)...)
	}
	if measured[0].Fanout != nil {
		return sayOfLargest(measured, func(r results.Run) string { return notified(r, formsOf(measured)) })
	}
	if lines := outage.Findings(measured); lines != nil {
		return lines
	}
	if slices.ContainsFunc(measured, results.Run.IsOpen) {
		return sayOfLargest(levels.Medians(measured), func(r results.Run) string { return offer(r, measured, shown) })
	}
	if naive, calm, ok := levels.Counterparts(levels.Medians(measured)); ok {
		return compare(naive, calm, measured, shown)
	}
	return alone(levels.Medians(measured), runs)
}

// violations names the runs with safety violations. The numbers of such a run are void.
func violations(runs []results.Run) (lines []string) {
	for _, r := range runs {
		if r.Safety.Violations == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("SAFETY VIOLATED: %s/%s with %s violated safety %s in %s checks; the numbers are void.",
			r.Recipe, r.Form, units.Clients(r.Clients), units.Times(r.Safety.Violations), units.Count(r.Safety.Checked)))
		for _, detail := range firstOfEach(r.Safety) {
			lines = append(lines, "  "+detail)
		}
	}
	return lines
}

func compare(naive, calm results.Run, runs []results.Run, shown levels.Shown) []string {
	return slices.Concat([]string{contrast.Sentence(naive, calm, runs)}, contrast.Slower(naive, calm, runs, shown),
		contrast.SlowerBackground(naive, calm, runs, levels.Shown{Chosen: shown.Chosen, Judged: shown.Judged, Tails: backgroundTails()},
			bystanders))
}

// alone says what one family shows where there is no other to compare it with, and why. The
// argument all has all runs, also those without a completed round.
func alone(runs, all []results.Run) []string {
	most := largestRuns(runs)[0]
	return []string{contrast.Alone(most), uncompared(most, all)}
}

// uncompared says why there is no form to compare the run with: none ran, or the form completed no
// round, or it ran with other numbers of clients only.
func uncompared(r results.Run, all []results.Run) string {
	other := "herd-avoiding"
	if r.Family != "naive" {
		other = "naive"
	}
	i := slices.IndexFunc(all, func(o results.Run) bool {
		return o.Recipe == r.Recipe && (o.Family == "naive") != (r.Family == "naive")
	})
	if i < 0 {
		return fmt.Sprintf("No %s form of it ran, so there is nothing to compare.", other)
	}
	if all[i].Cost.PerRound == nil {
		return fmt.Sprintf("The %s form %s completed no round with %s, so there is nothing to compare.", other, all[i].Form, units.Clients(all[i].Clients))
	}
	return fmt.Sprintf("The %s form %s ran with another number of clients only, so there is nothing to compare.", other, all[i].Form)
}

// largestRuns returns the runs with the largest number of clients.
func largestRuns(runs []results.Run) []results.Run {
	most := slices.MaxFunc(runs, func(a, b results.Run) int { return a.Clients - b.Clients }).Clients
	return slices.DeleteFunc(slices.Clone(runs), func(r results.Run) bool { return r.Clients != most })
}

// sayOfLargest returns what is said of each run with the largest number of clients, "" of none.
func sayOfLargest(runs []results.Run, say func(results.Run) string) (lines []string) {
	for _, r := range largestRuns(runs) {
		if line := say(r); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// timesOf returns the function that gives a run's latency of the phase.
func timesOf(phase string) func(results.Run) *results.Distribution {
	return func(r results.Run) *results.Distribution { return r.Times(phase) }
}

// loss says that the time of a higher percentile than a finite one is infinite, "" if it is not.
func loss(of levels.Timing, p float64, r results.Run) string {
	if !of.HidesLoss(p, r) {
		return ""
	}
	return "; " + levels.PercentileName(levels.LossTail) + " is infinite, since arrivals were not served"
}

// duration formats a time in ns.
func duration[T int64 | float64](ns T) string { return units.Duration(time.Duration(ns)) }

// offer says whether a form kept up with the offered rate, "" of a closed loop.
func offer(r results.Run, runs []results.Run, shown levels.Shown) string {
	if !r.IsOpen() {
		return ""
	}
	line := levels.Pace(r, runs) + ": "
	first := results.FirstPhase(r)
	p, name := shown.Highest(runs, timesOf(first), r)
	switch {
	case name == "" && levels.Responses(first).Endless(50, r):
		return line + levels.PhaseName(first) + " p50 is infinite: arrivals were not served."
	case name == "":
		return line + "too few rounds to say how long they took."
	}
	service := func(r results.Run) *results.Distribution { return r.ServiceTimes(first) }
	return line + fmt.Sprintf("%s %s is %s from when it was due, %s from the call%s.",
		levels.PhaseName(first), name, shown.Cite(runs, timesOf(first), r, p), shown.Cite(runs, service, r, p), loss(levels.Responses(first), p, r))
}
