package report

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// A change is one figure of both sides, as text.
type change struct {
	Subject, Figure, Base, New, Effect, Interval, Minimum, Detectable, P string
	Badge                                                                badge
	Why                                                                  string
}

func ofComparison(c results.Comparison) page {
	said := c.Page()
	p := page{
		Title: c.ID, Heading: said.Heading, Findings: said.Finding, Verdict: badgeOf(c.Verdict),
		Command: results.CommandLine(c.Command), Facts: measuredOn(c.Tool, c.Host, c.Started, c.Took),
		Backends: backends(append(append([]results.Run{}, c.Base.Runs...), c.New.Runs...)),
	}
	if c.Calibrated != "" {
		p.Facts = append(p.Facts, fact{"Noise floor", c.Calibrated})
	}
	if c.Interrupted {
		p.Trust = append(p.Trust, remark{badge{"mind", "unsure", "!"}, "It was interrupted: there are fewer pairs than were planned, and nothing is decided."})
	}
	for _, w := range c.Warnings {
		p.Trust = append(p.Trust, remark{badge{"mind", "unsure", "!"}, w.Text})
	}
	for _, ch := range c.Changes {
		p.Changes = append(p.Changes, changed(ch))
	}
	return p
}

func changed(ch results.Change) change {
	base, other := ch.Medians()
	shown := change{Subject: ch.Subject, Figure: ch.Figure, Base: base, New: other,
		Effect: "n/a", Interval: "n/a", Minimum: "±" + percent(ch.Minimum)[1:], Detectable: "n/a", P: "n/a", Badge: badgeOf(ch.Verdict), Why: ch.Why}
	if ch.Exact {
		shown.Detectable = "exact"
	}
	if ch.Detectable != nil {
		shown.Detectable = percent(*ch.Detectable)[1:]
	}
	if e := ch.Effect; e != nil {
		shown.Effect = percent(e.Value)
		shown.Interval = fmt.Sprintf("[%s, %s]", percent(e.Low), percent(e.High))
	}
	if ch.P != nil {
		shown.P = fmt.Sprintf("%.3f", *ch.P)
	}
	return shown
}

// percent formats a share as a change, with its sign.
func percent(share float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", 100*share), "-", "−", 1)
}
