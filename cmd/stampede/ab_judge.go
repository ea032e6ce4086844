package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/changes"
	"github.com/stampede-bench/stampede/results/noise"
	"github.com/stampede-bench/stampede/workloads"
)

// A judged is the state of one stampede ab.
type judged struct {
	*duel
	flags   abFlags
	metrics []changes.Metric
	floors  map[string]noise.Floor // by subject; a subject without a calibration has none
	file    results.Comparison
}

// findNoise looks up the noise floors of this machine.
func (j *judged) findNoise() error {
	j.floors = map[string]noise.Floor{}
	for level := range j.levels() {
		floor, known, err := noise.File(j.flags.noise).Find(results.ThisHost(), j.sides[0].setting(level))
		if err != nil {
			return err
		}
		if known {
			j.floors[j.subject(level)] = floor
		}
	}
	return nil
}

// floor returns the noise floor of a figure.
func (j *judged) floor(subject, figure string) float64 {
	return j.floors[subject].Share(figure, j.flags.pairs)
}

// calibrated says which noise floors are used. It returns "" if none is known.
func (j *judged) calibrated() string {
	var words []string
	for level := range j.levels() {
		if f, known := j.floors[j.subject(level)]; known {
			words = append(words, strings.TrimPrefix(fmt.Sprintf("%s, floor of %d A/A pairs, %s old", j.subject(level), f.Pairs, age(time.Since(f.Started))), ", "))
		}
	}
	return strings.Join(words, "; ")
}

// age formats a duration in its largest unit: "2 h".
func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// announce prints, before the first run, what ab will do and by which rules it decides.
func (j *judged) announce(gated int) {
	if j.flags.quiet {
		return
	}
	j.announceServices()
	fmt.Fprintf(j.err, "stampede: %d interleaved pairs, %d runs%s\n", j.flags.pairs, j.runs(), j.takes())
	w := tabwriter.NewWriter(j.err, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  base\t%s\n  new\t%s\n", j.sides[0].label, j.sides[1].label)
	var names []string
	for _, m := range j.metrics[:gated] {
		names = append(names, m.Name)
	}
	fmt.Fprintf(w, "  decides\t%s\n", strings.Join(names, ", "))
	fmt.Fprintf(w, "  regression\tworse by at least %s, and by at least the noise floor if one is known\n", results.Rate(100*j.flags.effect)+" %")
	known := j.calibrated()
	if known == "" {
		known = "no floor known for this machine and setting: stampede calibrate measures it"
	}
	fmt.Fprintf(w, "  noise\t%s\n", known)
	if j.flags.confirm {
		fmt.Fprintf(w, "  confirms\ta regression, if there is one, by %d pairs more\n", j.flags.pairs)
	}
	w.Flush()
}

// run runs the pairs, and as many again if --confirm is given and there is a regression.
func (j *judged) run(ctx context.Context) (err error) {
	began := time.Now()
	defer func() {
		j.file.Took = time.Since(began)
		if e := j.close(); err == nil {
			err = e
		}
	}()
	j.begin()
	if err := j.open(ctx); err != nil {
		return err
	}
	j.progress.of(j.runs(), 0)
	j.file.NewFirst = j.orders(0)
	first, err := j.set(ctx, 0)
	j.take(first)
	if err != nil {
		return err
	}
	rules := changes.Rules{Paired: true, Minimum: j.flags.effect, Floor: j.floor}
	j.file.Changes = rules.Changes(j.asked(first, j.metrics))
	regressed := changes.Regressed(j.file.Changes)
	if !j.flags.confirm || len(regressed) == 0 {
		return nil
	}
	j.progress.of(j.runs(), 0)
	j.file.NewFirst = append(j.file.NewFirst, j.orders(1)...)
	again, err := j.set(ctx, 1)
	j.take(again)
	if err != nil {
		return err
	}
	j.file.Confirmation = rules.Changes(j.askedAgain(again, regressed))
	j.file.Changes = changes.Confirm(j.file.Changes, j.file.Confirmation)
	return nil
}

// begin sets the head of the result file.
func (j *judged) begin() {
	head := results.New(tool(), nil, nil, j.flags.seed)
	j.file.Schema, j.file.Kind, j.file.ID, j.file.Started = head.Schema, results.KindComparison, head.ID+"ab", head.Started
	j.file.Tool, j.file.Host, j.file.Seed, j.file.Paired, j.file.Planned = head.Tool, head.Host, head.Seed, true, j.flags.pairs
	j.file.Base.Label, j.file.New.Label = j.sides[0].label, j.sides[1].label
	j.file.Calibrated, j.file.Warnings, j.file.Changes = j.calibrated(), []results.Warning{}, []results.Change{}
	j.file.Base.Runs, j.file.New.Runs = []results.Run{}, []results.Run{}
}

// take adds the runs to the result file.
func (j *judged) take(subjects []changes.Subject) {
	for _, s := range subjects {
		j.file.Base.Runs = append(j.file.Base.Runs, s.Base...)
		j.file.New.Runs = append(j.file.New.Runs, s.New...)
	}
}

// asked returns the subjects with the metrics to compare.
func (j *judged) asked(subjects []changes.Subject, metrics []changes.Metric) []changes.Subject {
	for i := range subjects {
		subjects[i].Metrics = metrics
	}
	return subjects
}

// askedAgain returns the subjects with only those metrics that showed a regression.
func (j *judged) askedAgain(subjects []changes.Subject, regressed []results.Change) []changes.Subject {
	for i := range subjects {
		for _, c := range regressed {
			if c.Subject != subjects[i].Name {
				continue
			}
			at := slices.IndexFunc(j.metrics, func(m changes.Metric) bool {
				return m.Name == c.Figure || m.Instead != nil && m.Instead.Name == c.Figure
			})
			m := j.metrics[at]
			if m.Name != c.Figure {
				m.Figure, m.Instead = *m.Instead, nil
			}
			subjects[i].Metrics = append(subjects[i].Metrics, m)
		}
	}
	return subjects
}

// finish writes the result and returns the verdict as an error. An interrupted comparison has no
// verdict.
func (j *judged) finish(outs outputs, args []string, broken error) error {
	j.progress.clear()
	if broken != nil && !errors.Is(broken, workloads.ErrInterrupted) {
		return broken
	}
	j.file.Interrupted = broken != nil
	j.file.Command = abCommandLine("ab", args, j.flags.given, j.flags.seed)
	unlawful := append(changes.Unlawful("BASE", j.file.Base.Runs), changes.Unlawful("NEW", j.file.New.Runs)...)
	j.file.Warnings = slices.Concat(unlawful, changes.Doubted("BASE", j.file.Base.Runs), changes.Doubted("NEW", j.file.New.Runs),
		changes.Underpowered(j.file.Changes, j.file.Planned, "pairs"), []results.Warning{})
	switch {
	case broken == nil && len(unlawful) > 0:
		j.file.Verdict = results.Worst(changes.Verdict(j.file.Changes), results.Regression)
	case broken == nil:
		j.file.Verdict = changes.Verdict(j.file.Changes)
	default:
		j.file.Changes = j.undecided()
	}
	if err := outs.write(j.file, ""); err != nil {
		return err
	}
	return decided(j.file.Verdict, j.flags.inconclusive == fail)
}

// undecided returns the changes without their verdicts, since more pairs were planned.
func (j *judged) undecided() []results.Change {
	left := slices.Clone(j.file.Changes)
	for i := range left {
		left[i].Verdict, left[i].Why = "", ""
	}
	return left
}
