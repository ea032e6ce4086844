package main

import (
	"context"
	"fmt"
	"io"
	"syscall"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/workloads"
)

// verdictError returns the error for a verdict on the runs, which the output has already shown, or nil for
// a verdict that passes. An inconclusive verdict passes unless strict is set.
func verdictError(v results.Verdict, runs []results.Run, strict bool) error {
	switch v {
	case results.Fail:
		if results.Unsafe(runs) {
			return cli.Finding(cli.ExitViolation, "safety violation")
		}
		return cli.Finding(cli.ExitThreshold, "a threshold is not met")
	case results.Regression:
		return cli.Finding(cli.ExitRegression, "regression")
	case results.Invalid:
		return cli.Finding(cli.ExitInvalid, "invalid")
	case results.Inconclusive:
		if strict {
			return cli.Finding(cli.ExitInvalid, "inconclusive")
		}
	}
	return nil
}

// An interruption is the signal that ended a command early.
type interruption struct{ signal syscall.Signal }

// exitCode returns the exit code of a command that the signal ends, as shells say it.
func (i interruption) exitCode() int { return 128 + int(i.signal) }

// conclude returns the error for a file that was judged and written. If no table went to standard
// output, it prints a verdict other than pass on a line of its own.
func (a *app) conclude(d spec.Checks, f results.File, outs outputs.List) error {
	if f.Verdict == "" {
		return verdictOn(f.Runs)
	}
	if f.Verdict != results.Pass && !outs.HasTable() {
		fmt.Fprintf(a.err, "stampede: %s\n", document.New(f).Decision())
	}
	return verdictError(f.Verdict, f.Runs, d.Strict)
}

// verdictOn returns the error for runs that completed with a finding although no checks were
// requested.
func verdictOn(runs []results.Run) error { return verdictError(gate.Found(runs), runs, false) }

// interrupted returns workloads.ErrInterrupted instead of err if the context has ended.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return workloads.ErrInterrupted
	}
	return err
}

func (i interruption) Error() string { return fmt.Sprintf("interrupted by %v", i.signal) }

// offer offers the report of a result on the page where the runs were watched.
func (a *app) offer(r results.Result) {
	if a.page != nil {
		a.page.Offer(results.HeadOf(r).ID+".html", func(w io.Writer) error { return render.WriteHTML(w, r, render.Options{}) })
	}
}

// saveAndWrite saves the result and writes it to the outputs. A result that cannot be saved is
// still written, and a warning says why it is not saved.
func (a *app) saveAndWrite(s *spec.Saving, outs outputs.List, r results.Result) error {
	saved, unsaved := s.Keep(r)
	a.offer(r)
	if err := outs.Write(r, saved); err != nil {
		return err
	}
	if unsaved != nil {
		fmt.Fprintf(a.err, "stampede: warning: %v\n", unsaved)
	}
	return nil
}
