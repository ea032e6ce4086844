package results

import (
	"fmt"
	"strings"
)

// Page is what the comparison says.
func (c Comparison) Page() Page {
	p := Page{Heading: c.heading(), Finding: []string{c.finding()}, Warnings: c.Warnings, Command: CommandLine(c.Command)}
	if c.Interrupted {
		p.Broken = fmt.Sprintf("Interrupted: %d of %s went through, and nothing is decided.", c.pairs(), plural(c.Planned, "pair"))
	}
	if c.Calibrated != "" {
		p.Notes = append(p.Notes, "noise of this machine: "+c.Calibrated)
	}
	if len(c.Changes) > 0 {
		p.Tables = append(p.Tables, c.table())
	}
	return p
}

func (c Comparison) heading() string {
	how := fmt.Sprintf("%d runs against %d", len(c.Base.Runs), len(c.New.Runs))
	if c.Paired {
		how = plural(c.pairs(), "pair")
	}
	return fmt.Sprintf("stampede comparison · %s → %s · %s", c.Base.Label, c.New.Label, how)
}

func (c Comparison) pairs() int { return min(len(c.Base.Runs), len(c.New.Runs)) }

// finding names the figures that decide, by the worst verdict that any has.
func (c Comparison) finding() string {
	var verdicts []Verdict
	gated := 0
	for _, x := range c.Changes {
		if x.Gated {
			verdicts, gated = append(verdicts, x.Verdict), gated+1
		}
	}
	worst := Worst(verdicts...)
	if worst == "" {
		return "Nothing was decided: no figure was asked for."
	}
	var names []string
	for _, x := range c.Changes {
		if x.Gated && x.Verdict == worst {
			names = append(names, strings.TrimSpace(x.Subject+" "+x.Figure+" "+x.change()))
		}
	}
	return fmt.Sprintf("%s against %s: %s in %d of %s: %s.", c.New.Label, c.Base.Label, worst, len(names),
		plural(gated, "gated figure"), strings.Join(names, ", "))
}

func (c Comparison) table() Table {
	t := Table{Title: c.Base.Label + " → " + c.New.Label, Columns: []Column{{Head: "figure", Left: true}, {Head: "base"}, {Head: "new"},
		{Head: "change"}, {Head: "interval"}, {Head: "minimum"}, {Head: "verdict", Left: true}}}
	for _, x := range c.Changes {
		verdict := string(x.Verdict)
		if !x.Gated {
			verdict += " (not gated)"
		}
		if x.Why != "" {
			verdict += ": " + x.Why
		}
		t.Rows = append(t.Rows, []string{strings.TrimSpace(x.Subject + " " + x.Figure), Value(x.Base, x.Unit), Value(x.New, x.Unit),
			x.change(), x.interval(), "±" + strings.TrimPrefix(signed1(x.Minimum), "+"), verdict})
	}
	return t
}

func (x Change) change() string {
	if x.Effect == nil {
		return absent
	}
	return signed1(x.Effect.Value)
}

func (x Change) interval() string {
	if x.Effect == nil {
		return absent
	}
	return fmt.Sprintf("[%s, %s]", signed1(x.Effect.Low), signed1(x.Effect.High))
}

// signed1 is a share with its sign and one decimal: "+41.2 %", "−0.5 %".
func signed1(share float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", 100*share), "-", "−", 1)
}
