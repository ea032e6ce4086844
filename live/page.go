package live

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// A Run is what is known of a run before it begins.
type Run struct {
	results.Setting
	Duration time.Duration // of its window
	Rounds   int64         // that end it instead; 0 for Duration
}

// A Source is a run that goes on.
type Source interface {
	// SoFar is what was measured until now.
	SoFar() metrics.Record
	// Follow follows the next write that wakes somebody, in place of an earlier one,
	// and Unfollow none any more.
	Follow()
	Unfollow()
	// Woken tells what the write that is followed did to each session that takes
	// part, and how long it was from the first that was told to the last.
	Woken() (seats []metrics.Fate, drain time.Duration)
}

// A Page is what there is to show of the runs of one command. Its methods may be
// called from any goroutine.
type Page struct {
	interrupt func()
	token     string        // that a request to stop must have
	sooner    chan struct{} // somebody came, and does not want to wait for the next look
	ended     chan struct{} // when nobody looks any more
	closing   chan struct{}

	mu       sync.Mutex
	panels   []*panel // of all runs there were
	at       stage    // that is shown
	viewers  map[viewer]struct{}
	stopping bool
	over     bool
	last     []byte // event
}

// lookEvery is how often the run is looked at: as often as people can read. A look
// takes half a millisecond in all, of which BenchmarkLook is the page's own part.
const lookEvery = 250 * time.Millisecond

// New returns a page without runs, on which people can interrupt the command. Close
// must be called.
func New(interrupt func()) *Page {
	p := &Page{interrupt: interrupt, token: rand.Text(), sooner: make(chan struct{}, 1),
		ended: make(chan struct{}), closing: make(chan struct{}), viewers: map[viewer]struct{}{}}
	go p.look()
	return p
}

// Expect says which runs come next, so that there is a place for them.
func (p *Page) Expect(runs ...Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range runs {
		p.panel(r)
	}
	p.at = stageOf(runs[0])
}

// Begin says that a run's window has opened. What was seen of a run like it stays
// until something is seen of this one.
func (p *Page) Begin(r Run, s Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.panel(r)
	*of = panel{run: r, source: s, releases: of.releases}
	p.at = stageOf(r)
}

// End says that the run is over, and what came of it.
func (p *Page) End(r Run, record metrics.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if of := p.panel(r); of.source != nil {
		of.end(record)
	}
}

// panel is the run's place on the page: that of the run before it which differs in
// nothing that can be seen.
func (p *Page) panel(r Run) *panel {
	for _, known := range p.panels {
		if stageOf(known.run) == stageOf(r) && known.run.Form == r.Form && known.run.Backend.URL == r.Backend.URL {
			return known
		}
	}
	p.panels = append(p.panels, &panel{run: r})
	return p.panels[len(p.panels)-1]
}

// look looks until the page is closed.
func (p *Page) look() {
	defer close(p.ended)
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-p.closing:
			return
		case <-ticks.C:
		case <-p.sooner:
		}
		p.show()
	}
}

// show looks at the runs and tells all who watch. Without anybody it does nothing,
// and sees to it that the run does not either.
func (p *Page) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown := p.shown()
	if len(p.viewers) == 0 {
		for _, of := range shown {
			of.rest()
		}
		return
	}
	now := time.Now()
	for _, of := range shown {
		of.look(now)
	}
	p.tell()
}

// Close says to all who watch that it is over.
func (p *Page) Close() {
	close(p.closing)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.tell()
	for v := range p.viewers {
		delete(p.viewers, v)
		close(v)
	}
}
