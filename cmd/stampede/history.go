package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/internal/argument"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/history"
	"github.com/stampede-bench/stampede/results/units"
)

// A historyFlags holds the flags of stampede history.
type historyFlags struct {
	path   string
	tags   []string
	fail   bool
	output outputs.Flags
}

func (a *app) historyCommand() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history [FIGURE...]",
		Short: "Show when figures changed, in the saved results",
		Long: `History shows, for each kind of run and each machine, when a figure changed: in a step
or in a slow drift. A figure that has noise needs five results before a change and
five after it; an exact count changes at the first result that differs. Changes of
less than 1 % are not shown. Without a FIGURE it shows throughput, the median of the
recipe's main phase, and the reads, writes and notifications per round, and of the
results of stampede count all counts, and for each path of an observation the largest
fan-out, the notifications per change and the share of wasted wake-ups. Figures are
named as in thresholds, those of counts count.notifications and so on. Results that prove
nothing about a figure are left out; if they are the newest, it cannot be judged. A change that stampede history accept accepts is shown with
its reason, and is no regression.`,
		Example: `  stampede history
  stampede history rounds_per_s acquire.p99 --fail-on-regression
  stampede history --save history.jsonl
  stampede history -o table -o svg=charts -o json=history.json`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return spec.FigureWords(figure.Table([]string{"handoff", "acquire"}, nil)), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, figures []string) error {
			return a.history(figures, f)
		},
	}
	registerHistory(cmd, &f.path)
	cmd.Flags().StringArrayVar(&f.tags, "tag", nil, "only results with a tag `NAME=VALUE`; repeatable")
	cli.Complete(cmd, "tag", func() []string { return nil })
	f.output.Register(cmd, results.KindHistory)
	cmd.Flags().BoolVar(&f.fail, "fail-on-regression", false, "exit with 98 if the newest change of a figure is for the worse, and not accepted, and with 97 if the newest results of a figure are left out or unreadable")
	cmd.AddCommand(a.historyAcceptCommand())
	return cmd
}

// registerHistory adds the flag for where the history is.
func registerHistory(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "save", spec.SavedRuns, "`PATH` of the folder of saved results, or of a file .jsonl with a result in each line")
}

func (a *app) history(figures []string, f historyFlags) error {
	tags, err := results.ParseTags(f.tags)
	if err != nil {
		return cli.Flagf("tag", "%v", err)
	}
	outs, err := f.output.Open(results.KindHistory, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	saved, newest, err := a.savedResults(f.path)
	if err != nil {
		return err
	}
	tagged := slices.DeleteFunc(slices.Clone(saved), func(e archive.Entry) bool { return !results.HeadOf(e.Result).Marks.Have(tags) })
	if len(tagged) == 0 && len(saved) > 0 {
		return cli.Flagf("tag", "%s: no result in %s has it", strings.Join(f.tags, ", "), f.path)
	}
	h, err := a.collect(tagged, figures, f.path)
	if err != nil {
		return err
	}
	if err := outs.Write(h, ""); err != nil {
		return err
	}
	switch {
	case f.fail && h.Verdict == results.Regression:
		return cli.Finding(cli.ExitRegression, "the newest change of a figure is a regression")
	case f.fail && h.Verdict == results.Invalid:
		return cli.Finding(cli.ExitInvalid, "the newest results of a figure are left out, so it is not known whether it changed")
	case f.fail && !newest:
		fmt.Fprintf(a.err, "stampede: %s: the newest result is unreadable, so it is not known whether a figure changed\n", f.path)
		return cli.Finding(cli.ExitInvalid, "the newest result is unreadable")
	}
	return nil
}

// collect returns the history of the figures in results that were saved at the path. A history without any
// value is an error: it would pass whatever happened.
func (a *app) collect(saved []archive.Entry, figures []string, path string) (h results.History, err error) {
	c := history.Collection{}
	for _, name := range figures {
		f, err := a.findFigure(name)
		if err != nil {
			return h, cli.Usage(err)
		}
		if !slices.Contains(c.Figures, f.Name) {
			c.Figures = append(c.Figures, f.Name)
		}
	}
	if c.Accepted, err = accepted(path); err != nil {
		return h, err
	}
	for _, e := range saved {
		c.Add(e.ID, e.Result)
	}
	h = c.History()
	h.Made, h.Tool = time.Now().UTC(), tool()
	switch {
	case len(h.Figures) > 0:
		return h, nil
	case len(saved) == 0:
		return h, cli.Usagef("no results in %s: stampede run and others save them there", path)
	case len(figures) == 0:
		return h, cli.Usagef("no result in %s has a figure to follow", path)
	}
	return h, cli.Usagef("no result in %s has a known value of %s", path, strings.Join(figures, ", "))
}

// findFigure returns the figure with the name, of any kind of result.
func (a *app) findFigure(name string) (figure.Figure, error) {
	f, err := figure.Parse(name, a.phases())
	if err == nil {
		return f, nil
	}
	if other, unknown := figure.Find(name, slices.Concat(figure.Counts(), figure.Paths(), figure.Observations(nil))); unknown == nil {
		return other, nil
	}
	return f, err
}

// savedResults returns the results in a folder, or in a file with a result in each line, in the order of
// their time, and whether the newest file is among them: one in a folder may be unreadable. A result that is there several
// times, by its id, counts once.
func (a *app) savedResults(path string) (all []archive.Entry, newest bool, err error) {
	if !strings.HasSuffix(path, ".jsonl") {
		return a.inOrder(archive.Folder(path))
	}
	all, err = inLines(path)
	return a.once(path, all), true, err
}

// inOrder is savedResults for a folder.
func (a *app) inOrder(folder archive.Folder) (all []archive.Entry, newest bool, err error) {
	all, newest, err = a.inFolder(folder)
	return a.once(string(folder), all), newest, err
}

// once returns the results in the order of their time, without those that are there again, and says how many these are.
func (a *app) once(path string, all []archive.Entry) (once []archive.Entry) {
	slices.SortStableFunc(all, archive.ByTime)
	for _, copies := range archive.Copies(all) {
		once = append(once, copies[0])
	}
	if repeated := len(all) - len(once); repeated > 0 {
		fmt.Fprintf(a.err, "stampede: %s: %s with the id of an earlier one left out\n", path, units.Plural(repeated, "result"))
	}
	return once
}

// inLines reads the results of a file with a result in each line. A result is named by its line if its id
// cannot name a file, or names an earlier one.
func inLines(path string) (all []archive.Entry, err error) {
	lines, err := archive.ReadLines(path)
	if err != nil {
		return nil, cli.Usage(err)
	}
	named := map[string]bool{}
	for i, v := range lines {
		id := results.HeadOf(v).ID
		if id == "" || named[id] || id != filepath.Base(id) || !filepath.IsLocal(id) {
			id = fmt.Sprintf("line-%d", i+1)
		}
		named[id] = true
		all = append(all, archive.Entry{ID: id, Result: v})
	}
	return all, nil
}

// inFolder reads the saved results, and reports whether the newest is among them.
func (a *app) inFolder(folder archive.Folder) (all []archive.Entry, newest bool, err error) {
	err = a.eachSaved(folder, func(e archive.Entry, back int) error {
		all, newest = append(all, e), newest || back == 0
		return nil
	})
	return all, newest, err
}

func (a *app) historyAcceptCommand() *cobra.Command {
	var path, reason string
	cmd := &cobra.Command{
		Use:   "accept FIGURE RESULT",
		Short: "Accept a change of a figure, with a reason",
		Long: `Accept records that a change of a figure is known and meant. History and its site show
it as accepted, with the reason, and --fail-on-regression passes it. RESULT is the id that
history shows for the change. The file is accepted.jsonl in the folder of saved results, or
beside a history in one file: to take an acceptance back, delete its line.`,
		Example: `  stampede history accept rounds_per_s 20261121-101500-lock --reason 'fsync is on now'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("stampede history accept takes two arguments, FIGURE and RESULT, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return cli.Flagf("reason", "is missing: say why the change is meant")
			}
			return a.accept(path, history.Acceptance{Figure: args[0], Result: args[1], Reason: reason, At: time.Now().UTC().Truncate(time.Second)})
		},
	}
	registerHistory(cmd, &path)
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY` the change is meant")
	cli.Complete(cmd, "reason", func() []string { return nil })
	return cmd
}

// accept records the acceptance of a change that is there.
func (a *app) accept(path string, of history.Acceptance) error {
	saved, _, err := a.savedResults(path)
	if err != nil {
		return err
	}
	h, err := a.collect(saved, []string{of.Figure}, path)
	if err != nil {
		return err
	}
	var places []string
	for _, t := range h.Figures {
		for _, c := range t.Changes {
			if from := t.Points[c.At]; from.Result != of.Result {
				places = append(places, from.Result)
				continue
			}
			if c.Reason != "" {
				return cli.Usagef("the change of %s at %s is accepted already: %s", of.Figure, of.Result, c.Reason)
			}
			if err := appendAcceptance(path, of); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "accepted: %s: %s\n", of.Figure, document.DescribeChange(t, c))
			return nil
		}
	}
	if len(places) == 0 {
		return cli.Usagef("%s has no change in %s", of.Figure, path)
	}
	return cli.Usagef("%s has no change at %q: want %s", of.Figure, of.Result, strings.Join(places, ", "))
}

// acceptedPath returns the path of the acceptances of a history.
func acceptedPath(path string) string {
	if file, is := strings.CutSuffix(path, ".jsonl"); is {
		return file + ".accepted.jsonl"
	}
	return filepath.Join(path, "accepted.jsonl")
}

// accepted returns the acceptances of a history, none if there is no file of them.
func accepted(path string) ([]history.Acceptance, error) {
	path = acceptedPath(path)
	text, err := argument.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cli.Usage(err)
	}
	all, err := history.ReadAccepted(bytes.NewReader(text))
	if err != nil {
		return nil, cli.Usagef("%s: %w", path, err)
	}
	return all, nil
}

func appendAcceptance(path string, of history.Acceptance) error {
	path = acceptedPath(path)
	text, err := argument.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.Usage(err)
	}
	line, err := json.Marshal(of)
	if err != nil {
		return err
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	if err := archive.Replace(path, append(append(text, line...), '\n')); err != nil {
		return cli.Usagef("%s: cannot be written: %v", path, cli.WithoutPath(err))
	}
	return nil
}
