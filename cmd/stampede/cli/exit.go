package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
)

// Exit codes. If several apply, stampede uses the first in this list.
const (
	ExitOK         = 0
	ExitUsage      = 2  // invalid usage; nothing was started
	ExitError      = 1  // a run could not be done
	ExitViolation  = 96 // safety violation: the numbers are void
	ExitThreshold  = 99 // a threshold is not met
	ExitRegression = 98 // a count differs from the model, or a figure is worse
	ExitInvalid    = 97 // invalid or inconclusive: measured badly, or too few runs
)

// An ExitMeaning explains an exit code.
type ExitMeaning struct{ Code, Meaning string }

// ExitCodes returns all exit codes in numerical order.
func ExitCodes() []ExitMeaning {
	return []ExitMeaning{
		{"0", "success; an inconclusive verdict counts as success unless --inconclusive=fail"},
		{"1", "error: a service did not answer or refused a request, or a run failed"},
		{"2", "invalid usage: a flag, an argument or a named file is wrong; nothing was started"},
		{"96", "safety violation, for example two clients that held a lock at once, or a notification that is missing; the form's numbers are void"},
		{"97", "invalid: the figures of a threshold, of ab or of a history were measured badly or not at all; with --inconclusive=fail also an inconclusive verdict"},
		{"98", "regression: a count differs from the cost model, or a figure is worse than the base or than the baseline allows"},
		{"99", "a threshold is not met"},
		{"129, 130, 143", "ended by SIGHUP (a closed terminal; nohup prevents it), SIGINT or SIGTERM; the results measured until then were written"},
	}
}

// A Coded is an error with its own exit code.
type Coded struct {
	error
	code int
}

func (c Coded) Unwrap() error { return c.error }

// Usage returns the error with the exit code of invalid usage.
func Usage(err error) error { return Coded{err, ExitUsage} }

// Usagef formats an error with the exit code of invalid usage.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// An InvalidFlag is the error of an invalid value of a flag.
type InvalidFlag struct {
	Flag string // its name, without hyphens
	error
}

func (f InvalidFlag) Unwrap() error { return f.error }

// OfFlag returns the error as one of invalid usage of the flag, with the same text.
func OfFlag(name string, err error) error { return Usage(InvalidFlag{name, err}) }

// Flagf formats an error of invalid usage of a flag: "--name " and the text, which starts with the
// value or, if there is none to show, with a colon.
func Flagf(name, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if strings.HasPrefix(format, ":") {
		return OfFlag(name, fmt.Errorf("--%s%w", name, err))
	}
	return OfFlag(name, fmt.Errorf("--%s %w", name, err))
}

// A Silent is an error whose message the output has already shown.
type Silent struct{ error }

func (s Silent) Unwrap() error { return s.error }

// Shown returns the error as one whose message the output has already shown.
func Shown(err error) error { return Silent{err} }

// Finding returns the error of a run or count that completed with a finding.
func Finding(code int, text string) error { return Shown(Coded{errors.New(text), code}) }

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	var c Coded
	if errors.As(err, &c) {
		return c.code
	}
	return ExitError
}

// WithoutPath returns the error without the name of the temporary file.
func WithoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// WithoutAddress returns the cause of a network error.
func WithoutAddress(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
