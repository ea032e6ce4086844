package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/history"
)

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
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
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
	saved, err := a.savedResults(path)
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
	text, err := os.ReadFile(path)
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
	text, err := os.ReadFile(path)
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
