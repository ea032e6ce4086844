package report

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// A change is one figure of both sides, in words.
type change struct {
	Subject, Figure, Base, New, Effect, Interval, Minimum, P string
	Badge                                                    badge
	Why                                                      string
}

func ofComparison(c results.Comparison) page {
	p := page{
		Title: c.ID, Heading: fmt.Sprintf("stampede · %s → %s", c.Base.Label, c.New.Label), Verdict: badgeOf(c.Verdict),
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
		p.Trust = append(p.Trust, remark{badge{"mind", "unsure", "!"}, w})
	}
	for _, ch := range c.Changes {
		p.Changes = append(p.Changes, changed(ch))
	}
	p.Findings = found(c)
	return p
}

func changed(ch results.Change) change {
	f := figures.Figure{Unit: figures.Unit(ch.Unit)}
	shown := change{Subject: ch.Subject, Figure: ch.Figure, Base: f.Format(ch.Base), New: f.Format(ch.New),
		Effect: "n/a", Interval: "n/a", Minimum: "±" + percent(ch.Minimum)[1:], P: "n/a", Badge: badgeOf(ch.Verdict), Why: ch.Why}
	if e := ch.Effect; e != nil {
		shown.Effect = percent(e.Value)
		shown.Interval = fmt.Sprintf("[%s, %s]", percent(e.Low), percent(e.High))
	}
	if ch.P != nil {
		shown.P = fmt.Sprintf("%.3f", *ch.P)
	}
	return shown
}

// found says what decided the verdict, or that nothing is shown.
func found(c results.Comparison) []string {
	var parts []string
	for _, ch := range c.Changes {
		if ch.Gated && ch.Verdict == c.Verdict && ch.Effect != nil {
			parts = append(parts, fmt.Sprintf("%s %s", ch.Figure, percent(ch.Effect.Value)))
		}
	}
	sides := fmt.Sprintf("%s against %s", c.New.Label, c.Base.Label)
	switch {
	case len(parts) == 0:
		return []string{fmt.Sprintf("%s: nothing was decided.", sides)}
	case c.Verdict == results.Regression:
		return []string{fmt.Sprintf("%s is worse: %s.", sides, strings.Join(parts, ", "))}
	case c.Verdict == results.Inconclusive, c.Verdict == results.Invalid:
		return []string{fmt.Sprintf("%s: neither shown to be worse nor shown not to be: %s.", sides, strings.Join(parts, ", "))}
	}
	return []string{fmt.Sprintf("%s is no worse: %s.", sides, strings.Join(parts, ", "))}
}

// percent writes a share as a change, with its sign.
func percent(share float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", 100*share), "-", "−", 1)
}
