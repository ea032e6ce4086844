package levels

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// The limits of a form are those at the last level of a series, where they show most.
const (
	// grows is the exponent above which a growing cost limits a form once there are enough clients.
	grows = 0.5
	// contended is the share of rounds that begin with a hand-off above which a client is
	// always waiting.
	contended = 0.9
)

// limits says what limits the form's throughput at the last level, as far as that is known.
func limits(s results.Sweep, levels []results.Level, c results.Curve) (lines []string) {
	last := levels[len(levels)-1]
	runs := RunsOf(s, last)
	for _, line := range []string{herdLimit(runs, c), askLimit(runs, c), processorLimit(runs)} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 || last.Groups <= 1 {
		if line := serialLimit(last, runs); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		return lines
	}
	if text := repeated(runs, metrics.Others, metrics.Stolen, metrics.Starved); text != "" {
		return []string{"not known: " + text}
	}
	return []string{"not known"}
}

func herdLimit(runs []results.Run, c results.Curve) string {
	g, ok := c.Growth[Notifications]
	if !ok || g.Low <= grows {
		return ""
	}
	var wasted, woken int64
	for _, r := range runs {
		wasted, woken = wasted+r.Herd.Wasted, woken+r.Herd.Useful+r.Herd.Wasted
	}
	if 2*wasted < woken {
		return ""
	}
	return fmt.Sprintf("the herd: notifications per round grow as N^%.2f, %s wasted with %s",
		g.Value, units.Percent(wasted, woken), Crowd(runs[0]))
}

// askLimit reports the limit of forms that poll and send few or no notifications.
func askLimit(runs []results.Run, c results.Curve) string {
	g, ok := c.Growth[Operations]
	if p := runs[0].Cost.PerRound; !ok || g.Low <= grows || p == nil || p.Notifications > p.Reads/2 {
		return ""
	}
	return fmt.Sprintf("polling: reads and writes per round grow as N^%.2f", g.Value)
}

// processorLimit reports that the generator and its servers kept the machine's processors busy. Where other programs
// took the processors, the form may have no such limit.
func processorLimit(runs []results.Run) string {
	if text := repeated(runs, metrics.ClientBound, metrics.Shared); text != "" {
		return "the processors: " + text
	}
	return ""
}

// repeated returns the text of a warning of one of the kinds that at least half of the runs have, "" if they do not.
func repeated(runs []results.Run, codes ...string) string {
	short, text := 0, ""
	for _, r := range runs {
		i := slices.IndexFunc(r.Warnings, func(w results.Warning) bool { return slices.Contains(codes, w.Code) })
		if i >= 0 {
			short, text = short+1, r.Warnings[i].Text
		}
	}
	if 2*short < len(runs) {
		return ""
	}
	return text
}

// serialLimit reports the limit of instances that serve one client at a time, if nearly every round
// began with a hand-off: an instance is then always either held or being handed over.
func serialLimit(l results.Level, runs []results.Run) string {
	if !serial(l.Recipe) || l.Rate > 0 || l.Throughput.Value <= 0 {
		return ""
	}
	var handoffs, rounds int64
	for _, r := range runs {
		handoffs, rounds = handoffs+r.Latency["handoff"].Count, rounds+r.Rounds
	}
	handoff, ok := Across(runs, func(r results.Run) (float64, bool) { return meanTime(r.ServiceTimes("handoff")) })
	if !ok || float64(handoffs) < contended*float64(rounds) {
		return ""
	}
	groups := max(l.Groups, 1)
	round := float64(groups) / l.Throughput.Value * float64(time.Second)
	held := time.Duration(round - handoff.Value)
	if held < 0 {
		return "" // the medians of the two do not come from the same runs
	}
	each, late := "", ""
	if groups > 1 {
		each = " in each of " + units.Plural(groups, l.Recipe)
	}
	if l.HoldNS > 0 && held > l.HoldNS*12/10 && Doubt(Speed(), runs) == "" {
		late = fmt.Sprintf("; timers make that of a hold of %s", units.Setting(l.HoldNS))
	}
	return fmt.Sprintf("one holder at a time%s: %d/(%s held + %s hand-off) = %s/s%s", each, groups,
		units.Duration(held), units.Duration(time.Duration(handoff.Value)), units.Rate(l.Throughput.Value), late)
}

func meanTime(d *results.Distribution) (float64, bool) {
	if d == nil {
		return 0, false
	}
	return d.Mean, true
}
