package report

import (
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/view"
)

func ofComparison(c results.Comparison) page {
	said := view.Of(c).Page()
	p := page{
		Title: c.ID, Heading: said.Heading, Findings: said.Finding, Verdict: badgeOf(c.Verdict), Changes: said.Tables,
		Command: view.CommandLine(c.Command), Facts: measuredOn(c.Tool, c.Host, c.Started, c.Took),
		Backends: backends(append(append([]results.Run{}, c.Base.Runs...), c.New.Runs...)),
	}
	if c.Calibrated != "" {
		p.Facts = append(p.Facts, fact{"Noise floor", c.Calibrated})
	}
	if c.Duet != nil {
		p.Facts = append(p.Facts, fact{"Duet", view.Together(*c.Duet)})
	}
	if c.Interrupted {
		p.Trust = append(p.Trust, remark{badge{"mind", "unsure", "!"}, "The command was interrupted: there are fewer pairs than planned, and the verdict is open."})
	}
	for _, w := range c.Warnings {
		p.Trust = append(p.Trust, remark{badge{"mind", "unsure", "!"}, w.Text})
	}
	return p
}
