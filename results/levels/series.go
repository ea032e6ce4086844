package levels

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// Crowd returns the number of clients in words, with the number of groups if there are several.
func Crowd(r results.Run) string {
	if r.Groups > 1 {
		return fmt.Sprintf("%s in %d groups", units.Clients(r.Clients), r.Groups)
	}
	return units.Clients(r.Clients)
}

// PhaseName returns the name of the phase for people.
func PhaseName(phase string) string {
	if phase == "handoff" {
		return "hand-off"
	}
	return phase
}

// Event returns the event in a round of the recipe that wakes clients: "release".
func Event(recipe string) string {
	switch recipe {
	case "lock", "shared-lock", "revocable-lock", "priority-lock":
		return "release"
	case "election":
		return "change of leader"
	}
	return "round"
}

// Counterparts returns the first naive form and the first other form at the largest number of clients that
// has both. A library form counts only if there is no recipe form.
func Counterparts(runs []results.Run) (naive, calm results.Run, ok bool) {
	for i := range runs {
		n := runs[i]
		if n.Family != "naive" || ok && n.Clients <= naive.Clients {
			continue
		}
		for _, family := range []string{"recipe", "library"} {
			j := slices.IndexFunc(runs, func(r results.Run) bool {
				return r.Recipe == n.Recipe && r.Clients == n.Clients && r.Family == family
			})
			if j >= 0 {
				naive, calm, ok = n, runs[j], true
				break
			}
		}
	}
	return naive, calm, ok
}

// CurveOf reports whether the curve is of the level's form.
func CurveOf(c results.Curve, l results.Level) bool {
	return c.Recipe == l.Recipe && c.Form == l.Form && c.URL == l.Backend.URL
}

// Place formats a level of an axis for prose: "16 clients". A rate is a setting: it has all its digits, which
// tell the levels of a search apart.
func Place(axis string, at float64) string {
	switch axis {
	case "rate":
		return units.Group(strconv.FormatFloat(at, 'f', -1, 64)) + " arrivals/s"
	case "groups":
		return units.Plural(int(at), "group")
	case "hold":
		return "hold " + units.Setting(time.Duration(at))
	case "session-timeout":
		return "session time-out " + units.Setting(time.Duration(at))
	case "reads":
		return units.Chosen(at) + " reads"
	case "size":
		return fmt.Sprintf("values of %s B", units.Count(int64(at)))
	}
	return fmt.Sprintf("%s clients", units.Short(at))
}

// Places formats the level on all axes for prose: "16 clients, hold 1 ms".
func Places(s results.Sweep, l results.Level) string {
	var all []string
	for _, axis := range s.Axes {
		all = append(all, Place(axis, Value(l, axis)))
	}
	return strings.Join(all, ", ")
}

// OtherAxes formats the level of the second axis, "" if there is none.
func OtherAxes(s results.Sweep, l results.Level) string {
	if len(s.Axes) < 2 {
		return ""
	}
	return Place(s.Axes[1], Value(l, s.Axes[1]))
}

// Split splits the levels into series: those of one form along the first axis, at one level of the
// second.
func Split(s results.Sweep) (all [][]results.Level) {
	same := func(a, b results.Level) bool {
		return a.Recipe == b.Recipe && a.Form == b.Form && a.Backend == b.Backend && OtherAxes(s, a) == OtherAxes(s, b)
	}
	for _, l := range s.Levels {
		i := slices.IndexFunc(all, func(series []results.Level) bool { return same(series[0], l) })
		if i < 0 {
			i = len(all)
			all = append(all, nil)
		}
		all[i] = append(all[i], l)
	}
	return all
}

// A Series is the levels of one form along the first axis, at one level of the second.
type Series struct {
	Name   string // the form, and what else distinguishes the series
	Beside string // the level of the second axis, "" if there is none
	Levels []results.Level
	Curve  *results.Curve // nil if no curve was fitted
}

// SeriesOf returns the sweep's levels as series, each with its curve.
func SeriesOf(s results.Sweep) (all []Series) {
	for _, levels := range Split(s) {
		l := levels[0]
		series := Series{Beside: OtherAxes(s, l), Levels: levels}
		series.Name = FormName(s, l.Recipe, l.Form, l.Backend.URL, series.Beside)
		if i := slices.IndexFunc(s.Curves, func(c results.Curve) bool { return CurveOf(c, l) && c.Beside == series.Beside }); i >= 0 {
			series.Curve = &s.Curves[i]
		}
		all = append(all, series)
	}
	return all
}

// FormName returns a form's name, with what distinguishes it from the other forms of the sweep.
func FormName(s results.Sweep, recipe, form, url, beside string) string {
	name := form
	if len(Distinct(s.Runs, func(r results.Run) string { return r.Recipe })) > 1 {
		name = recipe + "/" + form
	}
	if len(Distinct(s.Runs, func(r results.Run) string { return r.Backend.URL })) > 1 {
		name += " on " + url
	}
	if beside != "" {
		name += ", " + beside
	}
	return cmp.Or(name, units.Absent)
}

func Distinct(runs []results.Run, of func(results.Run) string) (all []string) {
	for _, r := range runs {
		if s := of(r); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
