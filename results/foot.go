package results

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// warn writes the warnings about the runs, a line each.
func warn(w io.Writer, runs []Run) {
	for _, row := range repetitions(runs) {
		r := row[0]
		who := fmt.Sprintf("%s, %s", r.Form, Clients(r.Clients))
		for _, warning := range warningsOfAll(row) {
			fmt.Fprintf(w, "  warning: %s\n", oneLine(who+": "+warning.Text))
		}
		for _, r := range row {
			if n := r.Safety.BeliefOverlaps; n > 0 {
				fmt.Fprintf(w, "  warning: %s: after a disturbance %s more than one client believed to hold; %s older tokens refused\n",
					who, times(n), refused(r.Safety))
			}
		}
	}
}

// warningsOfAll returns the warnings of all repetitions, one for each code, with the number of
// repetitions that have it.
func warningsOfAll(row []Run) []Warning {
	if len(row) == 1 {
		return row[0].Warnings
	}
	var all []Warning
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

func refused(s Safety) string {
	if !s.Tokens {
		return absent
	}
	return Count(s.TokensRefused)
}

// foot writes the lines below the tables.
func foot(w io.Writer, f File, o TableOptions) {
	fmt.Fprintln(w)
	for _, line := range f.Skipped {
		fmt.Fprintf(w, "  skipped: %s\n", line)
	}
	identities(w, f.Runs)
	nearness(w, f.Runs)
	if recipes := slices.DeleteFunc(slices.Clone(f.Runs), Run.isLoad); len(recipes) > 0 {
		fmt.Fprintf(w, "  exact counts and growth: %s\n", countCommand(recipes))
	}
	if o.Saved != "" {
		fmt.Fprintf(w, "  saved: %s\n", o.Saved)
	}
	fmt.Fprintf(w, "  again: %s\n", commandLine(f.Command))
}

// identities writes in how many runs the identities of the counts hold, and which ones are broken.
// An identity holds under any schedule.
func identities(w io.Writer, runs []Run) {
	var rows, hold int
	var broken []string
	for _, r := range runs {
		if r.Cost.Expected == nil || len(r.Cost.Expected.Identities) == 0 {
			continue
		}
		rows++
		good := true
		for _, i := range r.Cost.Expected.Identities {
			if !i.Holds {
				good = false
				broken = append(broken, fmt.Sprintf("IDENTITY BROKEN: %s, %s: %s gives %s and %s",
					r.Form, Clients(r.Clients), i.Formula, Count(i.Left), Count(i.Right)))
			}
		}
		if good {
			hold++
		}
	}
	if rows == 0 {
		return
	}
	noun := "row"
	if runs[0].Repetition > 0 {
		noun = "run"
	}
	fmt.Fprintf(w, "  identities hold in %d of %s\n", hold, plural(rows, noun))
	for _, line := range broken {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// countCommand returns the command that counts at rest what the runs measured under load.
func countCommand(runs []Run) string {
	recipes := distinct(runs, func(r Run) string { return r.Recipe })
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

// commandLine quotes a command for a shell.
func commandLine(args []string) string {
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
