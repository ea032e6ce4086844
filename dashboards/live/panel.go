package live

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// The states of a run.
const (
	next    = "next"
	running = "running"
	over    = "over"
)

// A panel shows one run.
type panel struct {
	run      Run
	source   Source // nil unless the run is in progress
	measured metrics.Record
	figures  results.Run // derived from measured; without rounds until the first look
	sampler  sampler
	releases []release // the last few
}

func (of *panel) state() string {
	switch {
	case of.source != nil:
		return running
	case of.measured.Duration > 0:
		return over
	}
	return next
}

// serviceName returns the service on which the run runs.
func (of *panel) serviceName() string {
	if of.run.Backend.Server != "" {
		return of.run.Backend.Server
	}
	return of.run.Backend.Name
}

// look reads the run, if it is in progress.
func (of *panel) look(now time.Time) {
	if of.source == nil {
		return
	}
	of.tell(of.source.SoFar())
	if r, ok := of.sampler.look(of.source, now); ok {
		of.keep(r)
	}
}

func (of *panel) tell(record metrics.Record) {
	if of.source != nil {
		record.Generator.Unfinished = 0 // operations in progress may still finish
	}
	of.measured = record
	record.Intervals = nil // a long run has many, and no figure depends on them
	of.figures = results.Glance(of.run.Setting, &record)
}

// rest ends following while the page has no viewers.
func (of *panel) rest() {
	if of.source != nil {
		of.sampler.rest(of.source)
	}
}

func (of *panel) end(record metrics.Record) {
	if r, ok := of.sampler.last(of.source); ok {
		of.keep(r)
	}
	of.rest()
	of.source = nil
	of.tell(record)
}

// releasesKept is the number of releases that the page shows in turn when the run is over, so
// that forms can be compared side by side although they ran one after the other.
const releasesKept = 4

func (of *panel) keep(r release) {
	r.N = 1
	if n := len(of.releases); n > 0 {
		r.N = of.releases[n-1].N + 1
	}
	of.releases = append(of.releases, r)
	of.releases = of.releases[max(0, len(of.releases)-releasesKept):]
}

// share returns the elapsed share of the window.
func (of *panel) share() float64 {
	switch {
	case of.state() == over:
		return 1
	case of.run.Rounds > 0:
		return min(float64(of.measured.Rounds)/float64(of.run.Rounds), 1)
	case of.run.Duration > 0:
		return min(of.measured.Duration.Seconds()/of.run.Duration.Seconds(), 1)
	}
	return 0
}

// progress describes how far the run has come.
func (of *panel) progress() string {
	took := of.measured.Duration
	switch of.state() {
	case next:
		return "comes next"
	case over:
		return fmt.Sprintf("over, %s rounds in %s", units.Count(of.measured.Rounds), units.Duration(took))
	}
	if of.run.Rounds > 0 {
		return fmt.Sprintf("running, %s of %s rounds", units.Count(of.measured.Rounds), units.Count(of.run.Rounds))
	}
	return fmt.Sprintf("running, %.1f s of %v", took.Seconds(), of.run.Duration)
}
