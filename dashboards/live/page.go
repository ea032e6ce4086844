package live

import (
	"bytes"
	"crypto/rand"
	"io"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/results"
)

// A Run describes a run before it begins.
type Run struct {
	results.Setting
	Duration time.Duration // of the window
	Rounds   int64         // number of rounds that ends the window instead; 0 for Duration
	// Ahead returns where the run is among those of the command, and how long is left: "run 1 of 2 · about
	// 9 s left". It may be nil.
	Ahead func() string
}

// A Source is a run in progress.
type Source interface {
	// SoFar returns the measurements until now.
	SoFar() metrics.Record
	// Follow follows the writes that cause a notification from now on. Hold follows no further
	// ones, and Unfollow ends following.
	Follow()
	Hold()
	Unfollow()
	// Woken returns what a typical followed write did to each
	// session of the run, the time from the first to the last notification, and the number of
	// writes from which the typical one was chosen.
	Woken() (seats []fanout.Outcome, drain time.Duration, writes int)
}

// A Page holds the state of the web page for the runs of one command. Its methods may be called
// from any goroutine.
type Page struct {
	interrupt func()
	token     string        // required in a request to stop
	sooner    chan struct{} // signals a new viewer, for an immediate look
	ended     chan struct{} // closed when look has returned
	closing   chan struct{}

	mu       sync.Mutex
	panels   []*panel // of all runs so far
	at       stage    // the stage that is shown
	latest   Run      // the run that began last, or before the first one, that comes next
	viewers  map[viewer]struct{}
	stopping bool
	report   offered
	over     bool
	last     []byte // the last event sent
}

// lookEvery is the interval between looks at the run, about as fast as people can read. A look
// takes half a millisecond in total; BenchmarkLook measures the page's own part of it.
const lookEvery = 250 * time.Millisecond

// New returns a page without runs. A viewer can stop the command, which calls interrupt. The
// caller must call Close.
func New(interrupt func()) *Page {
	p := &Page{interrupt: interrupt, token: rand.Text(), sooner: make(chan struct{}, 1),
		ended: make(chan struct{}), closing: make(chan struct{}), viewers: map[viewer]struct{}{}}
	go p.look()
	return p
}

// Expect announces the next runs, so that the page shows a panel for each.
func (p *Page) Expect(runs ...Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range runs {
		p.panel(r)
	}
	p.at, p.latest = stageOf(runs[0]), runs[0]
}

// Begin records that a run's window has opened. Releases of an earlier run of the same kind
// stay visible until this run has some.
func (p *Page) Begin(r Run, s Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.panel(r)
	*of = panel{run: r, source: s, releases: of.releases}
	p.at, p.latest = stageOf(r), r
}

// End records that the run is over, with its result.
func (p *Page) End(r Run, record metrics.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if of := p.panel(r); of.source != nil {
		of.end(record)
	}
}

// panel returns the run's panel. Runs that look the same on the page share one.
func (p *Page) panel(r Run) *panel {
	for _, known := range p.panels {
		if stageOf(known.run) == stageOf(r) && known.run.Form == r.Form && known.run.Backend.URL == r.Backend.URL {
			return known
		}
	}
	p.panels = append(p.panels, &panel{run: r})
	return p.panels[len(p.panels)-1]
}

// look reads the runs at intervals until the page is closed.
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

// show reads the runs and sends the state to all viewers. Without viewers it only ends
// following in the runs.
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

// An offered is the report that the page offers when the command is over.
type offered struct {
	Name string `json:"name"` // of the file for a download
	HTML string `json:"html"`

	write func(io.Writer) error // nil without a report
}

// Offer makes the page offer a report when the command is over: an HTML document, which must need no script.
// It is written only if there are viewers then, and they receive it at once, since they cannot ask for it
// any more when they want to read it.
func (p *Page) Offer(name string, write func(io.Writer) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report = offered{Name: name, write: write}
}

// finish writes the report for the viewers.
func (p *Page) finish() *offered {
	var text bytes.Buffer
	if p.report.write == nil || len(p.viewers) == 0 || p.report.write(&text) != nil {
		return nil
	}
	p.report.HTML = text.String()
	return &p.report
}

// Close notifies all viewers that the command is over.
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
