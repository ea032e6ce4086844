package live

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
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
