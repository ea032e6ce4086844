package observed

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results/units"
)

// Advice says what to do about the herd at a path.
type Advice struct {
	Path   string
	Recipe string // of the catalogue
	Form   string // that wakes fewer
	// Threshold holds the path to what the form would wake; "" if that depends on the number of clients.
	Threshold string
}

// Advise returns what to do about each herd for which there is a form that wakes fewer.
func Advise(r observation.Report) (all []Advice) {
	for _, p := range r.Herds() {
		if p.Form.Instead == "" {
			continue
		}
		a := Advice{Path: p.Path, Recipe: recipeOf(*p.Form), Form: p.Form.Instead}
		if p.Form.Wakes > 0 {
			a.Threshold = fmt.Sprintf("%s: fanout.max <= %s", p.Path, units.Count(p.Form.Wakes+int64(p.Followers)))
		}
		all = append(all, a)
	}
	return all
}

// recipeOf returns the recipe that the form belongs to. What is no form of the catalogue, and has one that wakes
// fewer, is a lock.
func recipeOf(f observation.Form) string {
	if len(f.Forms) == 0 {
		return "lock"
	}
	recipe, _, _ := strings.Cut(f.Forms[0], "/")
	return recipe
}
