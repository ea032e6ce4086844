package live

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/units"
)

// A stage is the set of panels shown side by side: the forms of one recipe with one number of
// clients, on any services.
type stage struct {
	recipe          string
	clients, groups int
}

func stageOf(r Run) stage { return stage{r.Recipe, r.Clients, r.Groups} }

// shown returns the panels of the current stage, in the order in which they were created.
func (p *Page) shown() []*panel {
	return slices.DeleteFunc(slices.Clone(p.panels), func(of *panel) bool { return stageOf(of.run) != p.at })
}

// heading describes the stage.
func (s stage) heading(panels []*panel) string {
	if len(panels) == 0 {
		return "No run has begun."
	}
	words := []string{s.recipe, units.Clients(s.clients)}
	if s.groups > 1 {
		words = append(words, units.Count(int64(s.groups))+" groups")
	}
	for _, of := range panels {
		if on := of.serviceName(); !slices.Contains(words, on) {
			words = append(words, on)
		}
	}
	return strings.Join(words, " · ")
}

// finding returns the findings from the stage's runs so far.
func finding(panels []*panel) []string {
	var runs []results.Run
	waiting := false
	for _, of := range panels {
		waiting = waiting || of.state() == next
		if of.figures.Rounds > 0 {
			runs = append(runs, of.figures)
		}
	}
	if len(runs) == 0 {
		return []string{"No round has ended yet."}
	}
	found := document.New(results.File{Runs: runs}).Findings
	if waiting { // the other findings say that there is nothing to compare
		found = found[:1]
	}
	return found
}
