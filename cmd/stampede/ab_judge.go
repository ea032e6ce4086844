package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/noise"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents"
)

// A comparison is the state of one stampede ab.
type comparison struct {
	*pairedRuns
	flags   abFlags
	metrics []compare.Figure
	looks   []int                  // the pairs after which they are judged; only the last is certain to come
	floors  map[string]noise.Floor // by subject; a subject without a calibration has none
	file    results.Comparison
}

// findNoise looks up the noise floors of this machine.
func (j *comparison) findNoise() error {
	j.floors = map[string]noise.Floor{}
	if j.flags.Agents.Count > 0 {
		return nil // calibrate measures runs of one process
	}
	for level := range j.levels() {
		floor, known, err := noise.File(j.flags.noise).Find(results.ThisHost(), j.variants[0].setting(level))
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
func (j *comparison) floor(subject, figure string) float64 {
	return j.floors[subject].Share(figure, j.flags.pairs)
}

// calibrated says which noise floors are used. It returns "" if none is known.
func (j *comparison) calibrated() string {
	var words []string
	for level := range j.levels() {
		if f, known := j.floors[j.subject(level)]; known {
			words = append(words, strings.TrimPrefix(fmt.Sprintf("%s, floor of %d A/A pairs, %s old", j.subject(level), f.Pairs, cli.Age(time.Since(f.Started))), ", "))
		}
	}
	return strings.Join(words, "; ")
}

// announce prints, before the first run, what ab will do and by which rules it decides.
func (j *comparison) announce(gated int) {
	if j.flags.Quiet {
		return
	}
	j.describeServices(j.err, (*spec.Selection).Announce)
	fmt.Fprint(j.err, "stampede: ")
	j.writeRules(j.err, gated)
}

// writeRules prints the number of pairs and the rules by which ab decides.
func (j *comparison) writeRules(w io.Writer, gated int) {
	most := ""
	if j.flags.untilSure {
		most = "at most "
	}
	fmt.Fprintf(w, "%s%d interleaved pairs, %d runs%s\n", most, j.flags.pairs, j.runs(), j.takes())
	var names []string
	for _, m := range j.metrics[:gated] {
		name := m.Name
		if m.Instead != nil {
			name += fmt.Sprintf(" (%s if observations are too few)", m.Instead.Name)
		}
		names = append(names, name)
	}
	known := j.calibrated()
	switch {
	case j.flags.Agents.Count > 0:
		known = "no noise floor: stampede calibrate measures that of runs of one process"
	case known == "":
		known = "no noise floor known for this machine and setting: stampede calibrate measures it"
	}
	rows := [][]string{
		{"base", j.variants[0].label}, {"candidate", j.variants[1].label},
		{"decides", strings.Join(names, ", ")},
		{"regression", fmt.Sprintf("worse by at least %s %%, and by at least the noise floor if one is known", units.Rate(100*j.flags.effect))},
		{"noise", known},
	}
	if j.flags.untilSure {
		rows = append(rows, []string{"judged", fmt.Sprintf("after %s pairs, and ended when the verdict is certain%s", units.Numbers(j.looks), j.orEarlier())})
	}
	if j.flags.confirm {
		rows = append(rows, []string{"confirms", fmt.Sprintf("a regression by %d further pairs", j.flags.pairs)})
	}
	_ = render.WriteColumns(w, "  ", rows) // nobody may be reading standard error
}

// run runs the pairs, and as many again if --confirm is given and there is a regression.
func (j *comparison) run(ctx context.Context) (err error) {
	began := time.Now()
	defer func() {
		j.file.Took = time.Since(began)
		err = cmp.Or(err, j.close())
	}()
	j.begin()
	if err := j.open(ctx); err != nil {
		return err
	}
	j.course.begin(j.work(), 0)
	if err := j.judge(ctx); err != nil {
		return err
	}
	regressed := compare.Regressed(j.file.Changes)
	if !j.flags.confirm || len(regressed) == 0 {
		return nil
	}
	j.course.begin(j.work(), 0)
	j.file.NewFirst = append(j.file.NewFirst, j.orders(1)...)
	again, err := j.set(ctx, 1)
	j.take(again)
	if err != nil {
		return err
	}
	j.file.Confirmation = j.rules().Changes(j.askedAgain(again, regressed))
	j.file.Changes = compare.Confirm(j.file.Changes, j.file.Confirmation)
	return nil
}

// begin sets the head of the result file.
func (j *comparison) begin() {
	j.file.Head = results.NewHead(results.KindComparison, tool(), nil, []string{"ab"}, j.flags.Seed)
	j.file.Marks = j.flags.Saving.Marks()
	j.file.Paired, j.file.Planned = true, j.flags.pairs
	apart := j.variants[0].sharedBy() != j.variants[1].sharedBy()
	for i, v := range [...]*results.Variant{&j.file.Base, &j.file.New} {
		s := j.variants[i]
		v.Label, v.StartedOnce = s.label, apart && !s.source.Given && s.binary == ""
	}
	if j.flags.untilSure {
		j.file.UntilSure = &results.UntilSure{Looks: j.looks}
	}
	j.file.Calibrated, j.file.Warnings, j.file.Changes = j.calibrated(), []results.Warning{}, []results.Change{}
	j.file.Base.Runs, j.file.New.Runs = []results.Run{}, []results.Run{}
}

// take adds the runs to the result file.
func (j *comparison) take(subjects []compare.Subject) {
	for _, s := range subjects {
		j.file.Base.Runs = append(j.file.Base.Runs, s.Base...)
		j.file.New.Runs = append(j.file.New.Runs, s.New...)
	}
}

// withMetrics returns the subjects with the metrics to compare.
func (j *comparison) withMetrics(subjects []compare.Subject, metrics []compare.Figure) []compare.Subject {
	for i := range subjects {
		subjects[i].Figures = metrics
	}
	return subjects
}

// askedAgain returns the subjects with only those metrics that showed a regression.
func (j *comparison) askedAgain(subjects []compare.Subject, regressed []results.Change) []compare.Subject {
	for i := range subjects {
		for _, c := range regressed {
			if c.Subject != subjects[i].Name {
				continue
			}
			at := slices.IndexFunc(j.metrics, func(m compare.Figure) bool {
				return m.Name == c.Figure || m.Instead != nil && m.Instead.Name == c.Figure
			})
			m := j.metrics[at]
			if m.Name != c.Figure {
				m.Figure, m.Instead = *m.Instead, nil
			}
			subjects[i].Figures = append(subjects[i].Figures, m)
		}
	}
	return subjects
}

// finish writes the result and returns the verdict as an error. An interrupted comparison has no
// verdict.
func (j *comparison) finish(outs outputs.List, args []string, broken error) error {
	j.progress.clear()
	lost := errors.Is(broken, agents.ErrAgentLost) && len(j.file.Base.Runs) > 0
	if broken != nil && !errors.Is(broken, workloads.ErrInterrupted) && !lost {
		return broken
	}
	j.file.Interrupted = broken != nil
	j.file.Command = spec.PairCommand("ab", args, j.flags.given, j.flags.Seed)
	unlawful := append(compare.BrokenIdentities("BASE", j.file.Base.Runs), compare.BrokenIdentities("NEW", j.file.New.Runs)...)
	j.file.Warnings = slices.Concat(unlawful, compare.Doubted("BASE", j.file.Base.Runs), compare.Doubted("NEW", j.file.New.Runs), j.underpowered(), []results.Warning{})
	switch {
	case broken == nil && len(unlawful) > 0:
		j.file.Verdict = results.Worst(compare.Verdict(j.file.Changes), results.Regression)
	case broken == nil:
		j.file.Verdict = compare.Verdict(j.file.Changes)
	default:
		j.file.Changes = j.undecided()
	}
	if err := j.saveAndWrite(&j.flags.Saving, outs, j.file); err != nil {
		return err
	}
	if lost { // the pairs before the loss have been written
		return broken
	}
	return verdictError(j.file.Verdict, j.file.Runs(), j.flags.inconclusive == spec.Fail)
}

// underpowered warns about figures for which the pairs are too few. A sequential comparison that was
// decided needs no more of them.
func (j *comparison) underpowered() []results.Warning {
	if u := j.file.UntilSure; u != nil && u.Ended == results.EndedDecided {
		return nil
	}
	return compare.Underpowered(j.file.Changes, len(j.file.Base.Runs)/max(j.levels(), 1))
}

// undecided returns the changes without their verdicts, since more pairs were planned.
func (j *comparison) undecided() []results.Change {
	left := slices.Clone(j.file.Changes)
	for i := range left {
		left[i].Verdict, left[i].Why = "", ""
	}
	return left
}

// defaultMostPairs is the most pairs of a sequential comparison. It detects an increase of 10 % more
// often than the default number of pairs does, and on average after fewer of them.
const defaultMostPairs = 40

// checkLooks checks the flags of a sequential comparison, and sets its number of pairs if it was not given.
func (f *abFlags) checkLooks(pairsGiven bool) error {
	switch {
	case !f.untilSure && f.maxTime != 0:
		return cli.Flagf("max-time", "has no effect without --until-sure")
	case !f.untilSure:
		return nil
	case f.maxTime < 0:
		return cli.Flagf("max-time", "%v: must be more than 0", f.maxTime)
	case f.confirm:
		return cli.Usagef("--confirm and --until-sure: give one of them, since --confirm repeats a fixed number of pairs")
	}
	if !pairsGiven {
		f.pairs = defaultMostPairs
	}
	return nil
}

// planned returns the numbers of pairs after which the figures are judged.
func (f *abFlags) planned(figures int) ([]int, error) {
	if !f.untilSure {
		return []int{f.pairs}, f.enough(figures)
	}
	looks, least := stats.Looks(f.pairs, figures), f.pairs
	if looks != nil {
		return looks, nil
	}
	for stats.Looks(least, figures) == nil {
		least++
	}
	return nil, cli.Flagf("pairs", "%d: --until-sure with %s judged together needs at least %d pairs to judge twice",
		f.pairs, cli.Counted(figures, "figure"), least)
}

func (j *comparison) rules() compare.Rules {
	r := compare.Rules{Paired: true, Minimum: j.flags.effect, Floor: j.floor}
	if j.flags.untilSure {
		r.Looks = j.looks
	}
	return r
}

// judge runs pairs and judges them after each look, until the verdict is decided, all pairs are run, or
// the time limit is reached.
func (j *comparison) judge(ctx context.Context) error {
	subjects, deadline := j.subjects(), j.deadline()
	defer func() {
		j.take(subjects)
		j.file.NewFirst = j.orders(0)[:len(j.file.Base.Runs)]
	}()
	for _, look := range j.looks {
		if err := j.extend(ctx, 0, subjects, look, deadline); err != nil {
			j.file.Changes = []results.Change{} // those of the look before are of fewer pairs
			return err
		}
		j.file.Changes = j.rules().Judge(j.withMetrics(subjects, j.metrics))
		if j.flags.untilSure {
			j.file.UntilSure.Ended = ended(j.file.Changes, len(subjects[0].Base), look, j.flags.pairs)
			if j.file.UntilSure.Ended != "" {
				break
			}
		}
	}
	j.file.Changes = j.rules().Changes(subjects)
	return nil
}

// ended returns why a sequential comparison ends after a look, "" if it continues.
func ended(changes []results.Change, pairs, look, most int) results.Ended {
	switch {
	case compare.Decided(changes):
		return results.EndedDecided
	case pairs < look:
		return results.EndedTime
	case pairs == most:
		return results.EndedPairs
	}
	return ""
}

// deadline returns when the last pair may begin, zero if there is no limit.
func (j *comparison) deadline() time.Time {
	if j.flags.maxTime == 0 {
		return time.Time{}
	}
	return time.Now().Add(j.flags.maxTime)
}

// orEarlier says what the time limit does. It returns "" if there is none.
func (j *comparison) orEarlier() string {
	if j.flags.maxTime == 0 {
		return ""
	}
	return fmt.Sprintf(", or after %v", j.flags.maxTime)
}
