package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// An event is the state of the page at one moment, with texts ready to show.
type event struct {
	Heading  string         `json:"heading"`
	Ahead    string         `json:"ahead"` // which run of the command it is, and how long is left
	Finding  []string       `json:"finding"`
	Panels   []panelEvent   `json:"panels"`
	Latency  *charts.Sketch `json:"latency"` // with a line for each panel; null before there is one
	Rows     []row          `json:"rows"`
	More     []row          `json:"more"` // rows that are shown on demand
	Health   []remark       `json:"health"`
	Report   *offered       `json:"report"` // null while the command runs, and without viewers
	Stopping bool           `json:"stopping"`
	Over     bool           `json:"over"`
}

// A panelEvent is a panel in the form sent to the page.
type panelEvent struct {
	Form     string    `json:"form"`
	Family   string    `json:"family"`
	On       string    `json:"on"` // the service, if the panels have several
	State    string    `json:"state"`
	Progress string    `json:"progress"`
	Clients  int       `json:"clients"`
	Woken    string    `json:"woken"`    // how many clients a round wakes on average
	WokenBy  string    `json:"woken_by"` // by what, and how many at most
	Releases []release `json:"releases"`
}

// tell sends the state of the page to all viewers.
func (p *Page) tell() {
	panels := p.shown()
	e := event{Heading: p.at.heading(panels), Finding: finding(panels), Latency: latency(panels), Health: health(panels),
		Stopping: p.stopping, Over: p.over}
	e.Rows, e.More = rows(panels)
	if p.over {
		e.Report = p.finish()
	} else if p.latest.Ahead != nil {
		e.Ahead = p.latest.Ahead()
	}
	several := false
	for _, of := range panels {
		several = several || of.serviceName() != panels[0].serviceName()
	}
	for _, of := range panels {
		v := panelEvent{Form: of.run.Form, Family: of.run.Family, State: of.state(), Progress: of.progress(),
			Clients: of.run.Clients, Releases: of.releases}
		v.Woken, v.WokenBy = woken(of.figures)
		if several {
			v.On = of.serviceName()
		}
		e.Panels = append(e.Panels, v)
	}
	text, _ := json.Marshal(e) // cannot fail: the event has only numbers, texts and booleans
	p.last = fmt.Appendf(nil, "data: %s\n\n", text)
	for v := range p.viewers {
		v.put(p.last)
	}
}

// woken returns how many clients a round wakes on average, as the finding says it, and in words by what,
// and how many at most.
func woken(r results.Run) (mean, by string) {
	clients, known := levels.Woken(r)
	if !known {
		return absent, "no round has ended yet"
	}
	if h := levels.HerdOf(r); !h.Wakes() {
		n, _ := h.Figure.RunValue(r)
		return units.Short(n), h.Per + ", on average"
	}
	by = "woken by a " + levels.Event(r.Recipe) + " on average"
	if f := r.Herd.Fanout; f != nil {
		by += ", " + units.Count(f.Max) + " at most"
	}
	return units.Short(clients), by
}

// latency sketches the panels' latency over time, nil before any is known.
func latency(panels []*panel) *charts.Sketch {
	var runs []results.Run
	var window time.Duration
	for _, of := range panels {
		runs, window = append(runs, of.figures), max(window, of.run.Duration)
	}
	if s, ok := charts.SketchLatency(runs, window); ok {
		return &s
	}
	return nil
}

// A row is one figure of all panels.
type row struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
	Ratio  string   `json:"ratio"` // of the naive form to the other one, "" if there are not both
}

// absent is shown for an unknown value.
const absent = "n/a"

// rows returns the figures of the panels, side by side: those that tell a herd, and the others.
func rows(panels []*panel) (first, more []row) {
	add := func(to *[]row, title string, names ...string) { *to = append(*to, rowOf(panels, title, names...)) }
	timed := phases(panels)
	key := results.KeyPhase(timed)
	add(&first, "rounds", "rounds_per_s")
	add(&first, "notifications a round", "notifications_per_round")
	for _, of := range panels[:min(1, len(panels))] {
		if h := levels.HerdOf(of.figures); !h.Wakes() {
			add(&first, h.Per, h.Figure.Name)
		}
	}
	add(&first, "wasted wake-ups", "wasted")
	add(&first, "operations", "operations_per_s")
	add(&more, "notifications", "notifications_per_s")
	for _, phase := range timed {
		for _, percentile := range []string{"p50", "p90", "p99"} {
			to := &more
			if phase == key && percentile != "p99" {
				to = &first
			}
			add(to, levels.PhaseName(phase)+" "+percentile, phase+".response."+percentile, phase+".service."+percentile)
		}
	}
	add(&more, "errors", "errors")
	return first, more
}

// rowOf returns the row of a figure: for each panel, the first that is known of those with the names.
func rowOf(panels []*panel, title string, names ...string) row {
	r := row{Name: title}
	var naive, calm float64
	for _, p := range panels {
		text, value := shown(p.figures, names)
		r.Values = append(r.Values, text)
		if of := &calm; value > 0 {
			if p.run.Family == "naive" {
				of = &naive
			}
			*of = cmp.Or(*of, value)
		}
	}
	if naive > 0 && calm > 0 {
		r.Ratio = units.Rate(naive/calm) + "×"
	}
	return r
}

func shown(r results.Run, names []string) (text string, value float64) {
	if r.Rounds == 0 {
		return absent, 0
	}
	for _, name := range names {
		if f, err := figure.Parse(name, r.Phases); err == nil {
			if v, known := f.RunValue(r); known {
				return f.Format(v), v
			}
		}
	}
	return absent, 0
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
		text += fmt.Sprintf("; of %s arrivals, %s were late, of which %s were skipped", units.Count(g.Offered), units.Count(g.Late), units.Count(g.Skipped))
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
