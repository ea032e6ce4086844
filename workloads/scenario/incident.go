package scenario

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/results"
)

// incident reads the report of a failure that the file shows in small.
func (p *parser) incident(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.faults.Add(n.Line, "incident: must have %s below it", strings.Join(incidentParts, ", "))
		return
	}
	i := &results.Incident{}
	p.file.Incident, p.file.IncidentLine = i, n.Line
	part := func(name string, to *string) func(*yaml.Node) {
		return func(v *yaml.Node) { *to = strings.TrimSpace(p.word(name, v)) }
	}
	symptom := part("symptom", &i.Symptom)
	p.mapping(n, fields{
		"happened":   part("happened", &i.Happened),
		"source":     part("source", &i.Source),
		"reported":   part("reported", &i.Reported),
		"symptom":    func(v *yaml.Node) { symptom(v); p.file.IncidentLine = v.Line },
		"shows":      part("shows", &i.Shows),
		"fixed":      part("fixed", &i.Fixed),
		"reproduced": func(v *yaml.Node) { i.Reproduced = p.words("reproduced", v) },
	}, nil)
	for _, name := range incidentParts {
		if !slices.ContainsFunc(n.Content, func(key *yaml.Node) bool { return key.Value == name }) {
			p.faults.Add(n.Line, "incident: %s is missing", name)
		}
	}
	if i.Source != "" && !strings.HasPrefix(i.Source, "https://") {
		p.faults.Add(n.Line, "incident: source %s: must be the URL of a public report, https://…", i.Source)
	}
	if i.Shows != "" && !strings.Contains(i.Shows, "{}") {
		p.faults.Add(n.Line, "incident: shows must have {} in place of the figure, such as: a release wakes {} clients")
	}
}

// incidentParts are the keys of an incident, all of which it must have.
var incidentParts = []string{"happened", "source", "reported", "symptom", "shows", "fixed", "reproduced"}

// checkIncident reports scenarios that are not the two of an incident.
func (p *parser) checkIncident() {
	if p.file.Incident == nil {
		return
	}
	var names []string
	for _, s := range p.file.Scenarios {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if want := []string{results.FixedScenario, results.SymptomScenario}; !slices.Equal(names, want) {
		p.faults.Add(p.file.IncidentLine, "incident: must have the two scenarios %s and %s", results.SymptomScenario, results.FixedScenario)
	}
}
