package main

import (
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
	"github.com/stampede-bench/stampede/results/units"
)

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
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
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
	all, err := a.inFolder(folder)
	if err != nil {
		return err
	}
	word := "removed"
	if p.dryRun {
		word = "would remove"
	}
	var gone, bytes int64
	for i, e := range all { // the newest first
		beyond := p.keep >= 0 && i >= p.keep
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
	fmt.Fprintf(a.out, "%s %s of %s, %s\n", word, units.Count(gone), cli.Counted(len(all), "result"), units.Bytes(bytes))
	return nil
}
