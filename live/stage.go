package live

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// A stage is what is shown side by side: the forms of one recipe with one number of
// clients, on whatever services.
type stage struct {
	recipe          string
	clients, groups int
}

func stageOf(r Run) stage { return stage{r.Recipe, r.Clients, r.Groups} }

// shown are the panels of the stage, in the order in which they came to be known.
func (p *Page) shown() []*panel {
	return slices.DeleteFunc(slices.Clone(p.panels), func(of *panel) bool { return stageOf(of.run) != p.at })
}

// heading says what is on the stage.
func (s stage) heading(panels []*panel) string {
	if len(panels) == 0 {
		return "No run has begun."
	}
	words := []string{s.recipe, results.Clients(s.clients)}
	if s.groups > 1 {
		words = append(words, results.Count(int64(s.groups))+" groups")
	}
	for _, of := range panels {
		if on := of.on(); !slices.Contains(words, on) {
			words = append(words, on)
		}
	}
	return strings.Join(words, " · ")
}

// finding is what the runs of the stage show so far.
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
		return []string{"Nothing to see yet: no round has ended."}
	}
	found := (results.File{Runs: runs}).Findings()
	if waiting { // what else it says is that there is nothing to compare
		found = found[:1]
	}
	return found
}
