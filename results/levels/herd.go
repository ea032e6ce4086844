package levels

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/units"
)

// A Herd is the figure in which the naive form of a recipe exceeds the herd-avoiding one, and the words
// for it.
type Herd struct {
	Name   string // of a chart: "reads"
	Figure figure.Figure
	Per    string // "reads per round"
}

// HerdOf returns the herd of the run's recipe. Most herds are of notifications.
func HerdOf(r results.Run) Herd {
	h, name := Herd{Name: Notifications, Per: "notifications per round"}, "notifications_per_round"
	switch r.Recipe {
	case "mirror", "names":
		h, name = Herd{Name: "reads", Per: "reads per round"}, "reads_per_round"
	case "member-state":
		h, name = Herd{Name: "writes", Per: "writes per round"}, "writes_per_round"
	case "reconnect":
		h, name = Herd{Name: "attempts", Per: "attempts in 100 ms"}, "attempts.busiest_100ms"
	}
	h.Figure = figure.Known(nil, name)[0]
	return h
}

// KindOf says in a word what a form is: "naive", "library", "load", or "herd-avoiding" if the runs show that; else "".
func KindOf(r results.Run, runs []results.Run) string {
	switch {
	case r.Family != "recipe":
		return r.Family
	case avoidsHerd(r, runs):
		return "herd-avoiding"
	}
	return ""
}

// avoidsHerd reports whether the run's form avoids a herd, as far as the runs show it: with as many clients on the same
// service, a naive form of the recipe has more of the herd's figure. Where all clients have to be told, as by a barrier,
// a form that wakes them avoids none.
func avoidsHerd(r results.Run, runs []results.Run) bool {
	herd := HerdOf(r).Figure.RunValue
	few, known := herd(r)
	return known && r.Family != "naive" && slices.ContainsFunc(runs, func(o results.Run) bool {
		if o.Family != "naive" || o.Recipe != r.Recipe || o.Clients != r.Clients || !o.Backend.SameService(r.Backend) {
			return false
		}
		many, known := herd(o)
		return known && units.Rounded(many) > units.Rounded(few)
	})
}

// Wakes reports whether the herd is of clients that are woken: see [Woken].
func (h Herd) Wakes() bool { return h.Name == Notifications }

// Title returns the title of the figure beside others, and its value: clients that are woken, or the herd's figure.
func (h Herd) Title(r results.Run) (title string, value func(results.Run) (float64, bool)) {
	if h.Wakes() {
		return "woken per " + Event(r.Recipe), Woken
	}
	return h.Per, h.Figure.RunValue
}

// Count returns a value for a sentence: "7 reads".
func (h Herd) Count(v float64) string {
	text := units.Short(v)
	if text == "1" {
		return text + " " + strings.TrimSuffix(h.Name, "s")
	}
	return text + " " + h.Name
}

// Refused says how many of the writes of the run's rounds were refused, after a semicolon; "" if the herd is not of
// writes, or if none was.
func (h Herd) Refused(r results.Run) string {
	if h.Name != "writes" || units.Rounded(r.Cost.PerRound.FailedWrites) == 0 {
		return ""
	}
	return "; " + units.Short(r.Cost.PerRound.FailedWrites) + " of the " + units.Short(r.Cost.PerRound.Writes) + " are refused"
}
