package figure

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A Bias says on which sides of a measured value the true one can lie. 0 is neither: the value is not in
// doubt.
type Bias uint8

// The sides. Both together say nothing about the true value.
const (
	Lower  Bias = 1 << iota // the true value can be lower
	Higher                  // the true value can be higher
	Either = Lower | Higher
)

// A delay is what a load generator or a machine that is short of processor time does to a figure.
type delay uint8

const (
	anyhow    delay = iota // nobody knows what
	lengthens              // a time has the delays in it: the true one is shorter
	shifts                 // a time between two events, each of which may be noticed late
	slows                  // less work is done in the window, in proportion to the time that is lost
	slowsSome              // less work is done in a part of the window
	adds                   // more of what should not happen at all
)

// An effect says, for each kind of figure, on which sides of the measured value the true one can lie because of a doubt
// that has no size.
type effect struct {
	count    Bias // what was counted, and ratios of counts
	perRound Bias // what was counted, for each round
	least    Bias // the least of a phase's times
	times    Bias // the other times
	between  Bias // times between two events
	rate     Bias // how much work was done in the window
	extra    Bias // how often something happened that should not happen at all
	other    Bias // figures that depend on time in another way
	lost     Bias // how many arrivals were not served, and so a percentile that is infinite because of them
}

// The effects of doubts without a size.
var (
	// inexact is the effect of a doubt about how exact times are, or what they stand for. It does not change which
	// arrivals were served, so an infinite percentile stays infinite.
	inexact = effect{least: Either, times: Either, between: Either, rate: Either, extra: Either, other: Either}
	// early is the effect of an end before that of the window: arrivals that were waiting might have been served.
	early = effect{least: Either, times: Either, between: Either, rate: Either, extra: Either, other: Either, lost: Either}
	// partial is the effect of counts that have only a part of what was done.
	partial = effect{Either, Either, Either, Either, Either, Either, Either, Either, Either}
	// cutOff is the effect of rounds that had not ended long after the window. They have no time, and what they cost is
	// counted without the rounds. What ended in the window did so.
	cutOff = effect{perRound: Either, times: Higher, between: Higher, other: Either}
)

// effectOf returns the effect on the figure of a doubt without a size.
func (f Figure) effectOf(d results.Warning) effect {
	switch {
	case d.Code == metrics.AgentLost && f.Name == Violations: // one among the other agents' clients is one
		return effect{}
	case d.Code == metrics.AgentLost, d.Code == metrics.Interrupted && d.Numbers["measured_share"] == 0 && f.Population == Window:
		return partial
	case d.Code == metrics.Interrupted, d.Code == metrics.FormFailed:
		return early
	case d.Code == metrics.Abandoned && f.ofBackground():
		return effect{}
	case d.Code == metrics.Abandoned:
		return cutOff
	}
	return inexact
}

// biasOf returns the effect on the reading of a figure.
func (e effect) biasOf(f Figure, is Reading) Bias {
	switch {
	case is.Infinite():
		return e.lost
	case !f.Timed() && strings.HasSuffix(f.Name, "_per_round"):
		return e.perRound
	case !f.Timed():
		return e.count
	case f.delay == lengthens && strings.HasSuffix(f.Name, ".min"):
		return e.least
	}
	return map[delay]Bias{lengthens: e.times, shifts: e.between, slows: e.rate, slowsSome: e.rate, adds: e.extra, anyhow: e.other}[f.delay]
}

// doubt widens the reading by one doubt about the run. All verdicts about runs follow from it: those of thresholds,
// objectives, baselines, comparisons and histories.
func (f Figure) doubt(is *Reading, r results.Run, d results.Warning) {
	code, bystanders := d.Code, d.Code == metrics.Bystanders
	if bystanders {
		code = cmp.Or(d.Names[metrics.Cause], code)
	}
	distortion, effect := metrics.DistortionOf(code), f.effectOf(d)
	switch {
	case effect == partial:
		is.doubt(Either, d.Text)
	case strings.HasPrefix(f.Name, "generator.") || strings.HasPrefix(f.Name, "machine.") || f.Name == "rate.offered": // doubts are derived from them
	case f.ofBackground() != bystanders && (distortion == metrics.Unserved || bystanders): // arrivals of the other load
	case distortion == metrics.Unserved && f.Timed():
		f.unserved(is, r, code, d)
	case distortion == metrics.TooLong && f.Timed():
		f.delayed(is, r, d)
	case distortion == metrics.Unknown:
		is.doubt(effect.biasOf(f, *is), d.Text)
	}
}

// ofBackground reports whether the figure is of the background load.
func (f Figure) ofBackground() bool { return strings.HasPrefix(f.Name, backgroundPrefix) }

// unserved widens the reading by arrivals, or turns of a closed loop, that have no time. They change neither what was
// counted nor any rate: what was done was done. Percentiles of response times include lost arrivals, all of them even
// where some would have been operations of another kind. The least time is what it is, and an arrival that was
// never started has no service time.
func (f Figure) unserved(is *Reading, r results.Run, code string, d results.Warning) {
	lost := f.lostOf(r)
	switch {
	case lost.all > 0:
		if least := lost.least(float64(lost.all)); least < lost.all {
			is.widen(lost.counting(least), is.Value, d.Text)
		}
	case f.delay != lengthens:
	case strings.HasSuffix(f.Name, ".min"):
	case code == metrics.Skipped && strings.Contains(f.Name, ".service."):
	default:
		is.widen(is.Value, math.Inf(1), d.Text)
	}
}

// delayed widens the reading by what the generator or its machine can have added, in the time in which it kept the
// generator or the service from running.
func (f Figure) delayed(is *Reading, r results.Run, d results.Warning) {
	v, inf := is.Value, math.Inf(1)
	share, longest := lostTime(d)
	switch f.delay {
	case lengthens:
		lost, span := f.lostOf(r), v
		switch {
		case is.Infinite() && lost.endless(lost.least(f.lostArrivals(r, d).Low)):
			return
		case is.Infinite():
			is.widen(-inf, v, "arrivals that were not served may be lost to the generator's own delays: "+d.Text)
			return
		case lost.all > 0: // without the delays fewer may have been lost: it would be a lower percentile of the others
			share = 1
		case r.Generator.Late > 0: // arrivals wait for those before them, and inherit their delays
			span = max(v, float64(r.DurationNS+r.WarmupNS))
		}
		if share >= 1 {
			is.widen(-inf, v, d.Text)
			return
		}
		is.widen(v-share*span-longest, v, d.Text)
	case shifts:
		by := share*math.Abs(v) + longest
		if share >= 1 {
			by = inf
		}
		is.widen(v-by, v+by, d.Text)
	case slows:
		high := inf
		if left := 1 - share - longest/max(float64(r.DurationNS), 1); left > 0 {
			high = v / left
		}
		is.widen(v, high, d.Text)
	case slowsSome:
		is.widen(v, inf, d.Text)
	case adds:
		is.widen(-inf, v, d.Text)
	default:
		is.widen(-inf, inf, d.Text)
	}
}

// lostTime returns how much a doubt about the generator or its machine is worth: the share of the window for which it
// can have kept the generator or the service from running, and the longest such time in ns. The share is 1 if
// that is not known.
func lostTime(d results.Warning) (share, longest float64) {
	share, known := d.Numbers[metrics.LostShare]
	if !known {
		return 1, 0
	}
	return min(share, 1), d.Numbers[metrics.LongestLate]
}

// lostArrivals returns how many arrivals were lost, of the load that the figure is of, with those that would have been
// served without the time that a doubt is worth.
func (f Figure) lostArrivals(r results.Run, d results.Warning) Reading {
	all, completed := r.Generator.Lost(), r.Generator.Completed
	if f.ofBackground() && r.Background != nil {
		all, completed = r.Background.Lost(), r.Background.Completed
	}
	is := Exactly(float64(all))
	share, longest := lostTime(d)
	more := math.Inf(1)
	if left := 1 - share - longest/max(float64(r.DurationNS), 1); left > 0 {
		more = float64(completed) * (1/left - 1)
	}
	is.widen(is.Value-more, is.Value, d.Text)
	is.bound(0, math.Inf(1))
	return is
}

// Lost returns how many arrivals of an open loop were not served, and how many of these the service may not be to blame for:
// a generator or a machine short of processor time can have lost them, or the end of the run.
func Lost(r results.Run) Reading {
	all := Exactly(float64(r.Generator.Lost()))
	for _, d := range r.Doubts {
		switch metrics.DistortionOf(d.Code) {
		case metrics.TooLong:
			all.widen(Figure{}.lostArrivals(r, d).Low, all.Value, d.Text)
		case metrics.Unknown:
			all.doubt(Figure{}.effectOf(d).lost, d.Text)
		}
	}
	all.bound(0, math.Inf(1))
	return all
}

// ObservationDoubt returns why the figure's value for an observation is in doubt, and on which sides the
// true one can lie: what was not analysed can only add to counts. The bias is 0 if all traffic was
// analysed. Thresholds, comparisons, histories and pages of observations in progress all judge by it.
//
// A connection that is older than the observation is no reason to doubt what changes cause: each
// notification that it gets is seen. Only what it had done before is not known, so figures of what stands
// and of what sessions waited for are in doubt.
func (f Figure) ObservationDoubt(o results.Observation) (why string, bias Bias) {
	t := o.Observed.Traffic
	switch incomplete := o.Incomplete(); {
	case incomplete != "":
		why = "not all traffic was analysed: " + incomplete
	case t.Unjoined > 0 && f.older == Either:
		return o.Unjoined(), Either
	case t.Unfollowed > 0:
		why = "not all watches were followed"
	case t.Beyond.Any():
		why = "not all that was observed was followed"
	case t.Unproven > 0 && f.Name == missedWatches:
		return unproven(o.Observed), Higher
	case t.Unjudged > 0 && f.Name == missedWatches:
		return fmt.Sprintf("%d of the sessions watched nodes while not all that they were told was seen", t.Unjudged), Higher
	case t.Joined > 0 && f.older != 0:
		return "connections were open before the observation began", f.older
	default:
		return "", 0
	}
	if f.Exactness == Timed || f.Unit == Share {
		return why, Either
	}
	return why, cmp.Or(f.unseen, Higher)
}

// unproven says which watches may have been missed.
func unproven(r observation.Report) string {
	var most observation.Place
	for _, p := range r.Places {
		if p.Unproven > most.Unproven {
			most = p
		}
	}
	return fmt.Sprintf("it is not known of %d watches, most of them of %s, whether a change passed them without a notification",
		r.Traffic.Unproven, most.Path)
}

// Undecided returns why the true value can be higher although all traffic was analysed: it is not known of some places
// whether their changes wake herds, or how long what had not come back at the end would have taken, or whether a change that was not made would have been
// noticed. A difference between
// observations is none of that.
func (f Figure) Undecided(o results.Observation) (why string, bias Bias) {
	if f.OfFaults() && f.Timed() && o.Recovery.Unfinished(percents[f.Name]) {
		return "not all had come back when the observation ended", Higher
	}
	switch r := o.Recovery; {
	case r == nil:
	case f.OfFaults() && r.Undone > 0:
		return "not all faults happened", Higher
	case f.Name == missedChanges && r.Unprobed > 0:
		return "the change of --probe could not be made", Higher
	case f.Name == missedChanges && r.Unwatched() != "":
		return "no session that the fault hit watched " + r.Unwatched(), Higher
	}
	if all := o.Observed.Undecided(); f.undecided != 0 && len(all) > 0 {
		why = "it is not known whether changes of " + all[0].Path + " wake a herd"
		if n := all[0].Beyond; n > 0 {
			why += fmt.Sprintf(": that row has up to %s beyond the path patterns that are told apart", units.Plural(int(n), "path"))
		}
		return why, f.undecided
	}
	return "", 0
}

// Absent says why the observation has no value of the figure at any of its places.
func (f Figure) Absent(o results.Observation) string {
	if why := o.Unjoined(); why != "" && f.older == Either {
		return why
	}
	if f.Name == missedChanges && o.Recovery != nil && o.Recovery.Verdict != recovery.NotApplicable {
		return "nothing that a session had watched was seen to change before it watched again"
	}
	return f.absent
}

// tolerated is the share of the runs that may be doubtful. Medians and estimates are robust against some
// disturbed runs. Leaving those runs out instead would let the user choose what counts.
const tolerated = 0.2

// Void says why the runs together prove nothing about the figure, because too many of them are doubtful, ""
// if they prove something.
func (f Figure) Void(runs []results.Run) string {
	n, why := 0, ""
	for _, r := range runs {
		if d := f.Read(r).Doubtful(); d != "" {
			n, why = n+1, d
		}
	}
	if float64(n) <= tolerated*float64(len(runs)) {
		return ""
	}
	return fmt.Sprintf("%d of %d runs are doubtful: %s", n, len(runs), why)
}
