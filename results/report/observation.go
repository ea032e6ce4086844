package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/observation"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/results/view"
)

func ofObservation(o results.Observation) page {
	p := page{
		Title: cmp.Or(o.ID, "stampede observe"), Heading: observation.Heading(o), Verdict: badgeOf(o.Verdict),
		Tables: observation.Tables(o), Facts: append(measuredOn(o.Tool, o.Host, o.Started, o.Observed.Duration), fact{"Service", o.Backend}),
	}
	for _, line := range observation.Findings(o) {
		p.Findings = append(p.Findings, strings.TrimSpace(line))
	}
	for _, g := range o.Gates {
		p.Gates = append(p.Gates, gate{view.AnswerOf(g, g.Subject), badgeOf(g.Verdict)})
	}
	p.Trust = seen(o)
	return p
}

// seenSoFar returns the remarks of an observation in progress. What a capture has lost is known at its end.
func seenSoFar(o results.Observation) []remark {
	all := seen(o)
	if last := &all[len(all)-1]; o.Source != "proxy" && last.Text == allSeen {
		*last = remark{badge{"none", "none", "○"}, "Whether packets were lost is known when the capture ends."}
	}
	return all
}

// allSeen says that nothing is missing.
const allSeen = "All traffic was seen and analysed."

// seen returns remarks about the traffic that was not seen, and about the thresholds.
func seen(o results.Observation) (all []remark) {
	if len(o.Gates) == 0 {
		all = append(all, remark{badge{"none", "none", "○"}, "No thresholds were set, so there is no verdict."})
	}
	missed := func(n uint64, text string) {
		if n > 0 {
			all = append(all, remark{badge{"mind", "unsure", "!"}, text})
		}
	}
	lost := o.Dropped + o.Observed.Traffic.GapBytes
	missed(uint64(lost), units.Bytes(lost)+" of traffic were not analysed: counts are too low.")
	missed(o.PacketsDropped, fmt.Sprintf("The kernel dropped %d packets: counts are too low.", o.PacketsDropped))
	missed(uint64(o.Observed.Traffic.Joined), fmt.Sprintf("Of %d connections the beginning was not seen.", o.Observed.Traffic.Joined))
	missed(uint64(o.Observed.Traffic.Unfollowed), fmt.Sprintf("Of %d watches it is not known what they caused.", o.Observed.Traffic.Unfollowed))
	if b := o.Observed.Traffic.Beyond; b.Any() {
		missed(1, fmt.Sprintf("More was observed than is kept: %d connections, %d sessions, %d nodes and %d requests were not followed, %d messages had too long a path, and %d changes or notifications were decided early.",
			b.Connections, b.Sessions, b.Nodes, b.Requests, b.Paths, b.Early))
	}
	if len(all) == 0 || len(o.Gates) == 0 && len(all) == 1 {
		all = append(all, remark{badge{"holds", "good", "✓"}, allSeen})
	}
	return all
}
