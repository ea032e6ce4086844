package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A failure is a test that failed, with its subtests.
type failure struct {
	pkg, test string // test has no subtest in its name; it is empty for a package whose process ended early
	message   string // the first line of what it said
	count     int    // of the test and the subtests that failed
	final     bool   // it is not run again: it met a data race of this module, or the process ended before its tests
	flaky     bool   // it passed alone
}

// String names the test, with its message.
func (f *failure) String() string {
	name := strings.TrimSpace(short(f.pkg) + " " + f.test)
	if f.message == "" {
		return name
	}
	return name + ": " + f.message
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
	f.message = cmp.Or(f.message, first(output))
	f.final = f.final || raced(output)
}

// raced reports whether the output tells of a data race, unless it shows that both accesses are in a library's own code: the
// test is not what is to be mended then.
func raced(output []string) bool {
	told, accesses, theirs := false, 0, 0
	for i, line := range output {
		told = told || strings.Contains(line, "DATA RACE") || strings.Contains(line, "race detected")
		if !access.MatchString(line) || i+1 == len(output) {
			continue
		}
		accesses++
		if at := strings.TrimSpace(output[i+1]); library.MatchString(at) && !strings.HasPrefix(at, module) {
			theirs++
		}
	}
	return told && (accesses == 0 || theirs < accesses)
}

var (
	access  = regexp.MustCompile(`^(Read|Write|Previous (read|write)) at 0x`)
	library = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+/`) // a path that begins with a host, as no package of Go's own does
)

// endedEarly fails a package as a whole, by a panic for instance: some of its tests were not run.
func (r *report) endedEarly(pkg string, output []string) {
	r.failed++
	r.failures = append(r.failures, &failure{pkg: pkg, message: first(output), count: 1})
	for _, f := range r.failures {
		f.final = f.final || f.pkg == pkg
	}
}

// first returns the first line that a test or a package printed itself, without the place in the source. A script
// prints its log first, and at its end which command failed; a test may log before it panics or its time is over.
func first(output []string) string {
	lines := said(output)
	for _, line := range lines {
		if why, ok := strings.CutPrefix(strings.TrimSpace(line), "FAIL: "); ok {
			return why
		}
		if strings.HasPrefix(line, "panic: ") {
			return strings.TrimSpace(line)
		}
	}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || line == "PASS" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "#") {
			continue
		}
		if _, after, ok := strings.Cut(line, ".go:"); ok {
			_, line, _ = strings.Cut(after, ": ")
		}
		return line
	}
	return ""
}

// repeatable returns those of the failed tests that are to be run again.
func repeatable(failed []*failure) (again []*failure) {
	if len(failed) > mostAgain {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(failed), func(f *failure) bool { return f.final })
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
	f.flaky = true
	fmt.Fprintf(r.out, "FLAKY %s %s: it failed beside other tests, and passed alone\n", short(f.pkg), f.test)
}
