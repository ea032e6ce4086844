package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results/figures"
)

// exitCodesTopic returns a help topic, not a command: stampede help exit-codes shows it.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	for _, c := range exitCodes() {
		fmt.Fprintf(&b, "  %-8s  %s\n", c.code, c.meaning)
	}
	return &cobra.Command{Use: "exit-codes", Short: "What exit codes mean", Long: "Exit codes:\n\n" + b.String() + `
If several apply it is the first of 2, 1, 96, 99, 98, 97. Where a signal ended
it, it is 130 or 143, whatever was measured until then.`}
}

const thresholdsText = `A threshold is what must hold of runs:

  [RUN.]FIGURE OP LIMIT

OP is < <= > >= or ==. RUN is *, a recipe, a form, RECIPE/FORM or a family, and
with @CLIENTS behind it only the runs of so many clients; without it every run is
meant that has the figure. LIMIT is one of

  5ms, 3, 99%, 1MiB, 500/s        a value, with its unit
  0.5 * one-node.handoff.p99      another run's figure, of the same command, with as
                                  many clients on the same backend; the factor may be
                                  left out, and the run, for another figure of the same
  1.2 * baseline                  the same figure of the same run in the --baseline

  stampede run --threshold '*.safety.violations == 0' \
    --threshold 'predecessor.whole.notifications_per_round <= 1' \
    --threshold 'predecessor.handoff.p99 < 0.5 * one-node.handoff.p99'

Counts hardly depend on the machine: gate on them first. Ratios inside one command
come second; absolute times are loose limits against accidents. A time that was
measured badly, or of too few observations, is neither a pass nor a failure but
invalid, and the exit code 97.

With a --baseline, and no threshold on it, each form that is in it and is not naive
may need a quarter more notifications, reads and writes a round, or half of one
more; and if its run takes a second or so, it must do 0.6 times the rounds a second,
and take at most twice as long in each phase, at the highest percentile that the
baseline has. Times of another machine, or with other settings, are not compared;
counts are.

Figures:

`

// thresholdsTopic returns a help topic, not a command: stampede help thresholds shows it.
func (a *app) thresholdsTopic() *cobra.Command {
	topic := &cobra.Command{Use: "thresholds", Short: "What can be asked of runs, and how"}
	topic.SetHelpFunc(func(*cobra.Command, []string) {
		fmt.Fprint(a.out, thresholdsText)
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, f := range figures.All([]string{"PHASE"}) {
			fmt.Fprintf(w, "  %s\t%s\n", f.Name, f.About)
		}
		w.Flush()
		fmt.Fprintf(a.out, "\nPHASE is one of %s; PHASE.p99 is short for\nPHASE.response.p99.\n", strings.Join(a.phases(), ", "))
	})
	return topic
}

// phases returns the distinct phases of all forms, sorted.
func (a *app) phases() (all []string) {
	for _, f := range a.forms {
		all = append(all, f.Phases()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
