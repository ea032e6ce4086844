package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
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
	of.figures = results.Glance(of.run.Setting, &record)
}

// rest ends following while the page has no viewers.
func (of *panel) rest() {
	if of.source != nil {
		of.sampler.rest(of.source)
	}
}

func (of *panel) end(record metrics.Record) {
	if r, ok := of.sampler.last(of.source, time.Now()); ok || r.Woken > 0 && len(of.releases) == 0 {
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

// progress describes how far the run has come.
func (of *panel) progress() string {
	took := of.measured.Duration
	switch of.state() {
	case next:
		return "waits for its turn"
	case over:
		return fmt.Sprintf("over, %s rounds in %s", units.Count(of.measured.Rounds), units.Duration(took))
	}
	if of.run.Rounds > 0 {
		return fmt.Sprintf("running, %s of %s rounds", units.Count(of.measured.Rounds), units.Count(of.run.Rounds))
	}
	return "running, " + units.Elapsed(took, of.run.Duration)
}

// A sampler selects a typical write of each second of a run. The zero sampler follows no writes.
type sampler struct {
	following bool
	held      bool      // the writes of this second are known
	since     time.Time // when following began, or when it was held
	woken     int       // sessions notified until the last look
}

const (
	// gatherFor is how long writes are gathered. Their outcomes are known soon after, so that a
	// release is shown about once a second: long enough to see the effect of a release before
	// the next one, and too slow for a flashing field to harm people.
	gatherFor = 3 * lookEvery
	// patience is the longest wait for all outcomes to be known.
	patience = time.Second
)

// look returns a typical write once its outcomes are known or patience has passed. After a
// release it begins to gather the writes for the next one.
func (s *sampler) look(source Source, now time.Time) (r release, ok bool) {
	if !s.following {
		s.begin(source, now)
		return r, false
	}
	if !s.held && now.Sub(s.since) < gatherFor-lookEvery/2 {
		return r, false
	}
	r = newRelease(source.Woken())
	if r.Woken == 0 {
		return r, false // gather until there is a write
	}
	if !s.held {
		source.Hold()
		s.held, s.since = true, now
	}
	known := r.Useful+r.Wasted == r.Woken && r.Woken == s.woken
	s.woken = r.Woken
	if !known && now.Sub(s.since) < patience {
		return r, false
	}
	s.begin(source, now)
	return r, true
}

func (s *sampler) begin(source Source, now time.Time) {
	source.Follow()
	*s = sampler{following: true, since: now}
}

// last returns a typical one of the writes gathered so far, when the run is over. It is not ok if they were
// gathered for so short a time that chance decides which is typical.
func (s *sampler) last(source Source, now time.Time) (r release, ok bool) {
	if !s.following {
		return r, false
	}
	r = newRelease(source.Woken())
	return r, r.Woken > 0 && (s.held || now.Sub(s.since) >= gatherFor/2)
}

// rest ends following until the next look.
func (s *sampler) rest(source Source) {
	if s.following {
		source.Unfollow()
		*s = sampler{}
	}
}

// A release is one write that caused notifications, as shown.
type release struct {
	N int `json:"n"` // from 1
	// Cells are the outcomes of the sessions in order of seats, run-length encoded: pairs of an
	// outcome and its number of repetitions.
	Cells  []int  `json:"cells"`
	Woken  int    `json:"woken"`
	Useful int    `json:"useful"`
	Wasted int    `json:"wasted"`
	Words  string `json:"words"`
}

// newRelease returns a release with the given outcomes of the sessions. It is typical of so
// many writes.
func newRelease(seats []fanout.Outcome, drain time.Duration, writes int) release {
	var r release
	for i, outcome := range seats {
		if i == 0 || outcome != seats[i-1] {
			r.Cells = append(r.Cells, int(outcome), 0)
		}
		r.Cells[len(r.Cells)-1]++
		switch outcome {
		case fanout.Useful:
			r.Useful++
		case fanout.Wasted:
			r.Wasted++
		}
		if outcome != fanout.NotNotified {
			r.Woken++
		}
	}
	r.Words = r.words(len(seats), drain, writes)
	return r
}

// words returns a text such as "woke 97 of 128 clients within 12.3 ms: 1 proceeded, 96 wait
// again (typical of 55 writes)".
func (r release) words(of int, drain time.Duration, writes int) string {
	text := fmt.Sprintf("woke %s of %s clients", count(r.Woken), count(of))
	if r.Woken > 1 {
		text += " within " + units.Duration(drain)
	}
	var outcomes []string
	if r.Useful > 0 {
		outcomes = append(outcomes, count(r.Useful)+" proceeded")
	}
	if r.Wasted > 0 {
		outcomes = append(outcomes, count(r.Wasted)+" went back to waiting")
	}
	if len(outcomes) > 0 {
		text += ": " + strings.Join(outcomes, ", ")
	}
	if writes > 1 {
		text += " (typical of " + count(writes) + " writes)"
	}
	return text
}

func count(n int) string { return units.Count(int64(n)) }
