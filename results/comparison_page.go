package results

import (
	"cmp"
	"io"
	"slices"
)

// Page returns the comparison's text for people.
func (c Comparison) Page() Page {
	p := Page{Heading: c.Heading() + " · " + c.Base.Label + " → " + c.New.Label, Finding: c.findings(c.New.Label), Tables: c.Tables(), Command: commandLine(c.Command)}
	if c.Interrupted {
		p.Broken, p.Finding = p.Finding[0], nil
	}
	p.Warnings = slices.Concat(warnings(p.Tables), texts(c.Warnings))
	p.Notes = c.notes()
	return p
}

// Tables returns the changes of each subject, then the tables beside them.
func (c Comparison) Tables() (all []Table) {
	for _, of := range bySubject(c.Changes) {
		title := cmp.Or(of[0].Subject, c.Base.Label+" → "+c.New.Label)
		all = append(all, tabled(title, c.changes(of), func(w io.Writer) { whys(w, of) }))
	}
	for _, p := range c.parts() {
		all = append(all, tabled(p.title, p.grid, func(io.Writer) {}))
	}
	return all
}

// Page returns the calibration's text for people.
func (c Calibration) Page() Page {
	p := Page{Heading: c.heading(), Finding: []string{c.finding()}, Warnings: texts(c.Warnings), Command: commandLine(c.Command)}
	for _, s := range c.Settings {
		p.Tables = append(p.Tables, tabled(s.Setting, s.table(), func(io.Writer) {}))
	}
	return p
}
