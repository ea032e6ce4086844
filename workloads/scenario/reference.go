package scenario

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
)

// reference reads published figures to compare the runs with.
func (p *parser) reference(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.faults.Add(n.Line, "reference: must have source, figure, across, columns, rows and differs below it")
		return
	}
	r := &results.Reference{}
	p.file.Reference = r
	p.mapping(n, fields{
		"source":  func(v *yaml.Node) { r.Source = p.word("source", v) },
		"figure":  func(v *yaml.Node) { r.Figure = p.oneOf("figure", v, results.Figures()) },
		"across":  func(v *yaml.Node) { r.Across = p.oneOf("across", v, results.Across()) },
		"columns": func(v *yaml.Node) { r.Columns, p.across = p.words("columns", v), v.Line },
		"differs": func(v *yaml.Node) { r.Differs = p.words("differs", v) },
		"rows":    func(v *yaml.Node) { r.Rows = p.referenceRows(v) },
	}, nil)
	p.complete(n.Line, r)
}

// complete reports the missing parts of a reference.
func (p *parser) complete(line int, r *results.Reference) {
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"source", r.Source != ""}, {"figure", r.Figure != ""}, {"across", r.Across != ""},
		{"columns", len(r.Columns) > 0}, {"rows", len(r.Rows) > 0},
	} {
		if !part.there {
			p.faults.Add(line, "reference: %s is missing", part.name)
		}
	}
	for _, row := range r.Rows {
		if len(row.Figures) != len(r.Columns) {
			p.faults.Add(line, "reference: row %q has %d figures for %d columns", row.Label, len(row.Figures), len(r.Columns))
		}
	}
}

func (p *parser) referenceRows(n *yaml.Node) (rows []results.ReferenceRow) {
	if n.Kind != yaml.MappingNode {
		p.faults.Add(n.Line, "rows: must have a label for each row, and a list of figures")
		return nil
	}
	p.unique(n)
	for key, value := range pairs(n) {
		row := results.ReferenceRow{Label: key.Value}
		for _, text := range p.words(key.Value, value) {
			figure, err := strconv.ParseFloat(text, 64)
			if err != nil || !(figure > 0) {
				p.faults.Add(value.Line, "%s: invalid figure %s: must be a number above 0", key.Value, text)
			}
			row.Figures = append(row.Figures, figure)
		}
		rows = append(rows, row)
	}
	return rows
}

func (p *parser) words(key string, n *yaml.Node) (words []string) {
	if n.Kind != yaml.SequenceNode {
		p.faults.Add(n.Line, "%s: must be a list", key)
		return nil
	}
	for _, item := range n.Content {
		words = append(words, p.word(key, item))
	}
	return words
}

func (p *parser) oneOf(key string, n *yaml.Node, have []string) string {
	word := p.word(key, n)
	if word != "" && !slices.Contains(have, word) {
		p.faults.Add(n.Line, "%v", suggest.Unknown(key, word, have))
	}
	return word
}

// checkReference reports columns that do not name a scenario although columns stand for scenarios.
func (p *parser) checkReference() {
	r := p.file.Reference
	if r == nil || r.Across != results.AcrossScenarios {
		return
	}
	for _, column := range r.Columns {
		if !slices.ContainsFunc(p.file.Scenarios, func(s Scenario) bool { return s.Name == column }) {
			p.faults.Add(p.across, "reference: column %q is not a scenario", column)
		}
	}
}
