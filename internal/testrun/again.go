package main

import (
	"fmt"
	"slices"
	"strings"
)

// A failure is a test that failed, with its subtests.
type failure struct {
	pkg, test string // test has no subtest in its name
	count     int    // of the test and the subtests that failed
	final     bool   // it is not run again: it met a data race, or the process ended before its tests
}

// mostAgain is the number of failed tests up to which they are run again. More of them have a cause in the code.
const mostAgain = 10

// fail records a test or subtest that failed.
func (r *report) fail(e event, output []string) {
	r.failed++
	name, _, _ := strings.Cut(e.Test, "/")
	at := slices.IndexFunc(r.failures, func(f *failure) bool { return f.pkg == e.Package && f.test == name })
	if at < 0 {
		at = len(r.failures)
		r.failures = append(r.failures, &failure{pkg: e.Package, test: name})
	}
	f := r.failures[at]
	f.count++
	f.final = f.final || slices.ContainsFunc(output, func(line string) bool {
		return strings.Contains(line, "DATA RACE") || strings.Contains(line, "race detected")
	})
}

// endedEarly fails a package as a whole, by a panic for instance: some of its tests were not run.
func (r *report) endedEarly(pkg string) {
	r.failed++
	for _, f := range r.failures {
		f.final = f.final || f.pkg == pkg
	}
}

// repeatable returns the failed tests that are to be run again.
func (r *report) repeatable() (again []*failure) {
	if len(r.failures) > mostAgain {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.failures), func(f *failure) bool { return f.final })
}

// command returns the arguments by which go test runs the test alone, with the flags of the whole run.
func (f *failure) command(args []string) (alone []string) {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			alone = append(alone, arg)
		}
	}
	return append(alone, "-count=1", "-p=1", "-parallel=1", "-run=^"+f.test+"$", f.pkg)
}

// passedAlone takes a failed test for one that passed, and says so.
func (r *report) passedAlone(f *failure) {
	r.failed -= f.count
	r.passed += f.count
	r.flaky++
	fmt.Fprintf(r.out, "FLAKY %s %s: it failed beside other tests, and passed alone\n", short(f.pkg), f.test)
}
