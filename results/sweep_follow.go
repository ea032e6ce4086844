package results

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// follows reports whether the finding is how throughput and latency change along the levels: no law
// applies to the axes of a mix.
func (s Sweep) follows(levels []Level) bool {
	return s.Objective == "" && len(levels) > 1 && slices.Contains([]string{"reads", "size"}, s.Axes[0])
}

// follow says how the throughput and the latencies of a form change.
func (s Sweep) follow(levels []Level) []string {
	first := levels[0]
	lines := []string{fmt.Sprintf("%s: %s.", upper(s.who(first.Recipe, first.Form, first.Backend.URL, s.beside(first))), s.trend(levels))}
	var parts []string
	for _, phase := range s.phases(levels) {
		if text := s.trendOf(phase, levels); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) > 0 {
		lines = append(lines, upper(strings.Join(parts, "; "))+".")
	}
	return lines
}

// trend says how the throughput changes from the first level to the last.
func (s Sweep) trend(levels []Level) string {
	first, last := levels[0], levels[len(levels)-1]
	return fmt.Sprintf("%s throughput %s from %s/s to %s/s", s.ends(levels), change(first.Throughput, last.Throughput),
		Rate(first.Throughput.Value), Rate(last.Throughput.Value))
}

// trendOf says how the latency of a phase changes, by the highest percentile that all levels with the
// phase have. It returns "" if fewer than two levels have one: a mix of reads alone has no writes.
func (s Sweep) trendOf(phase string, levels []Level) string {
	having := func(p percentile) (some []Level) {
		for _, l := range levels {
			if _, ok := l.Latency[phase][p.name]; ok {
				some = append(some, l)
			}
		}
		return some
	}
	all := percentiles()
	least := len(having(all[len(all)-1]))
	for _, p := range all {
		some := having(p)
		if len(some) < 2 || len(some) < least {
			continue
		}
		first, last := some[0].Latency[phase][p.name], some[len(some)-1].Latency[phase][p.name]
		return fmt.Sprintf("%s %s %s %s from %s to %s", s.ends(some), label(phase), p.name, change(first, last),
			Duration(time.Duration(first.Value)), Duration(time.Duration(last.Value)))
	}
	return ""
}

// phases returns the phases of all levels, in order of appearance.
func (s Sweep) phases(levels []Level) (all []string) {
	for _, l := range levels {
		for _, phase := range s.Runs[l.Runs[0]].Phases {
			if !slices.Contains(all, phase) {
				all = append(all, phase)
			}
		}
	}
	return all
}

// ends names the first and the last level: "from 0 % to 100 % reads".
func (s Sweep) ends(levels []Level) string {
	from, to := levels[0].On(s.Axes[0]), levels[len(levels)-1].On(s.Axes[0])
	if s.Axes[0] == "reads" {
		return fmt.Sprintf("from %s to %s", shareAsked(from), place("reads", to))
	}
	return fmt.Sprintf("from %s to %s B", place("size", from), Count(int64(to)))
}

// change returns the verb for a change. It is "rises" or "falls" only if the intervals do not overlap.
func change(from, to Estimate) string {
	switch {
	case to.Low > from.High:
		return "rises"
	case to.High < from.Low:
		return "falls"
	}
	return "goes"
}
