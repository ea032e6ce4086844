package live

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// A row is one figure of all panels.
type row struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// absent is shown for an unknown value.
const absent = "n/a"

// rows returns the figures of the panels, side by side.
func rows(panels []*panel) (all []row) {
	all = append(all, rowOf(panels, "rounds", "rounds_per_s"), rowOf(panels, "notifications", "notifications_per_s"),
		rowOf(panels, "operations", "operations_per_s"), rowOf(panels, "notifications a round", "notifications_per_round"),
		rowOf(panels, "wasted wake-ups", "wasted"))
	for _, phase := range phases(panels) {
		for _, percentile := range []string{"p50", "p90", "p99"} {
			all = append(all, rowOf(panels, phase+" "+percentile, phase+".response."+percentile, phase+".service."+percentile))
		}
	}
	return append(all, rowOf(panels, "errors", "errors"))
}

// rowOf returns the row of a figure: for each panel, the first that is known of those with the names.
func rowOf(panels []*panel, title string, names ...string) row {
	r := row{Name: title}
	for _, p := range panels {
		r.Values = append(r.Values, shown(p.figures, names))
	}
	return r
}

func shown(r results.Run, names []string) string {
	if r.Rounds == 0 {
		return absent
	}
	for _, name := range names {
		if f, err := figure.Parse(name, r.Phases); err == nil {
			if v, known := f.RunValue(r); known {
				return f.Format(v)
			}
		}
	}
	return absent
}

// phases returns the phases of all panels, in the recipe's order.
func phases(panels []*panel) (names []string) {
	for _, of := range panels {
		for _, phase := range of.figures.Phases {
			if !slices.Contains(names, phase) {
				names = append(names, phase)
			}
		}
	}
	return names
}
