package results

import "strings"

// About says in one line what the file has: forms, backends, numbers of clients.
func (f File) About() string {
	if len(f.Runs) == 0 {
		return "no run"
	}
	var forms []string
	for _, recipe := range distinct(f.Runs, func(r Run) string { return r.Recipe }) {
		names := distinct(f.Runs, func(r Run) string {
			if r.Recipe != recipe {
				return ""
			}
			return r.Form
		})
		forms = append(forms, recipe+": "+joined(names))
	}
	return strings.Join(forms, "; ") +
		" · " + joined(distinct(f.Runs, func(r Run) string { return r.Backend.URL })) +
		" · " + joined(distinct(f.Runs, func(r Run) string { return Count(int64(r.Clients)) })) + " clients"
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
func (f File) Headline() string {
	groups := byBackend(f.Runs)
	if len(groups) == 0 {
		return nothing
	}
	return where(f.Runs, groups[0][0]) + finding(groups[0], chosenOf(f.Percentiles, groups[0]))[0]
}

// nothing is the finding of a file without runs.
const nothing = "Nothing was measured: no run was begun."
