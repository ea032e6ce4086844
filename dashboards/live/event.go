package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/units"
)

// An event is the state of the page at one moment, with texts ready to show.
type event struct {
	Heading  string       `json:"heading"`
	Finding  []string     `json:"finding"`
	Panels   []panelEvent `json:"panels"`
	Rows     []row        `json:"rows"`
	Health   []remark     `json:"health"`
	Stopping bool         `json:"stopping"`
	Over     bool         `json:"over"`
}

// A panelEvent is a panel in the form sent to the page.
type panelEvent struct {
	Form     string  `json:"form"`
	Family   string  `json:"family"`
	On       string  `json:"on"` // the service, if the panels have several
	State    string  `json:"state"`
	Progress string  `json:"progress"`
	Clients  int     `json:"clients"`
	Share    float64 `json:"share"` // elapsed share of the window
	// Notifications and Operations are per second, along the window so far.
	Notifications []int     `json:"notifications"`
	Operations    []int     `json:"operations"`
	Releases      []release `json:"releases"`
}

// tell sends the state of the page to all viewers.
func (p *Page) tell() {
	panels := p.shown()
	e := event{Heading: p.at.heading(panels), Finding: finding(panels), Rows: rows(panels), Health: health(panels),
		Stopping: p.stopping, Over: p.over}
	several := false
	for _, of := range panels {
		several = several || of.serviceName() != panels[0].serviceName()
	}
	for _, of := range panels {
		v := panelEvent{Form: of.run.Form, Family: of.run.Family, State: of.state(), Progress: of.progress(), Share: of.share(),
			Clients: of.run.Clients, Releases: of.releases}
		if several {
			v.On = of.serviceName()
		}
		v.Notifications, v.Operations = perSecond(of.measured, of.source != nil)
		e.Panels = append(e.Panels, v)
	}
	text, _ := json.Marshal(e) // cannot fail: the event has only numbers, texts and booleans
	p.last = fmt.Appendf(nil, "data: %s\n\n", text)
	for v := range p.viewers {
		v.put(p.last)
	}
}

// mostPoints is the largest number of points in a time line: more are indistinguishable on a
// phone.
const mostPoints = 120

// shortest is the shortest time for which a rate is shown: the last interval of a run may be
// almost empty.
const shortest = 50 * time.Millisecond

// perSecond returns notifications and operations per second along the window. For a run in progress
// it leaves out the latest interval, whose end is not known.
func perSecond(r metrics.Record, inProgress bool) (notifications, operations []int) {
	var edges []time.Duration
	for _, i := range r.Intervals {
		edges = append(edges, i.Start)
	}
	if !inProgress {
		edges = append(edges, r.Duration)
	}
	many := 1 + len(edges)/mostPoints // intervals per point
	for i := 0; i < len(edges)-1; i += many {
		end := min(i+many, len(edges)-1)
		var notified, asked int64
		for _, part := range r.Intervals[i:end] {
			notified += part.Notifications
			asked += part.Reads + part.Writes
		}
		if took := edges[end] - edges[i]; took >= shortest {
			notifications = append(notifications, int(float64(notified)/took.Seconds()))
			operations = append(operations, int(float64(asked)/took.Seconds()))
		}
	}
	return notifications, operations
}

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

// A remark is a statement about the load generator, which may be a doubt.
type remark struct {
	Doubt bool   `json:"doubt"`
	Text  string `json:"text"`
}

// health describes the load generator: the doubts about each run, and its figures in the run in
// progress or in the last run. It says that the generator keeps up only if no run has a doubt.
func health(panels []*panel) (all []remark) {
	begun := slices.DeleteFunc(slices.Clone(panels), func(of *panel) bool { return of.state() == next })
	if len(begun) == 0 {
		return nil
	}
	latest := begun[len(begun)-1]
	for _, of := range begun {
		if of.source != nil {
			latest = of
		}
		for _, w := range doubts(of.measured) {
			text := results.WarningOf(w).Text
			if len(begun) > 1 {
				text = of.run.Form + ": " + text
			}
			all = append(all, remark{true, text})
		}
	}
	if len(all) == 0 {
		all = append(all, remark{false, "The load generator keeps up: the figures are the service's own."})
	}
	return append(all, remark{false, generator(latest.measured.Generator)})
}

// doubts returns what speaks against the run's figures: its doubts, and its warnings about
// processors.
func doubts(r metrics.Record) []metrics.Warning {
	all := slices.Clone(r.Doubts)
	for _, w := range r.Warnings {
		doubt := slices.ContainsFunc(r.Doubts, func(d metrics.Warning) bool { return d.Code == w.Code })
		if strings.HasPrefix(w.Code, "cpu") && !doubt {
			all = append(all, w)
		}
	}
	return all
}

// generator returns the figures of the load generator in words.
func generator(g metrics.Generator) string {
	text := fmt.Sprintf("It uses %s of %.3g cores", units.Rate(g.CPUCores), metrics.Cores())
	if g.Lag != nil && g.Lag.TotalCount() > 0 {
		text += fmt.Sprintf("; 1 %% of its timers fire %s late or later", units.Duration(time.Duration(g.Lag.ValueAtQuantile(99))))
	}
	text += fmt.Sprintf("; garbage collection has stopped it for %s in total", units.Duration(g.GCPause))
	if g.Offered > 0 {
		text += fmt.Sprintf("; of %s arrivals, %s were late and %s skipped", units.Count(g.Offered), units.Count(g.Late), units.Count(g.Skipped))
	}
	return text + "."
}

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
