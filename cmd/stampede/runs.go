package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

func (a *app) runsCommand() *cobra.Command {
	var folder string
	var only runFilter
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the saved results, the newest first",
		Long: `Runs lists the results that stampede run, sweep, count, ab and observe saved, the newest
first, each with its id, start, size, settings and finding. Other commands take an id,
the unambiguous beginning of one, @ for the last result, @-1 for the one before it, and
so on.`,
		Example: `  stampede runs
  stampede runs --kind observation --since 7d
  stampede runs --tag branch=main`,
		Args: cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.listRuns(archive.Folder(folder), only)
		},
	}
	spec.RegisterFolder(cmd, &folder)
	only.register(cmd)
	cmd.AddCommand(a.runsExportCommand(), a.runsPruneCommand())
	return cmd
}

func (a *app) listRuns(folder archive.Folder, only runFilter) error {
	admits, err := only.admits()
	if err != nil {
		return err
	}
	any := false
	err = a.eachSaved(folder, func(e archive.Entry, back int) error {
		any = true
		if !admits(e.Result) {
			return nil
		}
		return a.listRun(folder.Path(e.ID), e, back)
	})
	if err == nil && !any {
		fmt.Fprintf(a.err, "stampede: no result is saved in %s\n", folder)
	}
	return err
}

// eachSaved calls f with each saved result and how many of the folder are newer, the newest first. A file that
// cannot be read does not hide the others; it is an error if none can be read.
func (a *app) eachSaved(folder archive.Folder, f func(e archive.Entry, back int) error) error {
	ids, err := folder.IDs()
	if err != nil {
		return cli.Usage(err)
	}
	unreadable := 0
	for back, id := range ids {
		v, err := archive.ReadAny(folder.Path(id))
		if err != nil {
			fmt.Fprintf(a.err, "stampede: %v\n", err)
			unreadable++
			continue
		}
		if err := f(archive.Entry{ID: id, Result: v}, back); err != nil {
			return err
		}
	}
	switch {
	case unreadable == 0:
		return nil
	case unreadable == len(ids):
		return cli.Usagef("%s: no result can be read: %d of %d unreadable", folder, unreadable, len(ids))
	}
	fmt.Fprintf(a.err, "stampede: %s: %d of %d results unreadable\n", folder, unreadable, len(ids))
	return nil
}

// listRun prints a line for a saved result; back is how many results before the last one it is.
func (a *app) listRun(path string, e archive.Entry, back int) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	v := e.Result
	name := archive.Last
	if back > 0 {
		name = fmt.Sprintf("%s-%d", archive.Last, back)
	}
	d := document.New(v)
	when := d.Started.Local().Format("2006-01-02 15:04")
	if d.Interrupted != "" {
		when += " · interrupted"
	}
	if d.Verdict != "" {
		when += " · " + string(d.Verdict)
	}
	for _, word := range results.HeadOf(v).Marks.Words() {
		when += " · " + word
	}
	_, err = fmt.Fprintf(a.out, "%-4s %s · %s · %s\n     %s\n     %s\n", name, e.ID, when, units.Bytes(info.Size()), contentsOf(v, d), d.Headline())
	return err
}

// contentsOf says in a few words what a saved result has.
func contentsOf(v results.Result, d document.Document) string {
	switch v := v.(type) {
	case results.File:
		return levels.Contents(v)
	case results.Sweep:
		return "sweep · " + levels.Contents(v.File)
	case results.Comparison:
		return "comparison · " + v.Base.Label + " → " + v.New.Label
	}
	return strings.TrimPrefix(d.Heading, "stampede ")
}

func (a *app) runsExportCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Write all saved results to one file, a line of JSON for each, the oldest first",
		Long: `Export writes all saved results to one file, a line of JSON for each, the oldest first.
stampede history reads such a file. It overwrites FILE.`,
		Example: `  stampede runs export history.jsonl && stampede history --save history.jsonl`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.exportRuns(archive.Folder(folder), args[0])
		},
	}
	spec.RegisterFolder(cmd, &folder)
	return cmd
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("stampede runs export takes one argument, FILE, got %d", len(args))
	}
	return nil
}

func (a *app) exportRuns(folder archive.Folder, path string) error {
	all, _, err := a.inOrder(folder)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, v := range all {
		if err := archive.WriteLine(&text, v.Result); err != nil {
			return err
		}
	}
	if err := archive.Replace(path, text.Bytes()); err != nil {
		return cli.Usagef("%s: cannot be written: %v", path, cli.WithoutPath(err))
	}
	fmt.Fprintf(a.out, "%s has %s, %s\n", path, cli.Counted(len(all), "result"), units.Bytes(int64(text.Len())))
	return nil
}

// A runFilter says which saved results are meant.
type runFilter struct {
	kind    string
	age     string // the greatest age
	subject string
	tags    []string
}

func (f *runFilter) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.kind, "kind", "", "only results of a `KIND`: "+strings.Join(results.Kinds(), ", "))
	cmd.Flags().StringVar(&f.age, "since", "", "only results that are not older than an `AGE` such as 36h or 30d")
	cmd.Flags().StringVar(&f.subject, "subject", "", "only results of the `NAME` that --subject gave them")
	cmd.Flags().StringArrayVar(&f.tags, "tag", nil, "only results with a tag `NAME=VALUE`; repeatable")
	cli.Complete(cmd, "kind", results.Kinds)
	for _, name := range []string{"since", "subject", "tag"} {
		cli.Complete(cmd, name, func() []string { return nil })
	}
}

// admits returns a function that reports whether a result is meant.
func (f *runFilter) admits() (func(results.Result) bool, error) {
	if f.kind != "" && !slices.Contains(results.Kinds(), f.kind) {
		return nil, cli.Usage(suggest.Unknown("choice for --kind", f.kind, results.Kinds()))
	}
	var since time.Time
	if f.age != "" {
		age, err := parseAge("since", f.age)
		if err != nil {
			return nil, err
		}
		since = time.Now().Add(-age)
	}
	tags, err := results.ParseTags(f.tags)
	if err != nil {
		return nil, cli.Flagf("tag", "%v", err)
	}
	return func(r results.Result) bool {
		marks := results.HeadOf(r).Marks
		return (f.kind == "" || results.KindOf(r) == f.kind) && !results.HeadOf(r).Started.Before(since) &&
			(f.subject == "" || marks.Subject == f.subject) && marks.Have(tags)
	}, nil
}

// parseAge parses an age in the words of Go's durations, or in days: "36h", "30d".
func parseAge(flag, text string) (time.Duration, error) {
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, cli.Flagf(flag, "%q: want an age such as 36h or 30d", text)
	}
	return age, nil
}

// A pruning says which saved results are removed.
type pruning struct {
	folder string
	keep   int // how many of the newest are kept; -1 if any number is
	age    string
	dryRun bool
}

func (a *app) runsPruneCommand() *cobra.Command {
	var p pruning
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old saved results",
		Long: `Prune removes saved results: all but the newest --keep, those that are --older-than an
age, or with both flags those that either removes. It prints what it removes, and
removes nothing that is no result. Baselines, calibrations and acceptances stay.`,
		Example: `  stampede runs prune --keep 200
  stampede runs prune --older-than 90d --dry-run`,
		Args: cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("keep") {
				p.keep = -1
			} else if p.keep < 0 {
				return cli.Flagf("keep", "%d: must be 0 or more", p.keep)
			}
			return a.prune(p)
		},
	}
	spec.RegisterFolder(cmd, &p.folder)
	cmd.Flags().IntVar(&p.keep, "keep", 0, "keep the newest `N` results")
	cmd.Flags().StringVar(&p.age, "older-than", "", "remove results of a greater `AGE` than, for example, 36h or 90d")
	cmd.Flags().BoolVar(&p.dryRun, "dry-run", false, "print what would be removed, and remove nothing")
	for _, name := range []string{"keep", "older-than"} {
		cli.Complete(cmd, name, func() []string { return nil })
	}
	return cmd
}

func (a *app) prune(p pruning) error {
	if p.keep < 0 && p.age == "" {
		return cli.Usagef("stampede runs prune: say what to remove, with --keep or with --older-than")
	}
	var before time.Time
	if p.age != "" {
		age, err := parseAge("older-than", p.age)
		if err != nil {
			return err
		}
		before = time.Now().Add(-age)
	}
	folder := archive.Folder(p.folder)
	all, _, err := a.inFolder(folder)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(x, y archive.Entry) int { return archive.ByTime(y, x) }) // whatever their files are called
	word := "removed"
	if p.dryRun {
		word = "would remove"
	}
	var gone, bytes int64
	for newer, copies := range archive.Copies(all) {
		for _, e := range copies {
			beyond := p.keep >= 0 && newer >= p.keep
			if !beyond && !results.HeadOf(e.Result).Started.Before(before) {
				continue
			}
			path := folder.Path(e.ID)
			info, err := os.Stat(path)
			if err == nil && !p.dryRun {
				err = os.Remove(path)
			}
			if err != nil {
				return fmt.Errorf("%s: cannot be removed: %w", path, cli.WithoutPath(err))
			}
			gone, bytes = gone+1, bytes+info.Size()
			fmt.Fprintf(a.out, "%s %s, %s\n", word, e.ID, units.Bytes(info.Size()))
		}
	}
	fmt.Fprintf(a.out, "%s %s of %s, %s\n", word, units.Count(gone), cli.Counted(len(all), "result"), units.Bytes(bytes))
	return nil
}
