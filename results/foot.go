package results

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// warn writes what to mind of the numbers above, a line each.
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

// warningsOfAll are the warnings of the repetitions: of each code one, with how many
// of them have it.
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

// oneLine is the text without what would begin another line, which might be taken
// for something else.
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

// foot writes what follows the tables.
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

// identities says in how many runs the counts relate as they must under any
// schedule, and where they do not.
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

// countCommand counts at rest what the runs measured under load.
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

// commandLine is a command as a shell takes it.
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

// special tells whether a shell may give the character a meaning.
func special(r rune) bool {
	return !strings.ContainsRune("%+,-./:=@_", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
