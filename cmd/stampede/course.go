package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results/units"
)

// A course is how far a command has come with its runs: which of how many is in progress, and about
// how long they will still take.
type course struct {
	work  []time.Duration // of each planned run, in their order: how long it is to take, or any measure of that
	timed bool            // the work is a time
	begun int             // runs that were done before, such as those of a sweep that is resumed
	ended int             // runs that have ended in all
	since time.Time       // when the first run began
	last  time.Time       // when the latest run ended
}

// begin starts a course of runs. The first done of them are finished already. The course measures work in time
// only if the time of every run is known.
func (c *course) begin(work []time.Duration, done int) {
	now := time.Now()
	*c = course{work: work, timed: !slices.Contains(work, 0), begun: done, ended: done, since: now, last: now}
	if !c.timed {
		c.work = slices.Repeat([]time.Duration{1}, len(work))
	}
}

// beginCounted starts a course of runs whose times are known only in proportion to each other.
func (c *course) beginCounted(work []time.Duration) {
	c.begin(work, 0)
	c.timed = false
}

// leaveOut takes out n of the runs that come next: they cannot take place.
func (c *course) leaveOut(n int) {
	from := min(c.ended, len(c.work))
	c.work = slices.Delete(c.work, from, min(from+n, len(c.work)))
}

// end records that n further runs have ended.
func (c *course) end(n int) { c.ended, c.last = c.ended+n, time.Now() }

// A place is where a command is in its course.
type place struct {
	nth, of int       // the run in progress, counted from 1, and the number of all; 0 without a course
	ends    time.Time // when the last run is expected to end; the zero time if that is not known
}

// place returns where the command is. A search may need more runs than planned.
func (c *course) place() place {
	if len(c.work) == 0 {
		return place{}
	}
	return place{c.ended + 1, max(len(c.work), c.ended+1), c.ends()}
}

// ends returns when the last run is expected to end; the zero time if that is not known. It assumes that
// the pace of the runs so far holds, or before the first has ended, that each takes its time. Of a run that
// takes longer nothing is left but the others.
func (c *course) ends() time.Time {
	if c.ended >= len(c.work) {
		return time.Time{}
	}
	pace := 1.0
	if c.ended > c.begun {
		pace = float64(c.last.Sub(c.since)) / float64(sum(c.work[c.begun:c.ended]))
	} else if !c.timed {
		return time.Time{}
	}
	expected := func(work []time.Duration) time.Duration { return time.Duration(pace * float64(sum(work))) }
	current, now := c.last.Add(expected(c.work[c.ended:c.ended+1])), time.Now()
	if current.Before(now) {
		current = now
	}
	return current.Add(expected(c.work[c.ended+1:]))
}

func sum(all []time.Duration) (total time.Duration) {
	for _, d := range all {
		total += d
	}
	return total
}

// String returns "run 12 of 48 · about 80 s left", or "" if no course has begun.
func (p place) String() string {
	if p.of == 0 {
		return ""
	}
	text := fmt.Sprintf("run %d of %d", p.nth, p.of)
	if left := units.Left(time.Until(p.ends)); left != "" {
		text += " · " + left
	}
	return text
}

// workOf returns how long each run of the flags is asked to take; 0 if a number of rounds decides that.
func workOf(f *spec.Flags) time.Duration {
	if f.WindowRounds() > 0 {
		return 0
	}
	return f.Run.Warmup + f.Run.Duration
}
