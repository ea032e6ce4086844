package results

import (
	"fmt"
	"slices"
	"strings"
	"time"
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
func (s Sweep) limits(levels []Level, c Curve) (lines []string) {
	last := levels[len(levels)-1]
	runs := s.at(last)
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
	if len(lines) == 0 {
		return []string{"not known"}
	}
	return lines
}

func herdLimit(runs []Run, c Curve) string {
	g, ok := c.Growth[perNotification]
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
	return fmt.Sprintf("the herd: notifications per round grow as N^%.2f, %s in vain with %s",
		g.Value, percent(wasted, woken), runs[0].crowd())
}

// askLimit reports the limit of forms that poll and send few or no notifications.
func askLimit(runs []Run, c Curve) string {
	g, ok := c.Growth[perOperation]
	if p := runs[0].Cost.PerRound; !ok || g.Low <= grows || p == nil || p.Notifications > p.Reads/2 {
		return ""
	}
	return fmt.Sprintf("its asking: reads and writes per round grow as N^%.2f", g.Value)
}

// processorLimit repeats a warning that at least half of the runs have: that the generator, its
// servers or other programs kept the machine's processors busy.
func processorLimit(runs []Run) string {
	short, text := 0, ""
	for _, r := range runs {
		i := slices.IndexFunc(r.Warnings, func(w Warning) bool { return strings.HasPrefix(w.Code, "cpu") })
		if i >= 0 {
			short, text = short+1, r.Warnings[i].Text
		}
	}
	if 2*short < len(runs) || short == 0 {
		return ""
	}
	return "the processors: " + text
}

// serialLimit reports the limit of instances that serve one client at a time, if nearly every round
// began with a hand-off: an instance is then always either held or being handed over.
func serialLimit(l Level, runs []Run) string {
	if !serial(l.Recipe) || l.Rate > 0 || l.Throughput.Value <= 0 {
		return ""
	}
	var handoffs, rounds int64
	for _, r := range runs {
		handoffs, rounds = handoffs+r.Latency["handoff"].Count, rounds+r.Rounds
	}
	handoff, ok := across(runs, func(r Run) (float64, bool) { return meanTime(r.service("handoff")) })
	if !ok || float64(handoffs) < contended*float64(rounds) {
		return ""
	}
	groups := max(l.Groups, 1)
	round := float64(groups) / l.Throughput.Value * float64(time.Second)
	held := time.Duration(max(0, round-handoff.Value))
	who, late := "one "+l.Recipe+" is serial", ""
	if groups > 1 {
		who = fmt.Sprintf("each of %s is serial", plural(groups, l.Recipe))
	}
	if l.HoldNS > 0 && held > l.HoldNS*12/10 {
		late = fmt.Sprintf("; timers make that of a hold of %s", setting(l.HoldNS))
	}
	return fmt.Sprintf("%s: %d/(%s held + %s hand-off) = %s/s%s", who, groups,
		Duration(held), Duration(time.Duration(handoff.Value)), Rate(l.Throughput.Value), late)
}

func meanTime(d *Distribution) (float64, bool) {
	if d == nil {
		return 0, false
	}
	return d.Mean, true
}
