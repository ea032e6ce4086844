package spec

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results/levels"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/noise"
)

// A Judging holds the flags by which runs are judged.
type Judging struct {
	Thresholds   []string
	abortOn      []string
	baseline     string
	noise        string // the file of this machine's noise floors
	inconclusive string
}

// The choices for an inconclusive verdict.
const (
	Warn = "warn"
	Fail = "fail"
)

// Outcomes returns the values of --inconclusive.
func Outcomes() []string { return []string{Warn, Fail} }

func (g *Judging) register(cmd *cobra.Command) {
	g.RegisterJudging(cmd)
	cmd.Flags().StringArrayVar(&g.abortOn, "abort-on", nil, "stop the command as soon as a `CONDITION` is true, such as errors>100; repeatable")
	cli.Complete(cmd, "abort-on", ofEveryRun)
}

// RegisterJudging adds the flags that judge finished runs.
func (g *Judging) RegisterJudging(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&g.Thresholds, "threshold", nil, "`CONDITION` that runs must meet: [RUN.]METRIC<LIMIT, such as lock.handoff.p99<5ms; repeatable; see stampede help thresholds")
	flags.StringVar(&g.baseline, "baseline", "", "`FILE` of an earlier result to compare with; stampede baseline update writes one")
	RegisterNoise(flags, &g.noise)
	flags.StringVar(&g.inconclusive, "inconclusive", Warn, "what an inconclusive verdict does: warn, or fail with exit code 97")
	cli.Complete(cmd, "threshold", ofEveryRun)
	cli.Complete(cmd, "inconclusive", Outcomes)
}

// RegisterNoise adds the flag for the file of calibrations.
func RegisterNoise(flags *pflag.FlagSet, file *string) {
	flags.StringVar(file, "noise", SavedNoise, "`FILE` of the noise floors that stampede calibrate measured")
}

// ofEveryRun completes the figures that runs of every kind have.
func ofEveryRun() []string { return FigureWords(figure.All(nil)) }

// FigureWords returns the figures as words to complete.
func FigureWords(all []figure.Figure) (words []string) {
	for _, f := range all {
		words = append(words, f.Name+"\t"+f.About)
	}
	return words
}

// A Checks holds the checks for the runs of one command.
type Checks struct {
	Thresholds []gate.Threshold
	Aborts     []gate.Threshold // end the command as soon as one is not met
	baseline   *results.File
	whole      bool          // all that the baseline has must be there
	floors     []noise.Floor // of this machine, if there is a baseline
	Strict     bool          // an inconclusive verdict does not pass
}

// Resolve checks everything that can be checked before anything is started. The rows are the
// planned runs. The written thresholds, which come from a scenario file, apply if no flag gives
// any.
func (g *Judging) Resolve(rows []gate.Row, written []gate.Threshold) (d Checks, err error) {
	if !slices.Contains(Outcomes(), g.inconclusive) {
		return d, cli.Flagf("inconclusive", ": %w", suggest.Unknown("choice", g.inconclusive, Outcomes()))
	}
	d.Strict, d.Thresholds = g.inconclusive == Fail, written
	if len(g.Thresholds) > 0 {
		d.Thresholds = nil
	}
	for _, text := range g.Thresholds {
		t, err := gate.Parse(text, "", rows)
		if err != nil {
			return d, cli.Flagf("threshold", "%w", err)
		}
		d.Thresholds = append(d.Thresholds, t)
	}
	for _, text := range g.abortOn {
		t, err := Abort(text, rows)
		if err != nil {
			return d, cli.Flagf("abort-on", "%w", err)
		}
		d.Aborts = append(d.Aborts, t)
	}
	return d, d.takeBaseline(g, rows)
}

// Abort returns the threshold that fails when the condition of --abort-on comes true. It refuses a condition that no
// run in progress can show.
func Abort(condition string, rows []gate.Row) (gate.Threshold, error) {
	t, err := gate.Parse(condition, "", rows)
	if err != nil {
		return t, err
	}
	if !t.IsAbsolute() {
		return t, fmt.Errorf("%q: a run in progress has nothing to compare with: want a value, such as errors>100", condition)
	}
	if !t.IsLive(rows) {
		return t, fmt.Errorf("%q: a run has %s only when it has ended: want a figure of the window, such as errors>100; --threshold judges the run", condition, t.Figure())
	}
	return t.Opposite()
}

// CheckFollowed refuses conditions that cannot be seen where agents have the clients: while a run is in progress they
// tell of errors and of the response times of one phase.
func (d Checks) CheckFollowed(f *Flags, jobs []Job) error {
	for _, t := range d.Aborts {
		for _, j := range jobs {
			for _, form := range j.Chosen {
				first := j.Flags.draft(form.Form, 1).FollowedPhase()
				seen := strings.HasPrefix(t.Figure(), first+".response.p")
				if f.Agents.Count > 0 && t.Figure() != "errors" && !seen {
					return cli.Flagf("abort-on", "%s cannot be seen while agents have the clients: want errors, or a percentile of %s.response", t.Figure(), first)
				}
			}
		}
	}
	return nil
}

// takeBaseline reads the baseline, and applies the default thresholds if none are given.
func (d *Checks) takeBaseline(g *Judging, rows []gate.Row) error {
	path := g.baseline
	needed := slices.IndexFunc(d.Thresholds, gate.Threshold.NeedsBaseline)
	if path == "" {
		if needed >= 0 {
			return cli.Usagef("threshold %q: it refers to a baseline: name one with --baseline FILE", d.Thresholds[needed].Text)
		}
		return nil
	}
	base, err := ReadBaseline(path)
	if err != nil {
		return err
	}
	d.baseline, d.whole = &base, len(g.Thresholds) == 0
	if err := CheckNoise(g.noise); err != nil {
		return err
	}
	if d.floors, err = noise.File(g.noise).FloorsOf(results.ThisHost()); err != nil {
		return cli.Usage(err)
	}
	if needed < 0 {
		usual := gate.Defaults(rows, base)
		if len(usual) == 0 {
			return cli.Flagf("baseline", "%s: it has none of the runs that are judged: it has %s", path, levels.Contents(base))
		}
		d.Thresholds = append(d.Thresholds, usual...)
	}
	return nil
}

// ReadBaseline reads the baseline from a file.
func ReadBaseline(path string) (results.File, error) {
	if _, err := os.Stat(path); err != nil {
		return results.File{}, cli.Flagf("baseline", "%s: %v: stampede baseline update writes one", path, cli.WithoutPath(err))
	}
	f, err := archive.Read(path)
	if err != nil {
		return f, cli.Flagf("baseline", "%w", err)
	}
	return f, nil
}

// Judge writes the gates and the verdict into the file, if there are any checks. The settled gates
// fired while a run was in progress; they replace the judgement of the whole run.
func (d Checks) Judge(f *results.File, settled []results.Gate) {
	all := slices.Concat(d.Thresholds, d.Aborts)
	if len(all)+len(settled) == 0 {
		return
	}
	f.Gates, _ = gate.Judge(*f, all, d.baseline)
	gate.Excuse(f.Gates, f.Runs, d.noise)
	if d.whole {
		f.Gates = append(f.Gates, gate.Missing(f.Runs, *d.baseline)...)
	}
	for _, g := range settled {
		f.Gates = slices.DeleteFunc(f.Gates, func(other results.Gate) bool { return other.Text == g.Text && other.Run == g.Run })
		f.Gates = append(f.Gates, g)
	}
	f.Verdict = gate.Verdict(f.Gates, f.Runs)
}

// noise returns the noise of a run's figure from the newest calibration of the same setting.
func (d Checks) noise(r results.Run, figure string) (share float64, known string) {
	for _, f := range slices.Backward(d.floors) {
		if f.Of.Like(r.Sample()) {
			return noise.OfPair(f.Ratios[figure]), fmt.Sprintf("%d A/A pairs, %s old", f.Pairs, cli.Age(time.Since(f.Started)))
		}
	}
	return 0, ""
}

// CheckNoise returns an error if a file of calibrations that was named is not there. There may be none at the default place.
func CheckNoise(file string) error {
	if file == SavedNoise {
		return nil
	}
	if _, err := os.Stat(file); err != nil {
		return cli.Flagf("noise", "%s: %w", file, cli.WithoutPath(err))
	}
	return nil
}

// SavedNoise is the default file for calibrations.
const SavedNoise = ".stampede/noise.json"
