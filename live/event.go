package live

import (
	"encoding/json"
	"fmt"
)

// An event is all that there is to show at one moment, in words where it is words
// that are shown.
type event struct {
	Heading  string   `json:"heading"`
	Finding  []string `json:"finding"`
	Panels   []view   `json:"panels"`
	Rows     []row    `json:"rows"`
	Health   []remark `json:"health"`
	Stopping bool     `json:"stopping"`
	Over     bool     `json:"over"`
}

// A view is a panel as it is shown.
type view struct {
	Form     string  `json:"form"`
	Family   string  `json:"family"`
	On       string  `json:"on"` // the service, where there are several
	State    string  `json:"state"`
	Progress string  `json:"progress"`
	Clients  int     `json:"clients"`
	Share    float64 `json:"share"` // of the window that is over
	// Notifications and Operations are per second, along the window so far.
	Notifications []int     `json:"notifications"`
	Operations    []int     `json:"operations"`
	Releases      []release `json:"releases"`
}

// tell tells all who watch what there is to show.
func (p *Page) tell() {
	panels := p.shown()
	e := event{Heading: p.at.heading(panels), Finding: finding(panels), Rows: rows(panels), Health: health(panels),
		Stopping: p.stopping, Over: p.over}
	several := false
	for _, of := range panels {
		several = several || of.on() != panels[0].on()
	}
	for _, of := range panels {
		v := view{Form: of.run.Form, Family: of.run.Family, State: of.state(), Progress: of.progress(), Share: of.share(),
			Clients: of.run.Clients, Releases: of.releases}
		if several {
			v.On = of.on()
		}
		v.Notifications, v.Operations = along(of.measured, of.source != nil)
		e.Panels = append(e.Panels, v)
	}
	text, _ := json.Marshal(e) // of numbers and words
	p.last = fmt.Appendf(nil, "data: %s\n\n", text)
	for v := range p.viewers {
		v.put(p.last)
	}
}
