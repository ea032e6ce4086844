package figure

import (
	"slices"

	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A Figure is one number that results can have.
type Figure struct {
	Name   string // e.g. "acquire.response.p99"
	Unit   Unit
	Better Direction
	// About describes the figure in a few words.
	About string
	// Population is what the value of a run is computed over; see Populations for other results.
	Population Population
	Exactness  Exactness
	Merge      Merge
	// Export is the name of the OpenTelemetry metric from which the figure can be computed, "" if none.
	Export string

	// needs is what a plan must have so that its runs can have the figure, nil if all can have it.
	needs *need
	// ends says that a run has the figure only when it has ended. endsWithout is what a plan must have lest it be so.
	ends        bool
	endsWithout *need
	// delay says what a load generator or a machine that is short of processor time does to the figure.
	delay delay
	// older says where the true value can lie if observed connections are older than the observation, and on either
	// side if it depends on what sessions did when they were notified.
	older Bias
	// undecided says where it can lie if it is not known of some places what their sessions wait for.
	undecided Bias
	// absent says why an observation may have no value.
	absent string
	// unseen says where it can lie if a part of the observed traffic was not analysed, 0 if only higher, as
	// that of a count. Times and shares can lie on either side.
	unseen      Bias
	run         func(results.Run) (float64, bool)
	count       func(results.Settled) results.Exact
	path        func(observation.Place) (float64, bool)
	across      bool // its value over all paths is not that of one of them: see Across
	observation func(results.Observation) (float64, bool)
}

// A Unit is the unit of a figure's values.
type Unit string

// The units.
const (
	Nanoseconds Unit = "ns"
	Bytes       Unit = "B"
	PerSecond   Unit = "/s"
	PerRound    Unit = "/round"
	Share       Unit = "share" // 0 to 1
	Number      Unit = ""      // a count or a ratio
)

// A Direction says which of two values of a figure is better.
type Direction int

// The directions.
const (
	Less    Direction = iota // latencies, costs, violations
	More                     // throughput, fairness
	Neither                  // amounts of work, which are neither good nor bad
)

// A Population is what a figure is computed over.
type Population string

// The populations of the figures of a run.
const (
	Window         Population = "window"            // the measured window of a run
	WholeRounds    Population = "whole rounds"      // all rounds of a run from the first to the last, warm-up included
	ServerInterval Population = "server's interval" // between two readings of the server's counters around the window
)

// An Exactness says what two equal measurements of a figure have in common.
type Exactness string

// The exactnesses.
const (
	// Formula: the form's cost model or the definition of safety fixes the value, wherever
	// [Figure.Exact] or [Figure.ExactCount] says so. Elsewhere it is as Schedule.
	Formula Exactness = "formula"
	// Schedule: the figure is counted, but it depends on the order in which things happen, and so has
	// noise, however equal two measurements were.
	Schedule Exactness = "schedule"
	// Timed: the figure depends on the speed of the machine and on its other load.
	Timed Exactness = "timed"
)

// A Merge says how the agents of a run, which each measured a part of it, make the figure of the run.
type Merge string

// The rules.
const (
	Sum         Merge = "sum"
	Max         Merge = "max"
	Histogram   Merge = "histogram"   // bucket by bucket, then taken from the sum
	Derived     Merge = "derived"     // computed from what is merged by the other rules
	Coordinator Merge = "coordinator" // known of the run as a whole only
	Unmerged    Merge = "one process" // counts and observations are never divided
)

// RunValue returns the figure's value for a run. It is not known if the run has no such measurement, or
// too few observations of it.
func (f Figure) RunValue(r results.Run) (value float64, known bool) {
	if f.run == nil {
		return 0, false
	}
	return f.run(r)
}

// Live reports whether a run in progress can have the figure; see LiveIn.
func (f Figure) Live() bool { return f.run != nil && f.Population == Window && !f.ends }

// CountValue returns the figure of a settled run, false if it is none.
func (f Figure) CountValue(s results.Settled) (count results.Exact, known bool) {
	if f.count == nil {
		return results.Exact{}, false
	}
	return f.count(s), true
}

// PathValue returns the figure's value for an observed path.
func (f Figure) PathValue(p observation.Place) (value float64, known bool) {
	if f.path == nil {
		return 0, false
	}
	return f.path(p)
}

// ObservationValue returns the figure's value for a whole observation.
func (f Figure) ObservationValue(o results.Observation) (value float64, known bool) {
	if f.observation == nil {
		return 0, false
	}
	return f.observation(o)
}

// Across reports whether the figure over all paths can be beyond that of each path: a transaction wakes other sessions at
// each of several.
func (f Figure) Across() bool { return f.across }

// OfPaths reports whether observed paths have the figure.
func (f Figure) OfPaths() bool { return f.path != nil }

// Timed reports whether the figure depends on the speed of the machine and on its other load.
func (f Figure) Timed() bool { return f.Exactness == Timed }

// Exact reports whether a formula fixes the figure's value for the run, so that any difference between
// two such values is real. That two values were equal never makes a figure exact.
func (f Figure) Exact(r results.Run) bool {
	if f.Exactness != Formula || f.Population != WholeRounds || f.Name == brokenIdentities {
		return f.Exactness == Formula
	}
	e := r.Cost.Expected
	return e != nil && slices.ContainsFunc(e.Identities, func(i results.Identity) bool { return i.Fixes == f.Name })
}

// ExactCount reports whether the form's cost model fixes the figure's value for the settled run.
func (f Figure) ExactCount(s results.Settled) bool {
	e, known := f.CountValue(s)
	return known && e.Expected != nil && e.Most == nil
}

// Column returns the name of the figure's column in a table of values, with the unit if the name does not
// have it.
func (f Figure) Column() string {
	switch f.Unit {
	case Nanoseconds:
		return f.Name + "_ns"
	case Share:
		return f.Name + "_share"
	}
	return f.Name
}

// Format formats a value of the figure with its unit and three significant digits: "1.25 ms", "3.00",
// "870 /s", "99.0 %".
func (f Figure) Format(v float64) string { return units.Value(v, string(f.Unit)) }

// Compared returns the names of the figures by which runs with the given phases are compared unless others
// are named: the throughput, two percentiles of the key phase, and the notifications per whole round, which
// a formula fixes for most forms.
func Compared(phases []string) []string {
	names := []string{"rounds_per_s"}
	if key := results.KeyPhase(phases); key != "" {
		names = append(names, key+".p50", key+".p99")
	}
	return append(names, "whole.notifications_per_round")
}

// Followed returns the names of the figures that a history of runs follows unless others are named: the
// throughput, the median of the key phase, and the costs of whole rounds.
func Followed(phases []string) []string {
	names := []string{"rounds_per_s"}
	if key := results.KeyPhase(phases); key != "" {
		names = append(names, key+".p50")
	}
	return append(names, WholeCosts()...)
}

// WholeCosts returns the names of the costs that a baseline bounds.
func WholeCosts() []string {
	return []string{"whole.notifications_per_round", "whole.reads_per_round", "whole.writes_per_round"}
}

// ComparedPaths returns the names of the figures by which observations are compared unless others are
// named, as a whole and for each path.
func ComparedPaths() []string {
	return []string{"fanout.max", "fanout.p50", "notifications_per_change", "requests_per_change", "watches.live", "watches.missed", "requests", "failed_writes"}
}

// FollowedPaths returns the names of the figures of observed paths that a history follows unless others
// are named.
func FollowedPaths() []string { return []string{"fanout.max", "notifications_per_change", "wasted"} }
