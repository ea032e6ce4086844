package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// A Row is one run that there is, or will be, as thresholds see it.
type Row struct {
	Scenario     string // "" outside a scenario file
	Recipe, Form string
	Family       string
	URL          string
	Clients      int
	Phases       []string

	// setting tells apart what else differs; "" of what has not run yet, since one
	// command, or one scenario, has the same for all its runs.
	setting string
}

// Rows are those of runs.
func Rows(runs []results.Run) []Row {
	rows := make([]Row, len(runs))
	for i, r := range runs {
		rows[i] = Row{Scenario: r.Scenario, Recipe: r.Recipe, Form: r.Form, Family: r.Family, URL: r.Backend.URL,
			Clients: r.Clients, Phases: r.Phases, setting: fmt.Sprint(settings(r))}
	}
	return rows
}

// beside tells whether the rows differ in what is run, and in nothing else.
func (r Row) beside(other Row) bool {
	return r.Scenario == other.Scenario && r.URL == other.URL && r.setting == other.setting
}

// String is "lock/predecessor, 32 clients, native:".
func (r Row) String() string {
	clients := "1 client"
	if r.Clients != 1 {
		clients = results.Count(int64(r.Clients)) + " clients"
	}
	text := fmt.Sprintf("%s/%s, %s, %s", r.Recipe, r.Form, clients, r.URL)
	if r.Scenario != "" {
		text = r.Scenario + ": " + text
	}
	return text
}

// A difference is a setting in which a run is not like the one of the baseline.
type difference struct{ name, is, was string }

func (d difference) String() string {
	return fmt.Sprintf("%s is %s, in the baseline %s", d.name, cmp.Or(d.is, "none"), cmp.Or(d.was, "none"))
}

// A setting is what was chosen of a run beside what a Row has.
type setting struct{ name, value string }

// settings are all of a run that bear on its times.
func settings(r results.Run) []setting {
	all := []setting{
		{"server", r.Backend.Server}, {"durability", r.Backend.Durability}, {"client library", r.Backend.Client},
		{"read mode", r.Backend.Reads}, {"start of the server", r.Backend.Started},
		{"number of groups", fmt.Sprint(max(r.Groups, 1))}, {"hold", r.HoldNS.String()}, {"think", r.ThinkNS.String()},
	}
	add := func(name string, is bool, value func() string) {
		text := ""
		if is {
			text = value()
		}
		all = append(all, setting{name, text})
	}
	add("rate", r.Open != nil, func() string {
		return strings.TrimSpace(fmt.Sprintf("%s/s %s", r.Open.Rate, r.Open.Arrival))
	})
	add("mix", r.Mix != nil, func() string {
		m := *r.Mix
		m.Retries, m.InFlight = 0, max(m.InFlight, 1) // the one was measured, the other is new
		return fmt.Sprintf("%+v", m)
	})
	add("share of reads", r.ReadRatio != nil, func() string { return fmt.Sprint(r.ReadRatio.Asked) })
	add("preload", r.Preload != nil, func() string { return fmt.Sprintf("%+v", *r.Preload) })
	add("background", r.Background != nil, func() string {
		b := r.Background
		return fmt.Sprintf("%d clients at %g/s, %g reads, %d keys of %d B, %d watchers", b.Clients, b.RatePerS, b.ReadRatio.Asked, b.Keys, b.SizeBytes, b.Watchers)
	})
	return all
}

// unlike is the first setting in which the runs differ, false if there is none.
func unlike(run, base results.Run) (difference, bool) {
	is, was := settings(run), settings(base)
	i := slices.IndexFunc(is, func(s setting) bool { return !slices.Contains(was, s) })
	if i < 0 {
		return difference{}, false
	}
	return difference{is[i].name, is[i].value, was[i].value}, true
}
