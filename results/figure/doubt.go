package figure

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results"
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

// Doubt returns the first doubt about the run that concerns the figure, and what all such doubts say
// about its true value; the bias is 0 if there are none. Thresholds, objectives and comparisons all judge
// runs by it. Counts do not depend on how fast the load generator was, so most doubts concern only times.
func (f Figure) Doubt(r results.Run) (first results.Warning, bias Bias) {
	for _, d := range r.Doubts {
		b := f.biasIn(r, d)
		if b != 0 && bias == 0 {
			first = d
		}
		bias |= b
	}
	return first, bias
}

// Voiding returns the first doubt about the run that voids the verdict on a condition of the figure, or
// the first that concerns it.
func (f Figure) Voiding(r results.Run, op Op, holds bool) results.Warning {
	for _, d := range r.Doubts {
		if Voids(op, holds, f.biasIn(r, d), 0) {
			return d
		}
	}
	first, _ := f.Doubt(r)
	return first
}

// biasIn returns what one doubt about the run says about the figure's true value. A percentile in which
// lost arrivals count as infinitely late includes them, and nothing is lower than a count of 0.
func (f Figure) biasIn(r results.Run, d results.Warning) Bias {
	switch b := f.biasBy(d); b {
	case Higher:
		if f.CountsLost(r) {
			return 0
		}
		return b
	case Lower:
		if v, known := f.RunValue(r); known && v == 0 {
			return 0
		}
		return b
	default:
		return b
	}
}

// CountsLost reports whether the figure is a percentile of times in which the run's lost arrivals count as
// infinitely late. It is then not known if it is the time of one of them.
func (f Figure) CountsLost(r results.Run) bool {
	phase, percentile, _ := strings.Cut(f.Name, ".response.p")
	of := r.Latency
	if b, ok := strings.CutPrefix(phase, "background."); ok && r.Background != nil {
		phase, of = b, r.Background.Latency
	}
	d := of[phase].Response
	return percentile != "" && d != nil && d.Lost > 0
}

// biasBy returns what one doubt says about the figure's true value.
func (f Figure) biasBy(d results.Warning) Bias {
	background := strings.HasPrefix(f.Name, "background.")
	switch {
	case d.Code == metrics.Interrupted && d.Numbers["measured_share"] == 0 && f.Population == Window:
		return Either // not even counts were measured
	case strings.HasPrefix(f.Name, "generator.") || strings.HasPrefix(f.Name, "machine.") || strings.HasPrefix(f.Name, "rate."):
		return 0 // doubts are derived from them
	case d.Code == metrics.AgentLost && f.Name != Violations: // a violation among the other agents' clients is one
		return Either
	case d.Code == metrics.Abandoned && f.Unit == PerRound:
		return Either
	case !f.Timed():
		return 0
	}
	code := d.Code
	lost := code == metrics.Skipped || code == metrics.Unfinished || code == metrics.Failed
	if code == metrics.Bystanders {
		code = cmp.Or(d.Names[metrics.Cause], code)
	}
	if background != (d.Code == metrics.Bystanders) && (lost || d.Code == metrics.Bystanders) {
		return 0 // arrivals of the other load
	}
	switch metrics.DistortionOf(code) {
	case metrics.TooLong:
		return cmp.Or(f.delayed, Either)
	case metrics.TooShort:
		switch {
		case f.delayed == Lower && f.Unit == Nanoseconds:
			return Higher
		case f.delayed == Lower: // the doubt is about times: sessions were lost or not
			return 0
		}
	}
	return Either
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
		return "it is not known whether changes of " + all[0].Path + " wake a herd", f.undecided
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
		if d, bias := f.Doubt(r); bias != 0 {
			n, why = n+1, d.Text
		}
	}
	if float64(n) <= tolerated*float64(len(runs)) {
		return ""
	}
	return fmt.Sprintf("%d of %d runs are doubtful: %s", n, len(runs), why)
}

// Voids reports whether doubts void the verdict on a condition: whether it could be another one with the
// true values. The biases are those of the measured value and of the limit, and holds is the verdict.
// A time that is at most too long, and is below its limit, is below it all the more.
func Voids(op Op, holds bool, measured, limit Bias) bool {
	below := op == Below || op == AtMost
	switch {
	case op == Equals:
		return measured|limit != 0
	case below == holds: // the value lies below the limit
		return measured&Higher|limit&Lower != 0
	}
	return measured&Lower|limit&Higher != 0
}
