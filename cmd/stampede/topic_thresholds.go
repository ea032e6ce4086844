package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/render"
)

const thresholdsText = `A threshold is a condition that runs must meet:

  [RUN.]METRIC OP LIMIT

OP is < <= > >= or ==. RUN is *, a recipe, a form, RECIPE/FORM or a family, and
followed by @CLIENTS for the runs with that number of clients only; without RUN the
threshold applies to every run that has the metric. LIMIT is one of

  5ms, 3, 99%, 1MiB, 500/s        a value, with its unit
  0.5 * one-node.handoff.p99      the figure of another run of the same command, with the
                                  same number of clients on the same backend; the factor
                                  is optional, and so is the run: another figure of the same
  1.2 * baseline                  the same figure of the same run in the --baseline

  stampede run --threshold '*.safety.violations == 0' \
    --threshold 'predecessor.whole.notifications_per_round <= 1' \
    --threshold 'predecessor.handoff.p99 < 0.5 * one-node.handoff.p99'

Counts hardly depend on the machine: gate on them first, on ratios within one command
second, and on absolute times only with loose limits. A time that was measured badly,
or with too few observations, is invalid: neither a pass nor a failure, exit code 97.
If the load generator was short of CPU, a time is at most too long, so it may pass.

With --baseline and no threshold that refers to it, each form of the baseline that is
not naive may need 25 % or 0.5 more notifications, reads and writes per round. If its
run took about a second or longer, it must reach 0.6 times the rounds per second, and
take at most twice as long in each phase, at the highest percentile that the baseline
has. Times from another machine or with other settings are not compared; counts are.

Metrics:

`

// thresholdsTopic returns a help topic, not a command: stampede help thresholds shows it.
func (a *app) thresholdsTopic() *cobra.Command {
	topic := &cobra.Command{Use: "thresholds", Short: "Thresholds and their metrics"}
	topic.SetHelpFunc(func(*cobra.Command, []string) {
		fmt.Fprint(a.out, thresholdsText)
		a.listFigures(figure.All([]string{"PHASE"}))
		fmt.Fprintf(a.out, "\nPHASE is one of %s; PHASE.p99 is short for\nPHASE.response.p99.\n", strings.Join(a.phases(), ", "))
		fmt.Fprint(a.out, "\nMetrics of observed paths, for stampede observe --threshold '[PATH: ]METRIC OP LIMIT':\n\n")
		a.listFigures(figure.Paths())
	})
	return topic
}

// listFigures prints a line for each figure.
func (a *app) listFigures(all []figure.Figure) {
	var rows [][]string
	for _, f := range all {
		rows = append(rows, []string{f.Name, f.About})
	}
	_ = render.WriteColumns(a.out, "  ", rows) // help has no errors
}

// phases returns the distinct phases of all forms, sorted.
func (a *app) phases() (all []string) {
	for _, f := range a.forms {
		all = append(all, f.Phases()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
