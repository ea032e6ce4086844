package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// warningsOf returns the warnings about the runs, a line each.
func warningsOf(runs []results.Run) (lines []string) {
	for _, row := range levels.Repetitions(runs) {
		r := row[0]
		who := fmt.Sprintf("%s, %s", r.Form, units.Clients(r.Clients))
		for _, warning := range warningsOfAll(row) {
			lines = append(lines, oneLine(who+": "+warning.Text))
		}
		for _, r := range row {
			if n := r.Safety.BeliefOverlaps; n > 0 {
				lines = append(lines, fmt.Sprintf("%s: after a disturbance %s more than one client believed to hold; %s older tokens refused",
					who, units.Times(n), refused(r.Safety)))
			}
		}
	}
	return lines
}

// writeLines writes the lines, each indented and after the prefix.
func writeLines(w io.Writer, prefix string, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(w, "  %s%s\n", prefix, line)
	}
}

// warningsOfAll returns the warnings of all repetitions, one for each code, with the number of
// repetitions that have it.
func warningsOfAll(row []results.Run) []results.Warning {
	if len(row) == 1 {
		return row[0].Warnings
	}
	var all []results.Warning
	count := map[string]int{}
	for _, r := range row {
		for _, w := range r.Warnings {
			if count[w.Code]++; count[w.Code] == 1 {
				all = append(all, w)
			}
		}
	}
	for i, w := range all {
		all[i].Text = fmt.Sprintf("in %d of %d repetitions: %s", count[w.Code], len(row), w.Text)
	}
	return all
}

// oneLine replaces control characters with spaces. A line break in the text could otherwise start a
// line that is mistaken for other output.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
}

func refused(s results.Safety) string {
	if !s.Tokens {
		return units.Absent
	}
	return units.Count(s.TokensRefused)
}

// foot writes the lines below the tables.
func foot(w io.Writer, f results.File, o Options) {
	fmt.Fprintln(w)
	writeLines(w, "skipped: ", f.Skipped)
	writeIdentities(w, f.Runs, o)
	nearness(w, f.Runs)
	writeLines(w, "agent ", agents(f.Runs))
	writeClockErrors(w, f.Runs)
	if recipes := slices.DeleteFunc(slices.Clone(f.Runs), results.Run.IsLoad); len(recipes) > 0 {
		fmt.Fprintf(w, "  exact counts and growth: %s\n", countCommand(recipes))
	}
	if o.Saved != "" {
		fmt.Fprintf(w, "  saved: %s\n", o.Saved)
	}
	writeCommand(w, f.Command)
}

// writeCommand writes the command that repeats a result, if the result has it.
func writeCommand(w io.Writer, command []string) {
	if len(command) > 0 {
		fmt.Fprintf(w, "  repeat with: %s\n", CommandLine(command))
	}
}

// writeClockErrors says which times begin with one agent and end with another, and how far they can be
// wrong at most.
func writeClockErrors(w io.Writer, runs []results.Run) {
	var phases []string
	var most time.Duration
	for _, r := range runs {
		for _, phase := range r.Phases {
			if e := r.Latency[phase].ErrorNS; e > 0 {
				phases, most = append(phases, Label(phase)), max(most, e)
			}
		}
	}
	slices.Sort(phases)
	if phases = slices.Compact(phases); len(phases) > 0 {
		fmt.Fprintf(w, "  %s: from one agent to another, by two clocks: each time is known within ±%s, and percentiles below %s are n/a\n",
			strings.Join(phases, ", "), units.Duration(most), units.Duration(2*most))
	}
}

// writeIdentities writes in how many runs the identities hold, and each that is broken.
func writeIdentities(w io.Writer, runs []results.Run, o Options) {
	for i, line := range identities(runs) {
		if i > 0 {
			line = o.paint(line, results.Regression)
		}
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// identities says in how many runs the identities of the counts hold, and which ones are broken.
// An identity holds under any schedule.
func identities(runs []results.Run) (lines []string) {
	var rows, hold, invalid int
	var broken []string
	for _, r := range runs {
		if e := r.Cost.Expected; e != nil && e.Invalid != "" {
			invalid++
		}
		if r.Cost.Expected == nil || len(r.Cost.Expected.Identities) == 0 {
			continue
		}
		rows++
		good := true
		for _, i := range r.Cost.Expected.Identities {
			if !i.Holds {
				good = false
				broken = append(broken, fmt.Sprintf("IDENTITY BROKEN: %s, %s: %s gives %s and %s",
					r.Form, units.Clients(r.Clients), i.Formula, units.Count(i.Left), units.Count(i.Right)))
			}
		}
		if good {
			hold++
		}
	}
	noun := "row"
	if rows+invalid > 0 && runs[0].Repetition > 0 {
		noun = "run"
	}
	without := fmt.Sprintf("identities are invalid in %s: the counts of a lost agent are missing", units.Plural(invalid, noun))
	switch {
	case rows+invalid == 0:
		return nil
	case rows == 0:
		return []string{without}
	}
	lines = []string{fmt.Sprintf("identities hold in %d of %s", hold, units.Plural(rows, noun))}
	if invalid > 0 {
		lines[0] += "; they " + strings.TrimPrefix(without, "identities ")
	}
	return append(lines, broken...)
}

// countCommand returns the command that counts at rest what the runs measured under load.
func countCommand(runs []results.Run) string {
	recipes := levels.Distinct(runs, func(r results.Run) string { return r.Recipe })
	var levels []int
	for _, r := range runs {
		levels = append(levels, r.Clients)
	}
	slices.Sort(levels)
	var of []string
	for _, n := range slices.Compact(levels) {
		of = append(of, strconv.Itoa(n))
	}
	return "stampede count " + strings.Join(recipes, " ") + " --clients " + strings.Join(of, ",")
}

// CommandLine quotes a command for a shell.
func CommandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if a == "" || strings.ContainsFunc(a, special) {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// special reports whether the character may be special to a shell.
func special(r rune) bool {
	return !strings.ContainsRune("%+,-./:=@_", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
