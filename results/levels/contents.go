package levels

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// Contents says in one line what the file has: forms, backends, numbers of clients.
func Contents(f results.File) string {
	if len(f.Runs) == 0 {
		return "no run"
	}
	var forms []string
	for _, runs := range Grouped(f.Runs, func(a, b results.Run) bool { return a.Recipe == b.Recipe }) {
		forms = append(forms, runs[0].Recipe+": "+strings.Join(Distinct(runs, func(r results.Run) string { return r.Form }), ", "))
	}
	urls := Distinct(f.Runs, func(r results.Run) string { return r.Backend.URL })
	clients := Distinct(f.Runs, func(r results.Run) string { return units.Count(int64(r.Clients)) })
	return strings.Join(forms, "; ") + " · " + strings.Join(urls, ", ") + " · " + strings.Join(clients, ", ") + " clients"
}

// Grouped groups what is alike, in the order of the first of each group.
func Grouped[T any](all []T, alike func(a, b T) bool) (groups [][]T) {
	for _, x := range all {
		i := slices.IndexFunc(groups, func(g []T) bool { return alike(g[0], x) })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], x)
	}
	return groups
}
