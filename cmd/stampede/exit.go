package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/stampede-bench/stampede/results"
)

// Exit codes. If several apply, stampede uses the first in this list.
const (
	exitOK         = 0
	exitUsage      = 2  // invalid usage; nothing was started
	exitError      = 1  // a run could not be done
	exitViolation  = 96 // safety violation: the numbers are void
	exitThreshold  = 99 // a threshold is not met
	exitRegression = 98 // a count differs from the model, or a figure is shown to be worse
	exitInvalid    = 97 // invalid or inconclusive: measured badly, or too few runs
)

// An exitMeaning explains an exit code.
type exitMeaning struct{ code, meaning string }

// exitCodes returns all exit codes in numerical order.
func exitCodes() []exitMeaning {
	return []exitMeaning{
		{"0", "it went through and everything was as it must be"},
		{"1", "it could not be done: a service did not answer or refused, a run broke off"},
		{"2", "the command line cannot be meant, or a file that it names cannot be read; nothing was started"},
		{"96", "a form broke its promise, e.g. two clients held a lock at once: its numbers are void"},
		{"97", "nothing was shown: what a threshold or ab is about was measured badly or not at all; with --inconclusive=fail also what is not shown either way"},
		{"98", "a regression: a count is not what the cost model says, or a figure is shown to be worse, or worse than the baseline allows"},
		{"99", "a threshold is not met"},
		{"130, 143", "interrupted; what was measured until then has been written"},
	}
}

// A coded is an error with its own exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

func usage(err error) error { return coded{err, exitUsage} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// A silent is an error whose message the output has already shown.
type silent struct{ error }

func (s silent) Unwrap() error { return s.error }

// verdict returns the error of a run or count that completed with a finding.
func verdict(code int, text string) error { return silent{coded{errors.New(text), code}} }

// decided returns the error for a verdict that the output has already shown, or nil for a verdict
// that passes. An inconclusive verdict passes unless strict is set.
func decided(v results.Verdict, strict bool) error {
	switch v {
	case results.Violated:
		return verdict(exitViolation, "a form broke its promise")
	case results.Failed:
		return verdict(exitThreshold, "a threshold is not met")
	case results.Regression:
		return verdict(exitRegression, "shown to be worse")
	case results.Invalid:
		return verdict(exitInvalid, "what was measured proves nothing")
	case results.Inconclusive:
		if strict {
			return verdict(exitInvalid, "inconclusive")
		}
	}
	return nil
}

func exitCode(err error) int {
	var c coded
	if errors.As(err, &c) {
		return c.code
	}
	return exitError
}

// An interruption is the signal that ended a command early.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string { return fmt.Sprintf("interrupted by %v", i.signal) }
