package levels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// Upkeep says what a round of the largest number of clients needs besides what they request: first what most forms
// need, then the others.
func Upkeep(runs []results.Run) []string {
	var clients int
	needs := map[string]string{} // by form
	for _, r := range runs {
		u := r.Cost.Upkeep
		if u == nil || r.Rounds == 0 || r.Clients < clients {
			continue
		}
		if r.Clients > clients {
			clients = r.Clients
			clear(needs)
		}
		rounds := float64(r.Rounds)
		needs[r.Form] = fmt.Sprintf("%s writes and %s reads", units.Rate(float64(u.Writes)/rounds), units.Rate(float64(u.Reads)/rounds))
	}
	if len(needs) == 0 {
		return nil
	}
	forms := map[string][]string{} // by what they need
	for form, text := range needs {
		forms[text] = append(forms[text], form)
	}
	texts := slices.SortedFunc(maps.Keys(forms), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(forms[b]), len(forms[a])), cmp.Compare(a, b))
	})
	note := fmt.Sprintf("not in the table: to make and remove the nodes of a round, the run itself needs %s with %s", texts[0], units.Clients(clients))
	for _, text := range texts[1:] {
		slices.Sort(forms[text])
		note += fmt.Sprintf("; %s: %s", strings.Join(forms[text], ", "), text)
	}
	return []string{note}
}
