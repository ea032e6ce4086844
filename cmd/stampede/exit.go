package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/stampede-bench/stampede/results"
)

// Exit codes. If several apply, the first of this list is used.
const (
	exitOK         = 0
	exitUsage      = 2  // the command line cannot be meant; nothing was started
	exitError      = 1  // a run could not be done
	exitViolation  = 96 // a form broke its promise: the numbers are void
	exitThreshold  = 99 // a figure is beyond what was asked for
	exitRegression = 98 // a cost is not what the model says, or shown to be worse
	exitInvalid    = 97 // nothing was shown: measured badly, or not often enough
)

// An exitMeaning says what an exit code is for.
type exitMeaning struct{ code, meaning string }

// exitCodes are all there are, by number.
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

// A coded error has an exit code of its own.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

func usage(err error) error { return coded{err, exitUsage} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// silent is an error whose message the output has shown already.
type silent struct{ error }

func (s silent) Unwrap() error { return s.error }

// verdict is the error of a run or count that went through and found something.
func verdict(code int, text string) error { return silent{coded{errors.New(text), code}} }

// decided is the error of a verdict that the output has shown: nil of one that
// lets pass. What is inconclusive lets pass unless that is strict.
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

// An interruption is the signal that ended a run early.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string { return fmt.Sprintf("interrupted by %v", i.signal) }
